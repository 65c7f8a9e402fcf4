#!/bin/sh
# SPDX-License-Identifier: MIT
# Ten clients fetch one file at once, first from its server alone and then by way of
# a mesh of five caches, all on this machine.  Prints how much the server sent.
#
#     sh examples/via/mesh.sh [CLIENTS [MIB]]
#
# Takes nginx with its slice module, and xdownload: that of $XDOWNLOAD, or of a
# build here, or of the PATH.  Uses six ports from $PORT (18080) on.  What it starts
# and what it makes is gone at the end.
set -eu

clients=${1:-10} mib=${2:-64} port=${PORT:-18080}
root=$(cd "$(dirname "$0")/../.." && pwd)
nginx=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v nginx) || {
    echo "nginx is not installed" >&2
    exit 1
}
xdownload=${XDOWNLOAD:-}
for built in "$root/build/release/xdownload" "$root/build/dev/xdownload"; do
    [ -n "$xdownload" ] || [ ! -x "$built" ] || xdownload=$built
done
xdownload=${xdownload:-xdownload}
work=$(mktemp -d)
# Root's workers would become another user, who cannot read this folder.
user=$([ "$(id -u)" != 0 ] || echo 'user root;')

clean_up()
{
    for pid in "$work"/*/nginx.pid "$work"/mesh/*/nginx.pid; do
        [ ! -s "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || :
    done
    wait
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

start()
{
    "$nginx" -p "$1" -c nginx.conf -g "daemon off; $user" 2>>"$1/stderr" &
    while [ ! -s "$1/nginx.pid" ]; do
        kill -0 $! 2>/dev/null || {
            cat "$1/stderr" >&2
            exit 1
        }
        sleep 0.05
    done
}

start_origin()
{
    mkdir "$work/origin"
    head -c $((mib << 20)) /dev/urandom >"$work/origin/film.bin"
    cat >"$work/origin/nginx.conf" <<END
pid nginx.pid;
error_log error.log;
events { }
http {
    client_body_temp_path tmp-body;
    proxy_temp_path tmp-proxy;
    fastcgi_temp_path tmp-fastcgi;
    uwsgi_temp_path tmp-uwsgi;
    scgi_temp_path tmp-scgi;
    log_format bytes '\$body_bytes_sent';
    access_log sent.log bytes;
    server {
        listen 127.0.0.1:$port;
        root $work/origin;
    }
}
END
    start "$work/origin"
}

start_mesh()
{
    set --
    for id in a b c d e; do
        set -- "$@" "$id=127.0.0.1:$((port + $# + 1))"
    done
    "$xdownload" via --nginx "$@" --origin "http://127.0.0.1:$port/" \
        -q -o "$work/mesh"
    for id in a b c d e; do
        start "$work/mesh/$id"
    done
}

# All clients at once, with these options; and what that cost the origin.
fetch()
{
    title=$1
    shift
    mkdir "$work/out"
    : >"$work/origin/sent.log"
    jobs=
    for i in $(seq "$clients"); do
        "$xdownload" --no-config -q "$@" -o "$work/out/$i" \
            "http://127.0.0.1:$port/film.bin" &
        jobs="$jobs $!"
    done
    for job in $jobs; do
        wait "$job"
    done
    for i in $(seq "$clients"); do
        cmp "$work/origin/film.bin" "$work/out/$i"
    done
    rm -r "$work/out"
    sleep 0.2 # the last lines of the log
    awk -v title="$title" -v file=$((mib << 20)) '
        { sent += $1 }
        END { printf "%-28s %8.1f MiB %6.2f files\n", title,
                     sent / 1048576, sent / file }' "$work/origin/sent.log"
}

start_origin
start_mesh
echo "$clients clients fetch $mib MiB; the origin sends"
export XDG_CACHE_HOME="$work/cache" # these depots need not be remembered
fetch "  to the clients"
fetch "  to the mesh, which is cold" --via "$work/mesh/NODES"
fetch "  to the mesh, which is warm" --via "$work/mesh/NODES"
"$xdownload" via --check "$work/mesh/NODES" "http://127.0.0.1:$port/film.bin"
