#!/bin/bash
# M01, O05: 100,000 levels of nesting with a stack of 256 kB and of 128 kB: an error, no crash.
set -u
program=${DAEDALUS_PROGRAM:-build/daedalus}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# nested OPEN INSIDE CLOSE: 100,000 times OPEN, then 100,000 times CLOSE
nested() {
    awk -v o="$1" -v i="$2" -v c="$3" 'BEGIN {
        for (k = 0; k < 100000; k++) printf "%s", o
        printf "%s", i
        for (k = 0; k < 100000; k++) printf "%s", c }'
}

# try NAME: the text in the file must be refused with exit 9 and the level of nesting
try() {
    local size
    for size in 256 128; do
        (ulimit -s $size && exec "$program" check "$folder/m.mo") >"$folder/out" 2>&1
        if [ $? != 9 ] || ! grep -q 'levels deep' "$folder/out"; then
            echo "FAILED  $1, stack of $size kB:"
            head -5 "$folder/out" | cut -c1-200
            failed=1
        fi
    done
}

for kind in '( 1 )' '{ 1 }' '[ 1 ]' 'f( 1 )' 'x[ 1 ]' 'not( a )' '1+2*3^( 1 )'; do
    set -- $kind
    (echo 'model M'; printf 'Real x = '; nested "$1" "$2" "$3"; echo '; end M;') >"$folder/m.mo"
    try "$kind"
done
(echo 'model M equation'; nested 'if a then ' 'x = 1;' ' end if;'; echo 'end M;') >"$folder/m.mo"
try 'if equations'
nested 'model M ' '' 'end M; ' >"$folder/m.mo"
try 'classes'
exit $failed
