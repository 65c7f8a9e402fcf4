#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the fuzz targets with clang and fuzzes each for SECONDS (30), three at
# a time, from what is kept in corpus/.  Fails if one finds something: the input
# is then in build/fuzz/found, and what was said of it behind it.  The same SEED
# (1) goes the same ways, so that a change is not blamed for another's mistake:
# to find those, give other seeds and more time.
#
#     sh tests/fuzz/smoke.sh [SECONDS [SEED]]
set -eu

seconds=${1:-30}
seed=${2:-1}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/fuzz

cd "$root"
mkdir -p "$build/found"
{
    cmake -S . --preset fuzz
    cmake --build "$build" --parallel 2 --target fuzz
} >"$build/log" 2>&1 || {
    tail -n 50 "$build/log"
    exit 1
}

# One target; what it learns is not kept.
export build seconds seed
one='
    new=$(mktemp -d)
    if "$build/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -seed="$seed" \
        -timeout=20 \
        -artifact_prefix="$build/found/$1-" "$new" "$build/tests/fuzz/corpus/$1" \
        >"$build/found/$1.log" 2>&1; then
        echo "$1: $(tail -n 1 "$build/found/$1.log")"
        status=0
    else
        echo "$1: FAILED"
        tail -n 40 "$build/found/$1.log"
        status=1
    fi
    rm -rf "$new"
    exit $status'
ls "$build/tests/fuzz/corpus" | xargs -n 1 -P 3 sh -c "$one" sh
