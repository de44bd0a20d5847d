#!/bin/bash
# The models of examples/modelica and the texts of docs/modelica.md from outside: every model is in
# the table of the README and runs without a word, every text of the manual does what it says there.
# (Numbers: test_examples.c; commands and outputs in documents: scripts/check-docs.) Prints in cmocka's words, so that scripts/check counts it.
set -u
program=${DAEDALUS_PROGRAM:?set DAEDALUS_PROGRAM to the program}
source=${DAEDALUS_SOURCE:?set DAEDALUS_SOURCE to the source tree}
models=$source/examples/modelica
manual=$source/docs/modelica.md
export LC_ALL=C OPENBLAS_NUM_THREADS=1
unset MODELICAPATH
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0
failed=0

check() {
    local name=$1
    shift
    echo "[ RUN      ] $name"
    if "$@"; then
        passed=$((passed + 1))
        echo "[       OK ] $name"
    else
        failed=$((failed + 1))
        echo "[  FAILED  ] $name"
        head -c 600 out err 2>/dev/null
        echo
    fi
}
quietly() { "$program" "$@" >out 2>err </dev/null && [ ! -s err ]; }
says() { ! "$program" simulate "$1" >out 2>err </dev/null && grep -qF -- "$2" err; }

# The flat text of a model is a model with the same trajectory; its names are quoted.
flat_is_the_same() {
    "$program" simulate "$1" -o nested.csv --force >out 2>err &&
        "$program" flatten "$1" >flat.mo 2>err &&
        "$program" simulate flat.mo -o flat.csv --force >out 2>err &&
        [ "$(wc -l <nested.csv)" -gt 10 ] && cmp <(tr -d "'" <nested.csv) <(tr -d "'" <flat.csv)
}

# ---- the models ----
for file in "$models"/*.mo; do
    name=$(basename "$file")
    [ "$name" = Parts.mo ] && continue
    check "$name: correct" quietly check "$file"
    check "$name: runs" quietly simulate "$file"
    check "$name: the same when flat" flat_is_the_same "$file"
    check "$name: in the table" grep -qF "| \`$name\` |" "$models/README.md"
done
check "the table names no other" eval '! grep -oE "^\| \`[a-z_]+\.mo" "$models/README.md" | cut -c 4- |
    while read -r name; do [ -e "$models/$name" ] || echo "$name"; done | grep .'

# ---- the texts of the manual ----
sed -n '/^```modelica$/,/^```$/p' "$manual" | grep -v '^```' >tea.mo
check "the first model of the manual" eval 'quietly simulate tea.mo --set k=0.004 --json &&
    awk "/\"T\":/ { exit !(\$2 - 20 > 70 * exp(-7.2) - 1e-3 && \$2 - 20 < 70 * exp(-7.2) + 1e-3) }" out'
rows() { # HEADING: the rows of its table, as "what TAB text TAB said"
    awk -F ' *[|] *' -v heading="## $1" '/^## / { here = $0 == heading }
        here && /^\|/ && $3 ~ /^`/ { gsub(/^`|`$/, "", $3); gsub(/^`|`$/, "", $4); print $2 "\t" $3 "\t" $4 }' "$manual"
}
while IFS=$'\t' read -r what text said; do
    printf '%s\n' "$text" >text.mo
    check "works: $what" quietly simulate text.mo
done < <(rows "What works")
while IFS=$'\t' read -r what text said; do
    printf '%s\n' "$text" >text.mo
    check "refused: $what" eval '[ -n "$said" ] && says text.mo "$said"'
done < <(rows "What is refused")
check "the tables of the manual are there" eval '[ "$(rows "What works" | wc -l)" -gt 15 ] &&
    [ "$(rows "What is refused" | wc -l)" -gt 12 ]'

warned() { printf 'model M Real x(unit = "m") = time; Real y(unit = "%s") = x; end M;\n' "$1" >u.mo
    "$program" check u.mo >out 2>err && grep -qF "different units" err; }
check "units: m and s" warned s
check "units: m and cm" eval '! warned cm && [ -s out ]'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
