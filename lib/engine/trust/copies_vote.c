/* SPDX-License-Identifier: MIT */
#include "engine/trust/copies_vote.h"

#include <string.h>
#include <xdownload/manifest.h>

/* Returns true if the copies may be of the same file: their sizes and samples
 * are equal, as far as they are known. */
static bool are_same(const struct xd_copy *a, const struct xd_copy *b)
{
    if (a->size != XD_SIZE_UNKNOWN && b->size != XD_SIZE_UNKNOWN &&
        a->size != b->size)
        return false;
    for (size_t k = 0; k < XD_COPY_SAMPLES; k++) {
        if (a->samples[k] && b->samples[k] &&
            strcmp(a->samples[k], b->samples[k]) != 0)
            return false;
    }
    return true;
}

/* Returns the file to which copy `i` belongs, among the files found so far. */
static size_t find_file(const struct xd_copy *list, size_t n, size_t i)
{
    for (size_t j = 0; j < n; j++) {
        if (list[j].file == j && are_same(&list[j], &list[i]))
            return j;
    }
    return i;
}

/* Sorts the copies into files.  Copies of unknown size come last: such a copy
 * can match files of several sizes, so no other copy should be compared with
 * it. */
static void find_files(struct xd_copy *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        list[i].file = XD_NO_COPY;
    for (size_t i = 0; i < n; i++) {
        if (list[i].has_answered && list[i].size != XD_SIZE_UNKNOWN)
            list[i].file = find_file(list, n, i);
    }
    for (size_t i = 0; i < n; i++) {
        if (list[i].has_answered && list[i].size == XD_SIZE_UNKNOWN)
            list[i].file = find_file(list, n, i);
    }
}

/* Returns true if copy `i` counts as a vote.  A host with two copies of a file
 * has one vote. */
static bool is_vote(const struct xd_copy *list, size_t i)
{
    if (list[i].file == XD_NO_COPY)
        return false;
    for (size_t j = 0; j < i; j++) {
        if (list[j].file == list[i].file &&
            xd_url_compare_depots(list[j].url, list[i].url) == 0)
            return false;
    }
    return true;
}

static size_t count_votes(const struct xd_copy *list, size_t n, size_t file)
{
    size_t votes = 0;

    for (size_t i = 0; i < n; i++)
        votes += list[i].file == file && is_vote(list, i);
    return votes;
}

/* Returns the file with the most votes, apart from `but`.  If several files
 * have equally many votes, returns the one whose URL comes first. */
static size_t find_most(const struct xd_copy *list, size_t n, size_t but)
{
    size_t best = XD_NO_COPY, most = 0;

    for (size_t i = 0; i < n; i++) {
        size_t votes =
            list[i].file == i && i != but ? count_votes(list, n, i) : 0;

        if (votes > most) {
            most = votes;
            best = i;
        }
    }
    return best;
}

struct xd_copies_vote xd_copies_vote(struct xd_copy *list, size_t n)
{
    struct xd_copies_vote vote;
    size_t all = 0;

    find_files(list, n);
    for (size_t i = 0; i < n; i++)
        all += is_vote(list, i);
    vote.file = find_most(list, n, XD_NO_COPY);
    vote.other = find_most(list, n, vote.file);
    vote.is_decided =
        vote.file != XD_NO_COPY && 2 * count_votes(list, n, vote.file) > all;
    return vote;
}

bool xd_copies_have_one_name(const struct xd_url *urls, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (!xd_url_same_name(&urls[0], &urls[i]))
            return false;
    }
    return true;
}
