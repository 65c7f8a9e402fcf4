#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds xdownload for another machine and runs its unit and simulation tests:
#
#     sh tests/lab/cross.sh i386 [CTEST-ARGUMENT...]    # 32 bits
#     sh tests/lab/cross.sh arm64 [CTEST-ARGUMENT...]   # in qemu-user
#
# What it builds against is Debian's packages of that machine, which are unpacked
# under build/ARCH and not installed.  It wants clang, and for arm64 qemu-user and
# binutils-aarch64-linux-gnu.  Debian 12 has no ISA-L for i386: one that was
# built for it is to be found by PKG_CONFIG_PATH.
set -eu

arch=$1
shift
case $arch in
i386) processor=i686 lib=i386-linux-gnu isal= ;;
arm64) processor=aarch64 lib=aarch64-linux-gnu isal=libisal-dev ;;
*)
    echo "usage: sh tests/lab/cross.sh i386|arm64 [CTEST-ARGUMENT...]" >&2
    exit 2
    ;;
esac
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$source/build/$arch
root=$build/root

# apt, for that machine, with nothing installed.
apt()
{
    apt-get -q -y -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
        -o APT::Install-Recommends=0 -o Debug::NoLocking=1 \
        -o Dir::State="$build/apt" -o Dir::State::status="$build/apt/status" \
        -o Dir::Cache="$build/apt" "$@"
}

unpack_packages()
{
    mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial"
    : >"$build/apt/status"
    apt update || true # a source may have nothing for this machine
    apt --download-only install libc6-dev libgcc-12-dev libcurl4-openssl-dev \
        libxml2-dev libssl-dev $isal libmicrohttpd-dev check
    mkdir -p "$root.new"
    for deb in "$build"/apt/archives/*.deb; do
        dpkg-deb -x "$deb" "$root.new"
    done
    # Links from the root lead out of it, and the linker would take the static
    # library beside one.
    find "$root.new" -type l -lname '/*' | while read -r link; do
        ln -snf "$root$(readlink "$link")" "$link"
    done
    mv "$root.new" "$root"
}

[ -d "$root" ] || unpack_packages >"$build.log" 2>&1 || {
    tail -n 20 "$build.log"
    exit 1
}
libraries=$root/lib/$lib:$root/usr/lib/$lib
case $arch in
i386) run="$root/lib/ld-linux.so.2;--library-path;$libraries" ;;
arm64) run="qemu-aarch64;-L;$root" ;;
esac
cat >"$build/toolchain.cmake" <<EOF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $processor)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET $processor-linux-gnu)
set(CMAKE_SYSROOT $root)
set(CMAKE_FIND_ROOT_PATH $root)
set(CMAKE_CROSSCOMPILING_EMULATOR "$run")
set(CMAKE_LIBRARY_ARCHITECTURE $lib)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
EOF
export PKG_CONFIG_LIBDIR="$root/usr/lib/$lib/pkgconfig:$root/usr/share/pkgconfig"
export PKG_CONFIG_SYSROOT_DIR="$root"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" -DCMAKE_C_FLAGS=-O1 \
    -DXD_WERROR=OFF -DXD_RUN_UNDER="$run" \
    -DCMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER-}" >"$build.log"
# The programs of these tests, and no others.
tests=$(ninja -C "$build" -t targets all |
    sed -n 's,^\(tests/\(unit\|sim\)/[^:]*\): C_EXECUTABLE.*,\1,p')
# shellcheck disable=SC2086
cmake --build "$build" --parallel 2 --target $tests >>"$build.log" || {
    tail -n 50 "$build.log"
    exit 1
}
cd "$build"
ctest -L 'unit|sim' "$@"
