/* SPDX-License-Identifier: MIT */
#include "play/mpv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/moment.h"
#include "common/status.h"
#include "common/words.h"

/* Interval in seconds at which the position is reported to the library.  (mpv
 * reports every frame.) */
#define REPORT_S 0.1

/* The properties of mpv that are observed.  The numbers start at 1, because mpv
 * uses 0 for "no number". */
enum property {
    /* if several properties change at once, mpv reports them in this order */
    PATH = 1,
    TIME,
    DURATION,
    VIDEO_RATE,
    AUDIO_RATE,
    SPEED,
    IDLE,
    PAUSE,
    SEEKING,
    CACHE_PAUSE,
    PROPERTIES_END
};

static const char *const names[PROPERTIES_END] = {
    [PATH] = "path",
    [TIME] = "time-pos",
    [DURATION] = "duration",
    [VIDEO_RATE] = "video-bitrate",
    [AUDIO_RATE] = "audio-bitrate",
    [SPEED] = "speed",
    [IDLE] = "core-idle",
    [PAUSE] = "pause",
    [SEEKING] = "seeking",
    [CACHE_PAUSE] = "paused-for-cache",
};

bool mpv_is(const char *program)
{
    const char *slash = strrchr(program, '/');

    return strcmp(slash != NULL ? slash + 1 : program, "mpv") == 0;
}

/* ---- state ---- */

/* Returns the rate of the media in bytes per second: the average of the file if
 * known, otherwise the current bitrate. */
static double rate_of(const struct mpv *m)
{
    const int64_t size = m->duration_s > 0 ? xd_reader_size(m->viewer, 0) : 0;

    if (size > 0)
        return (double)size / m->duration_s;
    return ((m->video_rate > 0 ? m->video_rate : 0) +
            (m->audio_rate > 0 ? m->audio_rate : 0)) /
           8;
}

/* Returns the state for the library.  A seek ends a stall.  If the picture does
 * not move for no known reason, mpv is about to report the reason, or the file
 * has ended; this counts as a pause. */
static enum xd_play_state state_of(const struct mpv *m)
{
    if (m->moves)
        return XD_PLAY_RUNNING;
    if (m->is_paused)
        return XD_PLAY_PAUSED;
    if (m->is_seeking)
        return XD_PLAY_SEEKING;
    return m->waits || !m->has_moved ? XD_PLAY_WAITING : XD_PLAY_PAUSED;
}

static void report_state(struct mpv *m, enum xd_play_state state)
{
    if (m->viewer == NULL)
        return;
    const double rate = rate_of(m);
    const double byte = m->time_s > 0 ? m->time_s * rate : 0;
    const double speed = m->speed > 0 ? m->speed : 1;

    xd_reader_playhead(m->viewer, (uint64_t)byte, rate * speed, state);
    m->reported = state;
    m->reported_s = moment_s();
}

/* ---- messages ---- */

/* Returns the text after `key` in a line of JSON, or NULL if the line does not
 * contain the key.  mpv writes JSON without blanks.  The key includes its
 * quotes, so it cannot occur inside a string. */
static const char *value_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);

    return at != NULL ? at + strlen(key) : NULL;
}

static double number(const char *data)
{
    char *end;
    const double x = data != NULL ? strtod(data, &end) : -1;

    return data != NULL && end != data && x >= 0 && x < 1e12 ? x : -1;
}

/* Handles a change of the file.  The values of the previous file are
 * forgotten. */
static void turn_to(struct mpv *m, const char *url)
{
    m->time_s = m->duration_s = m->video_rate = m->audio_rate = -1;
    m->has_moved = m->moves;
    m->waits = m->is_seeking = false;
    m->viewer = m->turn(m->user, url);
    report_state(m, state_of(m));
}

/* Handles a change of the path.  Our own URLs contain no JSON escapes. */
static void set_path(struct mpv *m, const char *data)
{
    char url[MPV_LINE];
    const size_t len =
        data != NULL && *data == '"' ? strcspn(data + 1, "\"") : 0;

    if (len == 0)
        return; /* no file is being played */
    snprintf(url, sizeof url, "%.*s", (int)len, data + 1);
    turn_to(m, url);
}

