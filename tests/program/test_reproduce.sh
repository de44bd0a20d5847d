#!/bin/bash
# Every reproduction that `daedalus reproduce` lists must agree with its source line for
# line. Finds the program in DAEDALUS_PROGRAM; prints in cmocka's words for scripts/check.
set -u
program=${DAEDALUS_PROGRAM:?set DAEDALUS_PROGRAM to the program}
export LC_ALL=C OPENBLAS_NUM_THREADS=1
failed=0
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

ids=$("$program" reproduce | awk '/^[a-z]/ { print $1 }')
for wanted in bdf-dae hmt rk-index2 rk-spp rk-order damping multistep multistep-accuracy \
    beta-blocking arevalo seminar formulations exercises moon mechanics-digits chain \
    perturbation-index drift routes; do
    echo "[ RUN      ] $wanted is listed"
    if grep -qx -- "$wanted" <<<"$ids"; then
        echo "[       OK ] $wanted is listed"
    else
        failed=$((failed + 1))
        echo "[  FAILED  ] $wanted is listed"
    fi
done
for id in $ids; do
    echo "[ RUN      ] $id"
    if timeout 250 "$program" reproduce "$id" >"$out" 2>&1 &&
        tail -1 "$out" | grep -qE '^[1-9][0-9]* comparisons agree, 0 disagree\.$'; then
        echo "[       OK ] $id"
    else
        failed=$((failed + 1))
        echo "[  FAILED  ] $id"
        grep -nE 'DISAGREE|NOT REFUTED|no table|error' "$out" | head -20
    fi
done
echo "$failed failed"
[ "$failed" = 0 ]
