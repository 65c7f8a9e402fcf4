#!/bin/sh
# Builds the fuzz targets with clang and fuzzes each for SECONDS (30), two at a
# time, from what is kept in corpus/.  Fails if one finds something: the input
# is then in build/fuzz/found, and what was said of it behind it.
#
#     sh tests/fuzz/smoke.sh [SECONDS]
set -eu

seconds=${1:-30}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
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
export build here seconds
one='
    new=$(mktemp -d)
    if "$build/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -timeout=20 \
        -artifact_prefix="$build/found/$1-" "$new" "$here/corpus/$1" \
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
ls "$here/corpus" | xargs -n 1 -P 2 sh -c "$one" sh
