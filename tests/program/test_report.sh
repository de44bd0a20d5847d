#!/bin/bash
# Report pages: what is in the file, and then in Chromium (tests/report.py). Without Chromium or
# Selenium the second part is skipped, and says why. Pictures of the page stay in the build folder.
set -u
program=${DAEDALUS_PROGRAM:?set DAEDALUS_PROGRAM to the program}
source=${DAEDALUS_SOURCE:?set DAEDALUS_SOURCE to the source tree}
pictures=${DAEDALUS_BUILD:-.}/tests
export LC_ALL=C OPENBLAS_NUM_THREADS=1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

check() {
    local name=$1
    shift
    echo "[ RUN      ] $name"
    if "$@"; then
        echo "[       OK ] $name"
    else
        failed=$((failed + 1))
        echo "[  FAILED  ] $name"
        head -c 600 out err 2>/dev/null
    fi
}
skip() {
    echo "[ RUN      ] $1"
    echo "[  SKIPPED ] $1: $2"
}
has() { grep -qF -- "$1" page.html || { echo "the page lacks: $1"; return 1; }; }

check "a page" eval '"$program" simulate "$source/tests/models/Report.mo" --report page.html \
    >out 2>err && [ -s page.html ]'
check "a whole page" eval 'head -1 page.html | grep -q "<!DOCTYPE html>" &&
    tail -1 page.html | grep -q "</html>"'
check "no address in it is loaded" eval '! sed "/<script>/,/<\/script>/d" page.html |
    grep -E "(src|href|action)=\"?[a-z]+:|@import|url\(" && has "default-src '"'none'"'"'
check "the model is text in it" eval 'has "&lt;/script&gt;&lt;script&gt;alert(1)" &&
    has "rate &amp; &lt;b&gt;bold&lt;/b&gt;" && ! grep -qF "<script>alert" page.html &&
    ! grep -qF "<img" page.html'
check "the structure as a picture" eval 'has "id=\"structure\"" && has "<path class=\"entry\" d=\"M"'
check "a large one as a raster" eval '"$program" simulate "$source/bench/network.mo" --set n=9 \
    --stop 0.01 --report large.html >out 2>err && grep -qF "Drawn as a raster" large.html'
check "same input, same page but for the times" eval '"$program" simulate \
    "$source/tests/models/Report.mo" --report again.html >out 2>err &&
    cmp -s <(grep -vE "processor time|loading" page.html) \
        <(grep -vE "processor time|loading" again.html)'
check "points in excess are thinned" eval '"$program" simulate "$source/tests/models/Report.mo" \
    --intervals 100000 --report many.html >out 2>err &&
    [ "$(wc -c <many.html)" -lt 1000000 ] && grep -qE "Of 10000[0-9] points" many.html'

echo "model Nowhere Real x(start = 1); equation x * x + 1 + time = 0; end Nowhere;" >Nowhere.mo
check "a run that does not begin has a page" eval '! "$program" simulate Nowhere.mo \
    --report failed.html >out 2>err && grep -qF "There are no curves" failed.html'
echo "model Still parameter Real p = 3; end Still;" >Still.mo
check "a run in which nothing varies" eval '"$program" simulate Still.mo --report still.html \
    >out 2>err && grep -qF "There are no curves: nothing varies" still.html'
if ! grep -q 'id="plot"' page.html; then
    check "a still picture without dygraphs" eval 'has "<svg" && has "libjs-dygraphs" &&
        ! grep -q "<script" page.html && [ "$(grep -c "<style>" page.html)" = 1 ]'
    skip "the page in a browser" "built without dygraphs (Debian: libjs-dygraphs)"
    [ "$failed" = 0 ]
    exit
fi

check "the licence of dygraphs is in it" eval 'has "MIT" && has "Permission is hereby granted" &&
    has "The above copyright notice and this permission notice shall be"'
check "scripts and style by their hashes" eval '
    [ "$(grep -oE "(script|style)-src[^;\"]*" page.html | grep -o "sha256-" | wc -l)" = 3 ] &&
    ! grep -qF "unsafe-inline" page.html && ! grep -qF "sourceMappingURL" page.html'

# Debian's Python, which has its Selenium: another one may come first in the path.
python=/usr/bin/python3
lacking=
for need in chromium chromedriver "$python"; do
    command -v "$need" >/dev/null || lacking="$lacking $need"
done
[ -n "$lacking" ] || "$python" -c "import selenium" 2>/dev/null || lacking=" selenium"
if [ -n "$lacking" ]; then
    skip "the page in a browser" \
        "no$lacking (Debian: chromium chromium-driver python3-selenium)"
else
    mkdir browser
    (cd browser && PYTHONDONTWRITEBYTECODE=1 timeout -k 20 600 "$python" "$source/tests/report.py" \
        ../page.html ../many.html ../failed.html "$pictures") || failed=$((failed + 1))
fi
[ "$failed" = 0 ]
