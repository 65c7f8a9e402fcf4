# SPDX-License-Identifier: MIT
# Sourced by examples/quickstart.sh and tests/run.sh: installs what is missing.
#
#     want_command gcc gcc            # command, package that has it
#     want_package libxml2-dev        # any of the packages; the first is taken
#     install_missing                 # says the line, then runs it

missing=

want_command()
{
    PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null 2>&1 ||
        missing="$missing $2"
}

want_package()
{
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
            grep -q 'install ok installed' && return
    done
    missing="$missing $1"
}

# What any build needs.
want_build()
{
    want_command gcc gcc
    want_command make make
    want_command cmake cmake
    want_package libc6-dev
    want_package libcurl4-openssl-dev libcurl4-gnutls-dev libcurl4-nss-dev
    want_package libxml2-dev
    want_package libssl-dev
    want_package libisal-dev
    want_package libmicrohttpd-dev
    want_command pkg-config pkg-config
    want_command nginx nginx-light
    want_package ca-certificates
}

say_and_run()
{
    echo "+ $*"
    "$@"
}

install_missing()
{
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "missing, to be installed by hand:$missing" >&2
        return 1
    fi
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    say_and_run $sudo apt-get update -q
    # shellcheck disable=SC2086
    say_and_run $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $missing
    missing=
}

# What root built under somebody's tree stays that person's.
give_back()
{
    if [ "$(id -u)" = 0 ] && [ -d "$1" ]; then
        chown -R --reference="$(dirname "$1")" "$1"
    fi
}
