#!/bin/bash
# Some requests for memory of every command line of scripts/fail-allocations refused, once and from
# there on; all of them: call that script.
set -u
program=${DAEDALUS_PROGRAM:?}
shim=${DAEDALUS_BUILD:?}/tests/fail_malloc.so
echo "[ RUN      ] refused memory"
if ! python3 -c 'import subprocess' 2>/dev/null || ! [ -e "$shim" ] || nm "$program" 2>/dev/null | grep -q __asan_; then
    echo "[  SKIPPED ] refused memory"
    exit 0
fi
if python3 "${DAEDALUS_SOURCE:?}/scripts/fail-allocations" 24 "$program" "$shim"; then
    echo "[       OK ] refused memory"
else
    echo "[  FAILED  ] refused memory"
    exit 1
fi
