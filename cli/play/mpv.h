/* SPDX-License-Identifier: MIT */
/*
 * Reports to the library what mpv shows on the screen.  It uses mpv's JSON IPC
 * on a socket pair.  mpv inherits one end of it, and quits when the other end
 * is closed.  So mpv never outlives this process.
 */
#ifndef CLI_MPV_H
#define CLI_MPV_H

#include <stdbool.h>

#include <xdownload/stream.h>

#define MPV_LINE 4096

/* Called when mpv starts to play this URL.  Returns the reader to which the
 * state of the picture is reported, or NULL to report nothing. */
typedef struct xd_reader *mpv_turn_fn(void *user, const char *url);

struct mpv {
    mpv_turn_fn *turn; /* constant */
    void *user;        /* constant: argument for `turn` */
    struct xd_reader *viewer;
    int fd, theirs;      /* -1: closed */
    char option[40];     /* option that tells mpv its end of the socket pair */
    char line[MPV_LINE]; /* bytes of the line received so far */
    size_t len;
    bool is_too_long; /* the line is too long and is ignored */
    /* Last values from mpv; < 0: unknown. */
    double time_s, duration_s, speed;
    /* bitrates of the media in bits per second */
    double video_rate, audio_rate;
    bool moves;     /* whether the picture is moving */
    bool has_moved; /* whether the picture has moved since the file started */
    bool is_paused, is_seeking, waits;
    enum xd_play_state reported;
    double reported_s; /* moment_s() of the last report */
};

/* Returns whether the program is mpv. */
bool mpv_is(const char *program);

/* Prepares to start mpv, and reports that the user is waiting for a picture.
 * `viewer` is the reader of the first file, or NULL.  `turn` is called for each
 * file.  Returns 0; after a failure, prints the error and returns the exit
 * status.
 * Ownership: on success the caller releases *m with mpv_fini(). */
int mpv_init(struct mpv *m, struct xd_reader *viewer, mpv_turn_fn *turn,
             void *user);
void mpv_fini(struct mpv *m);

/* Subscribes to mpv's properties.  Call it after mpv was started with the
 * option. */
void mpv_begin(struct mpv *m);

/* Report a pause.  Call mpv_stop() before Ctrl-Z stops this process and mpv,
 * and mpv_continue() when they continue. */
void mpv_stop(struct mpv *m);
void mpv_continue(struct mpv *m);

/* Handles messages of mpv for `ms` milliseconds, or until mpv closes the
 * socket. */
void mpv_listen(struct mpv *m, int ms);

#endif
