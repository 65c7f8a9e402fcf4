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
[ -x "$folder/bin/versitygw" ] ||
    GOBIN=$folder/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
[ -x "$folder/bin/moto_server" ] || {
    python3 -m venv "$folder/moto"
    "$folder/moto/bin/pip" -q install 'moto[server]==5.2.5'
    ln -sf ../moto/bin/moto_server "$folder/bin/moto_server"
}
