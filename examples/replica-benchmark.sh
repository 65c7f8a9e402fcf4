#!/bin/sh
# SPDX-License-Identifier: MIT
# Which algorithm, which settings and which depots are best for a file?
#
#     sh replica-benchmark.sh MANIFEST FOLDER [OPTION...]
#
# To be adapted to the depots.  The results are in FOLDER, and so are figures if
# there is gnuplot; a second call does what the budgets left over.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: sh replica-benchmark.sh MANIFEST FOLDER [OPTION...]" >&2
    exit 2
fi
manifest=$1
folder=$2
results=$folder/results.csv
shift 2

mkdir -p "$folder"
xdownload bench -o "$results" -a basic,progress,adaptive -b 512k,2m -t 1,2,4 \
    --depots drop-one --byte-budget 4g --time-budget 30m "$@" "$manifest"
xdownload bench --summarize "$results"
if command -v gnuplot >/dev/null; then
    xdownload bench --plot "$folder" "$results"
fi
