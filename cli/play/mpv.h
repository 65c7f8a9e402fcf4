/* SPDX-License-Identifier: MIT */
/*
 * What mpv shows, reported to the library: its JSON IPC on a pair of sockets,
 * one of which it inherits.  mpv ends when the other one is closed, so that it
 * does not outlive us whatever becomes of us.
 */
#ifndef CLI_MPV_H
#define CLI_MPV_H

#include <stdbool.h>

#include <xdownload/stream.h>

#define MPV_LINE 4096

/* It plays the file at this URL from now on.  Returns the reader that gets its
 * reports; NULL: they are dropped. */
typedef struct xd_reader *mpv_turn_fn(void *user, const char *url);

struct mpv {
    mpv_turn_fn *turn; /* constant */
    void *user;        /* its; constant */
    struct xd_reader *viewer;
    int fd, theirs;      /* -1: closed */
    char option[40];     /* for mpv: where it finds its socket */
    char line[MPV_LINE]; /* what came of one */
    size_t len;
    bool is_too_long; /* it is passed over */
    /* As mpv said last; < 0: it does not know. */
    double time_s, duration_s, speed;
    double video_rate, audio_rate; /* bits per second of media */
    bool moves;                    /* the picture */
    bool has_moved;                /* ever */
    bool is_paused, is_seeking, waits;
    enum xd_play_state reported;
    double reported_s; /* when */
};

/* Whether the program understands this. */
bool mpv_is(const char *program);

/* The clock begins: the user wants to see a picture.  `viewer`, which may be NULL,
 * is that of the first file; `turn` is called for each.  Returns 0, or a status
 * after the reason was said.
 * Ownership: after 0, to release with mpv_fini(). */
int mpv_init(struct mpv *m, struct xd_reader *viewer, mpv_turn_fn *turn,
             void *user);
void mpv_fini(struct mpv *m);

/* It was started with the option: ask it. */
void mpv_begin(struct mpv *m);

/* We are about to be stopped with it, or go on: that is a pause. */
void mpv_stop(struct mpv *m);
void mpv_continue(struct mpv *m);

/* Take in what it says, for so long, or until it has ended that. */
void mpv_listen(struct mpv *m, int ms);

#endif
