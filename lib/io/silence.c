/* SPDX-License-Identifier: MIT */
#include "io/silence.h"

#include "base/defence.h"
#include "os/clock.h"

/* Longest delay beyond the intended wait that an update counts.  After a longer
 * delay, the process was probably not running. */
#define MAX_UNWATCHED (250 * XD_MS)

/* Limit on a wait while a request is running. */
#define MAX_WAIT XD_SECOND

void xd_silence_clock_init(struct xd_silence_clock *c)
{
    *c = (struct xd_silence_clock){.looked_at = xd_now()};
}

void xd_silence_clock_look(struct xd_silence_clock *c, xd_usec waited)
{
    xd_usec now = xd_now();
    xd_usec passed = now - c->looked_at, most = waited + MAX_UNWATCHED;

    c->looked_at = now;
    c->watched += passed < most || !XD_DEFENDS("unwatched") ? passed : most;
}

xd_usec xd_silence_left(const struct xd_silence_clock *c, xd_usec last_byte_at,
                        xd_usec patience)
{
    xd_usec silent = c->watched - last_byte_at;

    return silent < patience ? xd_earlier(patience - silent, MAX_WAIT) : 0;
}
