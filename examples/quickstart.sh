#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds xdownload and shows it at work: a file of 64 MiB comes from six local
# depots of very different speeds, one of them dead.
#
#     sh examples/quickstart.sh
#
# Installs what is missing through apt and says so first.  Everything it makes
# is in build/; what it starts and what it downloads is gone at the end.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/release
work=
. "$root/tests/lab/packages.sh"

# The throttles read from the pipe at descriptor 9 and end when we do, however we
# end; so does the shell that watches over the depot.
clean_up()
{
    exec 9>&-
    wait
    [ -z "$work" ] || rm -rf "$work"
    give_back "$root/build"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

build_release()
{
    echo "Building in build/release ..."
    mkdir -p "$root/build"
    log=$root/build/quickstart.log
    if ! { cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release \
        -DBUILD_TESTING=OFF &&
        cmake --build "$build" --parallel 2 &&
        cmake --build "$build" --target throttle; } >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
    rm "$log"
}

# Serves the folder $work at 127.0.0.1:$port.
start_server()
{
    (
        exec 9>&-
        "$build/xdownload" depot -q --listen 127.0.0.1:0 "$work/depot" \
            >"$work/depot.url" &
        trap '' INT TERM HUP
        read -r _ <"$work/life" || :
        kill $! 2>/dev/null
        wait
    ) &
    wait_for_line "$work/depot.url"
    port=$(sed 's,.*:\([0-9]*\)/.*,\1,' "$work/depot.url")
}

# Older libcurls leave names like fast.localhost to the system, and not every
# system knows them.
host_of()
{
    if "$build/xdownload" -q --no-depot-cache --retry 1 -o /dev/null \
        "http://$1.localhost:$port/hello" 2>/dev/null; then
        echo "$1.localhost"
    else
        echo 127.0.0.1
    fi
}

# Waits until a server has written its address into the file; 30 s are more than
# any machine needs.
wait_for_line()
{
    tries=600
    while [ ! -s "$1" ]; do
        tries=$((tries - 1))
        if [ $tries = 0 ]; then
            echo "a local server did not start; no address in $1" >&2
            exit 1
        fi
        sleep 0.05
    done
}

# Sets `address`: the server at that port, at that speed.
throttle()
{
    "$build/tests/lab/throttle" --to "127.0.0.1:$2" --rate "$3" \
        <"$work/life" >"$work/$1.port" 9>&- &
    wait_for_line "$work/$1.port"
    address=$(host_of "$1"):$(cat "$work/$1.port")
}

# Starts a web server of that speed and adds it to the exNode.
start_depot()
{
    throttle "$1" "$port" "$2"
    add_replica "http://$address/film.bin"
}

add_replica()
{
    cat >>"$work/film.xnd" <<END
  <exnode:mapping>
    <exnode:metadata name="exnode_offset" type="integer">0</exnode:metadata>
    <exnode:metadata name="logical_length" type="integer">$size</exnode:metadata>
    <exnode:metadata name="alloc_length" type="integer">$size</exnode:metadata>
    <exnode:metadata name="alloc_offset" type="integer">0</exnode:metadata>
    <exnode:metadata name="e2e_blocksize" type="integer">0</exnode:metadata>
    <exnode:read>$1</exnode:read>
  </exnode:mapping>
END
}

start_depots()
{
    mkfifo "$work/life"
    exec 9<>"$work/life"
    size=67108864
    mkdir "$work/depot"
    echo hello >"$work/depot/hello"
    head -c $size /dev/urandom >"$work/depot/film.bin"
    start_server
    cat >"$work/film.xnd" <<END
<?xml version="1.0"?>
<exnode xmlns:exnode="http://loci.cs.utk.edu/exnode">
  <exnode:metadata name="Version" type="string">3.0</exnode:metadata>
  <exnode:metadata name="filename" type="string">film.bin</exnode:metadata>
END
    start_depot fast 4000000
    start_depot good 2000000
    start_depot fair 1000000
    start_depot slow 400000
    start_depot crawl 100000
    add_replica "http://$(host_of dead):1/film.bin"
    echo "</exnode>" >>"$work/film.xnd"
}

want_build
install_missing
build_release
work=$(mktemp -d "$root/build/quickstart.XXXXXX")
start_depots

echo
echo "Six depots hold the same 64 MiB.  Five give 4, 2, 1, 0.4 and 0.1 MB/s,"
echo "7.5 MB/s together; the sixth does not answer."
echo
echo "\$ xdownload film.xnd"
# These depots need not be remembered.
(cd "$work" && XDG_CACHE_HOME=$work "$build/xdownload" film.xnd 9>&-)
echo
cmp "$work/depot/film.bin" "$work/film.bin"
echo "Every byte is right.  The command is build/release/xdownload."
