# SPDX-License-Identifier: MIT
# Sourced by examples/quickstart.sh and tests/run.sh: installs what is missing.
#
#     want_command gcc gcc            # command, package that has it
#     want_package libxml2-dev        # any of the packages; the first is taken
#     install_missing                 # prints the apt command, then runs it
#     unpack_nginx FOLDER             # sets PATH so that nginx is found

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
}

say_and_run()
{
    echo "+ $*"
    "$@"
}

apt_update()
{
    [ -z "${apt_is_updated-}" ] || return 0
    say_and_run $sudo apt-get update -q
    apt_is_updated=yes
}

install_missing()
{
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "missing, to be installed by hand:$missing" >&2
        return 1
    fi
    apt_update
    # shellcheck disable=SC2086
    say_and_run $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $missing
    missing=
}

# Unpacks nginx into FOLDER where none is installed, and puts it on the PATH.  To
# install the package would start a web server on port 80, now and at each boot.
unpack_nginx()
{
    PATH=$PATH:/usr/sbin:$1/usr/sbin
    ! command -v nginx >/dev/null 2>&1 || return 0
    apt_update
    mkdir -p "$1"
    # The program is in nginx-light on Ubuntu 22.04, in nginx since Debian 12.
    for package in nginx nginx-light; do
        (cd "$1" && say_and_run apt-get download -q "$package" &&
            dpkg-deb -x "$package"_*.deb .) 2>"$1/log" || {
            cat "$1/log" >&2
            return 1
        }
        ! command -v nginx >/dev/null 2>&1 || return 0
    done
    echo "the packages nginx and nginx-light have no /usr/sbin/nginx" >&2
    return 1
}

# What root built under somebody's tree stays that person's.
give_back()
{
    if [ "$(id -u)" = 0 ] && [ -d "$1" ]; then
        chown -R --reference="$(dirname "$1")" "$1"
    fi
}
