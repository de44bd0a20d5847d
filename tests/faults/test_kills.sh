#!/bin/bash
# A few dozen kills of each kind of file; a thousand: call scripts/kill-results.
set -u
echo "[ RUN      ] files after SIGKILL"
if ! python3 -c 'import subprocess' 2>/dev/null; then
    echo "[  SKIPPED ] files after SIGKILL"
    exit 0
fi
if python3 "${DAEDALUS_SOURCE:?}/scripts/kill-results" 12 "${DAEDALUS_PROGRAM:?}"; then
    echo "[       OK ] files after SIGKILL"
else
    echo "[  FAILED  ] files after SIGKILL"
    exit 1
fi
