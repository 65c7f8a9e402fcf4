#!/bin/sh
# SPDX-License-Identifier: MIT
# The experiment of Plank, Atchley, Ding and Beck (2003) in virtual time: draws what
# corresponds to their figures 4 to 10.
#
#     sh figures.sh [FOLDER [SEEDS [OPTION...]]]
#
# FOLDER (default figures) gets the figures and the results; a second call does only
# what is missing there.  SEEDS (default 3) is how often each combination runs.
# OPTIONs of `xdownload bench` replace the paper's values, such as `-b 2m`.
set -eu

folder=${1:-figures}
seeds=${2:-3}
shift $(($# < 2 ? $# : 2))
scenarios=$(cd "$(dirname "$0")" && pwd)/scenarios
export XDOWNLOAD_SCENARIOS="$scenarios"

# sweep CLIENT OPTION...
sweep() {
    client=$1
    shift
    xdownload bench -q --paper --repeat "$seeds" -o "$folder/$client.csv" \
        "$@" --virtual "paper-$client"
}

mkdir -p "$folder"
# Figures 4 and 8 to 10, and 5: bandwidth, and the delays of a player.
sweep tennessee -R 2 -P 3 "$@"
sweep santa-barbara -R 2 -P 3 "$@"
# Figure 6, the effect of R, and figure 7, that of P.
sweep santa-barbara -a aggressive -R 3 "$@"
sweep tennessee -a progress -R 2 -P 6,9 "$@"

xdownload bench --plot "$folder" "$folder/tennessee.csv"
xdownload bench --plot "$folder" "$folder/santa-barbara.csv"
