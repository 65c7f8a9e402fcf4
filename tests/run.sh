#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds xdownload and runs its tests.
#
#     sh tests/run.sh             one build, the quick tests: four to five minutes
#     sh tests/run.sh --all       what CI runs: gcc in Debug, gcc and
#                                 clang in Release, sanitizers, valgrind, the
#                                 slow tests, fuzzing; a test that cannot run
#                                 is a failure
#
# A row of tests that fails beside others is run once more, alone.
# Installs what is missing through apt and says so first; bare ctest installs
# nothing.  The last line is "N passed, N failed".
set -u

# Test functions: where fewer pass, some have gone missing.
FLOOR=1000
FLOOR_WITHOUT_INTEGRATION=700
FLOOR_UNDER_VALGRIND=550

# Valgrind finds what sanitizers do not, uses of values that were never set; at
# thirty times the time.  Rows that would take a minute are left to them.
UNDER_VALGRIND='^unit\.|^integration\.verification$'
TOO_SLOW='power$|ledger$|cancel$|control$|inspect$|origins$|visits$|hostile$|manifest.write$|io.http$|journal$'
TOO_SLOW="$TOO_SLOW|adaptive\$|simulate\$|source\$|add_replica\$|disk\$|shares\$|pings\$"
TOO_SLOW="$TOO_SLOW|doubt\$|download\$|lookahead\$|turns\$|mended_file\$"
TOO_SLOW="$TOO_SLOW|date\$|tiers\$|set_add\$|set_sink\$"

# The first build shows once that a row fails without its defence, that the tree
# keeps its rules, what has to do with time, and what runs with XD_SLOW only;
# what a tool of the tests does, and what shells complete.
SHOWN_ONCE='defences$|outage\.|rerun\.|^lint\.|^wan\.|^bench\.'
SHOWN_ONCE="$SHOWN_ONCE|^integration\.(throttle|completion|mirror_servers)\$"

# No sanitizer sees what is compiled, linked and installed.
NOT_RUN='^api\.(api|floors|install|packages)$'

# For AddressSanitizer and for clang, sim.sim and the rest of sim run the same
# code as these.
LONG_RUNS='^sim\.(network|player|capped|first_byte|paper)$'

# ThreadSanitizer is for what has threads; power replays thousands of runs, and
# these rows of the command are about what it reads and prints, or about players
# that read what others read as well.
WITHOUT_THREADS='^unit\.(base|code|ledger|manifest|sched|session|store)\.|^sim\.|^fuzz\.'
WITHOUT_THREADS="$WITHOUT_THREADS|power\$|^torture\.(base|code|io|manifest|os|sched|sim)\$"
WITHOUT_THREADS="$WITHOUT_THREADS|^integration\.(arguments|bench|checksums|display"
WITHOUT_THREADS="$WITHOUT_THREADS|documents|example_players|formats|given|headers"
WITHOUT_THREADS="$WITHOUT_THREADS|hostile|lists|locale|lors|manifests|options|pages"
WITHOUT_THREADS="$WITHOUT_THREADS|serve_players|signatures|words)\$"

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$root/tests/lab/packages.sh"
. "$root/tests/lab/rows.sh"

# fails NAME: what is no row of ctest's fails.
fails()
{
    failed=$((failed + 1))
    failures="$failures
failed: $1"
}

# tier NAME BUILD CMAKE-ARGUMENT...: one build, its tests.
tier()
{
    name=$1
    build=$root/build/$2
    shift 2
    echo "== $name"
    if ! { cmake -S "$root" -B "$build" "$@" &&
        cmake --build "$build" --parallel 2; } >"$root/build/log" 2>&1; then
        tail -n 50 "$root/build/log"
        fails "$name:build"
        return
    fi
    passed_before=$passed
    failed_before=$failed
    # shellcheck disable=SC2086
    run_rows "$name" "$build" $which
    status=$?
    if [ $((passed - passed_before)) -lt "$floor" ]; then
        echo "$name: $((passed - passed_before)) passed, of at least $floor"
        status=1
    fi
    if [ $status != 0 ] && [ $failed = $failed_before ]; then
        fails "$name:died or missing" # without a word of ctest's
    fi
}

