#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds xdownload in build/dev and runs its tests.
#
#     sh tests/run.sh             the quick tests, for before a commit: 3 minutes
#     sh tests/run.sh --all       all tests but those for a release (.ci/release);
#                                 the wide area needs root
#     sh tests/run.sh --rest      what neither the quick tests nor those of a
#                                 sanitized build have in them
#
# Installs what is missing through apt and says so first; bare ctest installs
# nothing.  A test that has to be skipped here counts as failed.
set -eu

case ${1-} in
--all | --rest) all=yes ;;
'') all=no ;;
*)
    echo "usage: sh tests/run.sh [--all | --rest]" >&2
    exit 2
    ;;
esac

cd "$(dirname "$0")/.."
. tests/lab/packages.sh

want_build
want_command ninja ninja-build
want_command curl curl
want_command openssl openssl
want_package check
want_package python3-pytest
if [ $all = yes ]; then
    want_command g++ g++
    want_package locales # from which localedef makes one that writes 1,5
    want_command perl perl
    want_package python3-pyftpdlib
    want_command gpg gnupg
    want_command gpgv gpgv
    want_command mypy mypy
    want_package python3-cffi
    want_command zsh zsh
    want_command fish fish
    want_package python3-pip
    want_package python3-setuptools
    want_package python3-wheel
    want_command dpkg-shlibdeps dpkg-dev
    want_command clang clang # the fuzzer has to find a planted bug
    want_package libclang-rt-dev libclang-rt-14-dev
    want_command clang-format clang-format
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
    want_command perf linux-perf
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
install_missing
mkdir -p build
trap 'give_back build' EXIT
unpack_nginx "$PWD/build/nginx"

log=build/build.log
echo "Building in build/dev ..."
if ! { cmake -G Ninja --preset dev && cmake --build build/dev --parallel 2; } \
    >$log 2>&1; then
    tail -n 50 $log >&2
    exit 1
fi
rm $log

export XD_REQUIRE_ALL=1
cd build/dev
if [ $all = no ]; then
    ctest --output-on-failure --parallel 6 -L quick
elif [ "$1" = --all ]; then
    XD_SLOW=1 ctest --output-on-failure --parallel 6 -LE release
else
    status=0
    # Of rows that also run with sanitizers, the tests that do not.
    XD_SLOW=only ctest --output-on-failure --parallel 6 \
        -L 'api|bench|integration|lint' -LE 'once|release' || status=1
    XD_SLOW=1 ctest --output-on-failure --parallel 6 \
        -L once -LE 'quick|release' || status=1
    exit $status
fi
