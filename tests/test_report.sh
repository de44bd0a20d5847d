#!/bin/bash
# Report pages: what is in the file, and then in Chromium (tests/report.js). Without Chromium or
# npm the second part is skipped, and says why. Pictures of the page stay in the build folder.
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

check "a page" eval '"$program" simulate "$source/tests/models/Decay.mo" --report page.html \
    >out 2>err && [ -s page.html ]'
check "a whole page" eval 'head -1 page.html | grep -q "<!DOCTYPE html>" &&
    tail -1 page.html | grep -q "</html>"'
check "no address in it is loaded" eval '! grep -oE "(src|href|action)=\"?[a-z]+:" page.html &&
    ! grep -qE "@import|url\(" page.html && has "default-src '"'none'"'"'
check "the model is text in it" eval 'has "&lt;/script&gt;&lt;script&gt;alert(1)" &&
    has "rate &amp; &lt;b&gt;bold&lt;/b&gt;" && ! grep -qF "<script>alert" page.html &&
    ! grep -qF "<img" page.html'
check "the structure as a picture" eval 'has "id=\"structure\"" && has "<path class=\"entry\" d=\"M"'
check "a large one as a raster" eval '"$program" simulate "$source/bench/network.mo" --set n=9 \
    --stop 0.01 --report large.html >out 2>err && grep -qF "Drawn as a raster" large.html'
check "same input, same page but for the times" eval '"$program" simulate \
    "$source/tests/models/Decay.mo" --report again.html >out 2>err &&
    cmp -s <(grep -vE "processor time|loading" page.html) \
        <(grep -vE "processor time|loading" again.html)'
check "points in excess are thinned" eval '"$program" simulate "$source/tests/models/Decay.mo" \
    --intervals 100000 --report many.html >out 2>err &&
    [ "$(wc -c <many.html)" -lt 1000000 ] && grep -qF "Of 100001 points" many.html'

if ! grep -q 'id="plot"' page.html; then
    check "a still picture without uPlot" eval 'has "<svg" && has "scripts/fetch-uplot"'
    skip "the page in a browser" "built without uPlot"
else
    why=$("$source/scripts/install-browser")
    if [ -n "$why" ]; then
        skip "the page in a browser" "$why"
    else
        timeout 200 node "$source/tests/report.js" \
            "$source/build/browser/node_modules/playwright-core" page.html "$pictures" ||
            failed=$((failed + 1))
    fi
fi
[ "$failed" = 0 ]