static void set(struct mpv *m, enum property p, const char *data)
{
    const bool is = data != NULL && strncmp(data, "true", 4) == 0;
    const bool is_not = data != NULL && strncmp(data, "false", 5) == 0;

    switch (p) {
    case PATH:
        set_path(m, data);
        return;
    case TIME:
        m->time_s = number(data);
        return;
    case DURATION:
        m->duration_s = number(data);
        return;
    case VIDEO_RATE:
        m->video_rate = number(data);
        return;
    case AUDIO_RATE:
        m->audio_rate = number(data);
        return;
    case SPEED:
        m->speed = number(data);
        return;
    case IDLE:
        m->moves = is_not;
        m->has_moved = m->has_moved || is_not;
        return;
    case PAUSE:
        m->is_paused = is;
        return;
    case SEEKING:
        m->is_seeking = is;
        return;
    case CACHE_PAUSE:
        m->waits = is;
        return;
    case PROPERTIES_END:
        return;
    }
}

static void take_line(struct mpv *m, const char *line)
{
    const char *id = value_of(line, "\"id\":");

    if (value_of(line, "\"event\":\"property-change\"") == NULL || id == NULL)
        return;
    const long p = strtol(id, NULL, 10);
    if (p < PATH || p >= PROPERTIES_END)
        return;
    set(m, (enum property)p, value_of(line, "\"data\":"));
}

/* Handles bytes received from mpv.  All bytes of one read are treated as if
 * they were sent at the same time. */
static void take(struct mpv *m, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            m->is_too_long = m->len == sizeof m->line - 1;
            if (!m->is_too_long)
                m->line[m->len++] = bytes[i];
            continue;
        }
        m->line[m->len] = '\0';
        if (!m->is_too_long)
            take_line(m, m->line);
        m->len = 0;
        m->is_too_long = false;
    }
    if (state_of(m) != m->reported || moment_s() - m->reported_s >= REPORT_S)
        report_state(m, state_of(m));
}

/* ---- the socket ---- */

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int mpv_init(struct mpv *m, struct xd_reader *viewer, mpv_turn_fn *turn,
             void *user)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) {
        words_error("no socket for mpv: %s", strerror(errno));
        return STATUS_LOCAL;
    }
    *m = (struct mpv){.turn = turn,
                      .user = user,
                      .viewer = viewer,
                      .fd = pair[0],
                      .theirs = pair[1],
                      .time_s = -1,
                      .duration_s = -1,
                      .speed = 1,
                      .video_rate = -1,
                      .audio_rate = -1};
    (void)fcntl(m->fd, F_SETFD, FD_CLOEXEC);
    snprintf(m->option, sizeof m->option, "--input-ipc-client=fd://%d",
             m->theirs);
    report_state(m, XD_PLAY_WAITING);
    return 0;
}

void mpv_fini(struct mpv *m)
{
    report_state(m, XD_PLAY_ENDED);
    shut(&m->theirs);
    shut(&m->fd);
}

void mpv_begin(struct mpv *m)
{
    char line[200];

    shut(&m->theirs);
    for (int p = PATH; p < PROPERTIES_END; p++) {
        const int n = snprintf(line, sizeof line,
                               "{\"command\":[\"observe_property\",%d,\"%s\"]}"
                               "\n",
                               p, names[p]);
        /* An error means that mpv has ended, and mpv_listen() will notice
         * that. */
        (void)!write(m->fd, line, (size_t)n);
    }
}

void mpv_stop(struct mpv *m)
{
    report_state(m, XD_PLAY_PAUSED);
}

void mpv_continue(struct mpv *m)
{
    report_state(m, state_of(m));
}

static void read_message(struct mpv *m)
{
    char bytes[4096];

    const ssize_t n = read(m->fd, bytes, sizeof bytes);
    if (n > 0)
        take(m, bytes, (size_t)n);
    else if (n == 0 || errno != EINTR)
        shut(&m->fd);
}

void mpv_listen(struct mpv *m, int ms)
{
    const double end_s = moment_s() + ms / 1e3;
    /* if fd is -1, poll() only waits */
    struct pollfd p = {.fd = m->fd, .events = POLLIN};

    while (ms > 0 && poll(&p, 1, ms) > 0) {
        read_message(m);
        if (m->fd < 0)
            return; /* mpv is about to end */
        ms = (int)((end_s - moment_s()) * 1e3);
    }
}
