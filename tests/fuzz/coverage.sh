#!/bin/sh
# SPDX-License-Identifier: MIT
# How many lines of its aim the kept corpus of each fuzz target reaches; fails
# below 80 %.  Needs clang, llvm-profdata and llvm-cov.
#
#     sh tests/fuzz/coverage.sh [--lines]     also the lines that are not reached
set -eu

LEAST=80

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/coverage
lines=${1-}
failed=0

cd "$root"
mkdir -p "$build"
{
    cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS="-fprofile-instr-generate -fcoverage-mapping"
    cmake --build "$build" --parallel 2 --target fuzz
} >"$build/log" 2>&1 || {
    tail -n 50 "$build/log"
    exit 1
}

# measure TARGET FILE...: the files, or folders of them, that it aims at.
measure()
{
    target=$1
    shift
    binary=$build/tests/fuzz/fuzz_$target
    profile=$build/$target.profdata
    LLVM_PROFILE_FILE=$build/$target.profraw "$binary" \
        "$build/tests/fuzz/corpus/$target" >/dev/null 2>&1
    llvm-profdata merge -o "$profile" "$build/$target.profraw"
    # Its columns: regions, functions, lines, branches, each in all, missed, %.
    set -- $(llvm-cov report "$binary" -instr-profile "$profile" "$@" |
        awk '$1 == "TOTAL" { print $8, $9 }') "$@"
    all=$1 missed=$2
    shift 2
    percent=$(((all - missed) * 100 / all))
    echo "$target: $percent % of $all lines"
    [ $percent -ge $LEAST ] || failed=1
    if [ "$lines" = --lines ]; then
        llvm-cov show "$binary" -instr-profile "$profile" "$@" |
            grep -E '^ *[0-9]+\| +0\||^/' || true
    fi
}

measure size_probe lib/sched/size_probe.c
measure http_answer lib/io/http/http_answer.c lib/io/http/http_disposition.c
measure http_offer lib/io/http/http_offer.c lib/io/http/http_link.c \
    lib/io/http/http_digest.c lib/base/offer.c lib/manifest/offered.c
measure ibp lib/io/ibp/ibp_frames.c lib/io/ibp/ibp_request.c \
    lib/io/ibp/ibp_wire.c
measure signature lib/io/signature/minisign.c lib/base/base64.c
measure journal lib/io/journal/journal_text.c
measure ledger lib/ledger/ledger.c lib/ledger/runs.c
# shellcheck disable=SC2046
measure manifest $(ls lib/manifest/*.c | grep -Ev '(sums|offered|read).c')
measure code lib/code/reed_solomon.c
measure mesh lib/mesh/mesh.c lib/mesh/mesh_parse.c lib/mesh/mesh_url.c \
measure rangeset lib/base/range.c lib/base/range.h
measure bounded lib/io/sinks/bounded_sink.c lib/io/sinks/sink.h
# shellcheck disable=SC2046
measure sched $(ls lib/sched/*.c | grep -Ev 'size_probe.c|line.c')
measure s3 lib/store/s3_call.c lib/store/s3_fault.c lib/store/s3_put.c \
    lib/store/s3_task.c lib/store/s3_xml.c
measure aws_profile lib/publish/aws_profile.c
measure sums lib/manifest/checksums.c lib/manifest/sums.c
measure trace cli/common/json_reader.c cli/trace/profile.c \
    cli/trace/trace_reader.c
measure words lib/base/number.c lib/base/url.c lib/engine/options.c \
    lib/base/hosts.c
exit $failed
