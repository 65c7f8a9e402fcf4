# SPDX-License-Identifier: MIT
# Sourced by tests/run.sh: runs the rows of a build with ctest and counts.
#
#     chances=2                       # rows that fail are run once more, alone
#     rows_at_once=8                  # more than processors: mostly they wait
#     run_rows NAME BUILD -L unit     # fails where a row failed in the end
#     echo "$passed $failed"          # test functions
#     echo "$alone"                   # NAME:ROW ..., passed at the second time
#     echo "$failures"                # those that failed in the end, and how
#
# Many rows run at once, on the two processors that CI has.  Of 17 000 tests one
# then waits, now and then, for longer than its author thought of, which says
# nothing about the program; alone it passes.  A defect that shows only under load
# could pass like that, so a row whose output shows something that no load explains
# gets no second chance; and whoever reads the output sees both attempts.

chances=1
rows_at_once=12
passed=0
failed=0
alone=
failures=

# Wrong data (tests/conftest.py); what sanitizers and valgrind find, or the exit
# status that they cause; crashes, as pytest and Check report them.
DEFECT='WRONG BYTES'
DEFECT="$DEFECT|Sanitizer|: runtime error: |==[0-9]+== |assert 99 "
DEFECT="$DEFECT|assert -(4|6|7|8|11) |Received signal"

# Where more rows fail, it is not for want of a processor.
MOST_FAILURES=5

# results LOG...: prints "ROW PASSED FAILED", what Check and pytest counted, for
# each row of ctest's logs; the last log that has a row decides.
results()
{
    awk '
        /^[0-9]+\/[0-9]+ Testing: / { row = $3; yes[row] = no[row] = 0 }
        /Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+$/ {
            gsub(/[^0-9 ]/, "")
            bad = $(NF - 1) + $NF
            no[row] += bad
            yes[row] += $(NF - 2) - bad
        }
        /^[0-9].* in [0-9.]+s( \([0-9:]+\))?$/ {
            for (i = 1; i < NF; i++) {
                if ($(i + 1) ~ /^passed/) yes[row] += $i
                if ($(i + 1) ~ /^(failed|error)/) no[row] += $i
            }
        }
        END { for (row in yes) print row, yes[row], no[row] }' "$@"
}

# excusable ROWS LOG: prints those of the rows, one in each line of the file,
# that show no defect in the log; none if there are too many.
excusable()
{
    [ "$(wc -l <"$1")" -le $MOST_FAILURES ] || return
    awk -v defect="$DEFECT" '
        NR == FNR { rows[NR] = $1; n = NR; next }
        /^[0-9]+\/[0-9]+ Testing: / { row = $3 }
        $0 ~ defect { has_defect[row] = 1 }
        END {
            for (i = 1; i <= n; i++)
                if (!has_defect[rows[i]]) print rows[i]
        }' "$1" "$2"
}

# last_words ROW LOG: the end of what the row printed.
last_words()
{
    awk -v row="$1" '
        /^[0-9]+\/[0-9]+ Testing: / { is_row = $3 == row; next }
        is_row' "$2" | tail -n 40
}

# attempt COUNT [CTEST-ARGUMENT...]: so many rows at once; those that failed are
# in the file failed.
attempt()
{
    at_once=$1
    shift
    rm -f "$logs/LastTestsFailed.log" # else it stays as it is if none fails
    (cd "$logs/../.." && ctest -j "$at_once" --output-on-failure "$@")
    attempt_status=$?
    cut -d : -f 2 "$logs/LastTestsFailed.log" >"$logs/failed" 2>/dev/null
    return $attempt_status
}

# Runs those failed rows once more that may have a second chance; fails where a
# row has failed for good.
try_again()
{
    cp "$logs/LastTest.log" "$logs/first.log"
    [ -s "$logs/failed_first" ] || return 1
    excusable "$logs/failed_first" "$logs/first.log" >"$logs/again"
    [ -s "$logs/again" ] || return 1
    echo "== once more, alone"
    attempt 1 -R "^($(paste -s -d '|' "$logs/again"))\$"
    grep -v -x -F -f "$logs/failed" "$logs/again" >"$logs/passed_alone"
    for row in $(cat "$logs/passed_alone"); do
        alone="$alone $rows_name:$row"
    done
    cmp -s "$logs/failed_first" "$logs/again" && [ ! -s "$logs/failed" ]
}

# run_rows NAME BUILD [CTEST-ARGUMENT...]
run_rows()
{
    rows_name=$1
    logs=$2/Testing/Temporary
    shift 2
    rm -f "$logs/first.log"
    attempt "$rows_at_once" "$@"
    rows_status=$?
    cp "$logs/failed" "$logs/failed_first"
    : >"$logs/passed_alone"
    if [ $rows_status != 0 ] && [ $chances -gt 1 ]; then
        try_again
        rows_status=$?
    fi
    for row in $(grep -v -x -F -f "$logs/passed_alone" "$logs/failed_first"); do
        failures="$failures
failed: $rows_name:$row
$(last_words "$row" "$logs/LastTest.log")"
    done
    set -- "$logs/LastTest.log"
    [ ! -f "$logs/first.log" ] || set -- "$logs/first.log" "$@"
    # shellcheck disable=SC2046
    set -- $(results "$@" | awk '{ y += $2; n += $3 }
        END { print y + 0, n + 0 }')
    passed=$((passed + $1))
    failed=$((failed + $2))
    return $rows_status
}
