#!/bin/bash
# scripts/check-docs finds what it is there to find: documents with one fault each, and the line it is in;
# documents without a fault; and what --write makes of wrong ones. Prints in cmocka's words.
set -u
source=${DAEDALUS_SOURCE:?set DAEDALUS_SOURCE to the source tree}
build=${DAEDALUS_BUILD:?set DAEDALUS_BUILD to the build}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0
if grep -q '^DAEDALUS_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt"; then
    echo "not under sanitizers: the script is no program of ours"
    exit 0
fi

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
        tail -3 "$folder/found"
    fi
}

# bad NAME LINE WORDS, good NAME: a document from standard input, and the fault it has
cases=()
bad() {
    cat >"$folder/$1.md"
    cases+=("$1|$2|$3")
}
good() {
    cat >"$folder/$1.md"
    cases+=("$1||")
}

good right <<'EOF'
# A title, with `code`

`daedalus solve robertson --rtol 1e-8`, `build/daedalus methods two-step-0.5`, `daedalus solve NAME --stats`,
`reproduce bdf-dae`, `--report FILE.html`, [here](#a-title-with-code), [there](other.md#two-words),
`src/base/status.c`, `integrate/multistep/bdf.c`, `test_forms`, `make check`, `dae_open`, `DAE_E_WORK`, E_WORK,
2<!-- = echo 2 --> things, 1,900<!-- ~ echo 2000 -->, 2.2<!-- = x of echo '{"x":2.21}'; true -->.

    $ daedalus check examples/modelica/pendulum.mo
    Pendulum is correct: 6 equations, 6 variables, 3 parameters, 0 warnings
    $ printf 'a 1\nb 2\nc 3.14\n'
    a 1
    ...
    c 3.15

<!-- varies: 10% /b.*/
     varies: 2 /a.*/
     varies: any /c (\S+)/ -->

    $ printf 'a 1\nb 100\nc 5 6\n'
    a 3
    b 105
    c 123456 6

<!-- exit: 3 -->

    $ echo last; exit 3
    la ...

<!-- file: model.mo -->
```modelica
model M
  Real x = time;
end M;
```

<!-- run -->

    daedalus simulate model.mo -o m.csv     # a comment
    test -s m.csv

<!-- from: examples/robertson.c -->
```c
    if (status != DAE_OK)
        fprintf(stderr, "%s\n", dae_message(solver));
```
EOF
good other <<'EOF'
## Two words

<!-- lists: options of methods
     lists: names of daedalus methods -->

## Nothing
status methods tables families multistep

```c
#include <daedalus.h>
#include <stdio.h>
int main(void)
{
    puts(dae_status_name(DAE_OK));
    return 0;
}
```

<!-- output -->

    OK

<!-- cells: {size:d} of {index:d}
     by: echo '{"size":$1,"index":$head}'; true -->

| n | 1 | 2 |
| --- | --- | --- |
| 5 | 5 of 1 | 5 of 2 |

<!-- cells: {size:d} | {index + 1:d}
     by: echo '{"size":$1,"index":$2}'; true -->

| n | k | n | k + 1 |
| --- | --- | --- | --- |
| 5 | 6 | 5 | 7 |
EOF
bad output 4 'printed: *Pendulum is correct' <<'EOF'
Text.

    $ daedalus check examples/modelica/pendulum.mo
    Pendulum is correct: 6 equations, 6 variables, 2 parameters, 0 warnings
EOF
bad more 3 'printed: *more' <<'EOF'
    $ printf 'one\nmore\n'
    one
EOF
bad less 3 'nothing more' <<'EOF'
    $ printf 'one\n'
    one
    more
EOF
bad tail 4 'expected: *three' <<'EOF'
    $ printf 'one\ntwo\n'
    one
    ...
    three
EOF
bad beyond 4 'expected: *a 2.0' <<'EOF'
<!-- varies: 10% -->

    $ echo a 2.5
    a 2.0
EOF
bad apart 5 'expected: *a 3.1' <<'EOF'
<!-- varies: 2 /a.*/ -->

    $ printf 'a 1\na 1\n'
    a 3
    a 3.1
EOF
bad digits 2 'expected: *3.17' <<'EOF'
    $ echo 3.15
    3.17
EOF
bad code 1 'exit code 1' <<'EOF'
    $ false
EOF
bad commands 4 'exit code 8' <<'EOF'
<!-- run -->

    daedalus check examples/modelica/rlc.mo
    daedalus check nowhere.mo
EOF
bad verb 1 "no verb 'sovle'" <<'EOF'
`daedalus sovle robertson`
EOF
bad option 1 'no option --rtoll' <<'EOF'
`daedalus solve NAME --rtoll 1e-8`
EOF
bad anyoption 2 'no verb has the option --nonsense' <<'EOF'
Some
`--nonsense X` text
EOF
bad problem 1 'robertsen' <<'EOF'
    daedalus solve robertsen
EOF
bad method 1 'bdff' <<'EOF'
`daedalus solve robertson --method bdff`
EOF
bad form 1 'index9' <<'EOF'
`solve pendulum --form index9`
EOF
bad table 4 'daedalus methods knows no bdff' <<'EOF'
| method | use |
| --- | --- |
| `two-step-R`, `radau2a-3` | a |
| `bdf`, `bdff` | b |
EOF
bad field 1 'the library has no options.rtoll' <<'EOF'
`options.rtoll`
EOF
bad setting 1 'angel' <<'EOF'
`daedalus solve pendulum --set angel=3`
EOF
bad model 1 'examples/modelica/pendel.mo' <<'EOF'
`daedalus simulate examples/modelica/pendel.mo --stop 1`
EOF
bad reproduction 1 "no reproduction 'bdf-dea'" <<'EOF'
`daedalus reproduce bdf-dea`
EOF
bad link 2 'not there: nowhere.md' <<'EOF'
See
[this](nowhere.md).
EOF
bad anchor 1 'no such heading: other.md#three-words' <<'EOF'
[this](other.md#three-words)
EOF
bad path 1 'there is no src/base/nothing.c' <<'EOF'
`src/base/nothing.c`
EOF
bad file 1 'there is no file nothing.c' <<'EOF'
`nothing.c`
EOF
bad target 1 'no target for: make coffee' <<'EOF'
`make coffee`
EOF
bad test 1 'there is no test test_of_nothing' <<'EOF'
| a | `test_of_nothing` |
EOF
bad function 1 'the library has no dae_opne' <<'EOF'
`dae_opne(&problem)`
EOF
bad status 1 'there is no status E_NOTHING' <<'EOF'
E_NOTHING
EOF
bad variable 1 'bench/instructions knows no MEHTOD' <<'EOF'
`MEHTOD=bdf bench/instructions akzo`
EOF
bad count 1 'expected 3, but' <<'EOF'
There are 3<!-- = echo 4 --> of them.
EOF
bad about 2 'expected 1,500, but' <<'EOF'
There are 1,900<!-- ~ echo 2000 --> or
1,500<!-- ~ echo 2000 --> of them.
EOF
bad marker 1 'says nothing to this script: varise' <<'EOF'
<!-- varise: 10% -->

    $ true
EOF
bad lists 3 "'methods' is missing here" <<'EOF'
<!-- lists: names of daedalus methods -->

## Names

`status` `tables` `families` `multistep`, and methods-of-lines
EOF
bad cells 6 'expected: 6 of 1' <<'EOF'
<!-- cells: {size:d} of {index:d}
     by: echo '{"size":$1,"index":$head}'; true -->

| n | 1 | 2 |
| --- | --- | --- |
| 5 | 6 of 1 | 5 of 2 |
EOF
bad compile 2 'the program: exit code 1' <<'EOF'
```c
#include <daedalus.h>
int main(void)
{
    return dae_opne();
}
```
EOF
bad prints 11 'printed: *OK' <<'EOF'
```c
#include <daedalus.h>
#include <stdio.h>
int main(void) { return puts(dae_status_name(DAE_OK)) < 0; }
int main(void);
```

It prints

<!-- output -->
    KO
EOF
bad modelica 2 'daedalus check: exit code 3' <<'EOF'
```modelica
model M Real x = y; end M;
```
EOF
bad from 3 'this is not in examples/robertson.c' <<'EOF'
<!-- from: examples/robertson.c -->
```c
    if (status != DAE_BAD)
```
EOF

documents=()
for entry in "${cases[@]}"; do documents+=("$folder/${entry%%|*}.md"); done
"$source/scripts/check-docs" "$build" "${documents[@]}" >"$folder/found" 2>&1
check "faults are an exit code" [ $? = 1 ]

# found NAME LINE WORDS: there, with the words in that line or the next three, and nothing else in the document
found() {
    local at="$folder/$1.md:$2: "
    [ "$(grep -c "^$folder/$1.md:" "$folder/found")" = 1 ] && grep -F -A 3 "$at" "$folder/found" | grep -q -- "$3"
}
for entry in "${cases[@]}"; do
    IFS='|' read -r name line words <<<"$entry"
    if [ -z "$words" ]; then
        check "no fault: $name" eval '! grep "^$folder/$name.md:" "$folder/found"'
    else
        check "found: $name" found "$name" "$line" "$words"
    fi
done

# ---- --write ----
cat >"$folder/stale.md" <<'EOF'
Before.

<!-- varies: any /took.*/
     varies: 50% -->

    $ printf 'head\nstep 10\nx\ny\nend 3\ntook 5 s\n'
    head
    step 12
    ...
    end 4
    took 7 s

<!-- varies: any -->

    $ echo 5 s
    7 s

Of 3<!-- = echo 4 --> and 1,900<!-- ~ echo 2000 --> things.

<!-- cells: {size:d} of {index:d}
     by: echo '{"size":$1,"index":$head}'; true -->

| n | 1 | 2 |
| --- | --- | --- |
| 5 | 6 of 1 | 5 of 2 |
EOF
sed -e 's/step 12/step 10/; s/end 4/end 3/; s/took 7 s/took 5 s/; s/Of 3/Of 4/; s/1,900/2,000/; s/6 of 1/5 of 1/' \
    -e 's/x\\ny\\nend 4/x\\ny\\nend 3/' "$folder/stale.md" >"$folder/wanted.md"
"$source/scripts/check-docs" "$build" --write "$folder/stale.md" >"$folder/found" 2>&1
check "--write: what differs, and nothing else" cmp "$folder/stale.md" "$folder/wanted.md"
check "then there is no fault" eval '"$source/scripts/check-docs" "$build" "$folder/stale.md" >"$folder/found"'
check "a build without a program" eval '! "$source/scripts/check-docs" "$folder" >"$folder/found"'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
