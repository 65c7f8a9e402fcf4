#!/bin/sh
# SPDX-License-Identifier: MIT
# Puts servers of S3 into a folder: versitygw, which verifies signatures, from the
# Go module proxy, and moto, which knows all of the protocol, from PyPI.  What is
# there stays.  About two minutes.
#
#     sh tests/lab/s3_servers.sh FOLDER       FOLDER/bin/{versitygw,moto_server}
set -eu

folder=$1
mkdir -p "$folder/bin"
folder=$(cd "$folder" && pwd)
# Debian 12 has Go 1.19; a newer one is a module of the proxy, in which no file
# is executable.
newer_go()
{
    go=$(command -v go)
    ! go version | grep -q 'go1\.\(1[0-9]\|20\)' || {
        version=v0.0.1-go1.24.4.$(go env GOOS)-$(go env GOARCH)
        go mod download "golang.org/toolchain@$version"
        kit=$(go env GOMODCACHE)/golang.org/toolchain@$version
        chmod +x "$kit"/bin/* "$kit"/pkg/tool/*/*
        go=$kit/bin/go
    }
}

[ -x "$folder/bin/versitygw" ] || {
    newer_go
    GOBIN=$folder/bin "$go" install github.com/versity/versitygw/cmd/versitygw@v1.8.0
}
[ -x "$folder/bin/moto_server" ] || {
    python3 -m venv "$folder/moto"
    "$folder/moto/bin/pip" -q install 'moto[server]==5.2.5'
    ln -sf ../moto/bin/moto_server "$folder/bin/moto_server"
}