run_all()
{
    export XD_REQUIRE_ALL=1
    rows_at_once=8 # with sanitizers they wait for processors
    sh "$root/tests/lab/s3_servers.sh" "$root/build/servers" ||
        fails s3_servers.sh
    XD_SLOW=1 tier dev dev --preset dev
    python3 "$root/tests/wan/wan.py" check # else skipped, not failed
    which="-E $SHOWN_ONCE|$NOT_RUN|$LONG_RUNS"
    tier asan asan --preset asan
    which="-E $WITHOUT_THREADS|$SHOWN_ONCE|$NOT_RUN"
    tier tsan tsan --preset tsan
    which="-LE integration -E $SHOWN_ONCE"
    floor=$FLOOR_WITHOUT_INTEGRATION
    tier gcc-release gcc-release -DCMAKE_C_COMPILER=gcc \
        -DCMAKE_BUILD_TYPE=Release -DXD_WERROR=ON
    which="-LE integration -E $SHOWN_ONCE|$LONG_RUNS"
    tier clang-release clang-release -DCMAKE_C_COMPILER=clang \
        -DCMAKE_BUILD_TYPE=Release -DXD_WERROR=ON
    which="-R $UNDER_VALGRIND -E $TOO_SLOW"
    floor=$FLOOR_UNDER_VALGRIND
    rows_at_once=3 # they wait for nothing but a processor
    tier valgrind dev --preset valgrind # which is built already
    echo "== fuzz"
    sh "$root/tests/fuzz/smoke.sh" 20 || fails fuzz:smoke.sh
    sh "$root/tests/fuzz/coverage.sh" || fails fuzz:coverage.sh
}

all=no
which=
floor=$FLOOR
chances=2
case ${1-} in
--all) all=yes ;;
'') ;;
*)
    echo "usage: sh tests/run.sh [--all]" >&2
    exit 2
    ;;
esac

want_build
want_command g++ g++
want_package locales # from which localedef makes one that writes 1,5
want_command ninja ninja-build
want_command curl curl
want_command perl perl
want_package check
want_package python3-pytest
want_package python3-pyftpdlib
want_command openssl openssl
want_command gpg gnupg
want_command gpgv gpgv
want_command mypy mypy
want_package python3-cffi
want_command zsh zsh
want_command fish fish
if [ $all = yes ]; then
    want_package python3-pip
    want_package python3-venv
    want_command go golang-go
    want_package python3-setuptools
    want_package python3-wheel
    want_command lintian lintian
    want_command dpkg-shlibdeps dpkg-dev
    want_command clang clang
    want_package libclang-rt-dev libclang-rt-14-dev
    want_command clang-format clang-format
    want_command llvm-cov llvm
    want_command git git
    want_command aria2c aria2
    want_command apache2 apache2-bin
    want_command lighttpd lighttpd
    want_command haproxy haproxy
    want_command varnishd varnish
    want_command squid squid
    want_command nghttpx nghttp2-proxy
    want_command vsftpd vsftpd
    want_command mini_httpd mini-httpd
    want_command valgrind valgrind
    want_command ip iproute2
    want_package libfuse3-dev
    want_command fusermount3 fuse3
    want_command mpv mpv
    want_command chromium chromium
    want_command ffmpeg ffmpeg
    want_command gnuplot gnuplot-nox
    want_package libmpv-dev
    want_package libavformat-dev
    want_package libgstreamer-plugins-base1.0-dev
    want_package libglib2.0-dev
    want_package gstreamer1.0-plugins-base
    want_command cvlc vlc-bin
    want_package vlc-plugin-base
    want_command gst-launch-1.0 gstreamer1.0-tools
    want_package gstreamer1.0-plugins-good
    want_package gstreamer1.0-libav
fi
install_missing || exit 1

cd "$root" || exit 1
export CMAKE_GENERATOR=Ninja # a quarter less time than make
mkdir -p build
trap 'give_back "$root/build"' EXIT
if [ $all = yes ]; then
    run_all
else
    tier dev dev --preset dev
fi
rm -f build/log

for row in $alone; do
    echo "passed only alone: $row"
done
[ -z "$failures" ] || echo "$failures"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
