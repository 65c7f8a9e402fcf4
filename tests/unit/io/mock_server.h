/* SPDX-License-Identifier: MIT */
/*
 * An HTTP server on the loopback, or one of a protocol whose requests are
 * lines, that does exactly what a script says, right or wrong.
 *
 *     static const struct mock_step script[] = {
 *         SAY("HTTP/1.1 206 Partial Content\r\n" ...), BODY(0, 100), NEXT,
 *         SAY("HTTP/1.1 503 Busy\r\n\r\n"), CLOSE, END};
 *
 * Requests, in the order in which they come in on whatever connection, get the
 * parts between NEXT; those after the last get the last again.
 */
#ifndef MOCK_SERVER_H
#define MOCK_SERVER_H

#include <stdint.h>

struct mock_server;

struct mock_step {
    enum {
        MOCK_END,
        MOCK_NEXT, /* what follows is for the next request */
        MOCK_SAY,  /* send `text`, in which "@" stands for host:port */
        MOCK_BODY, /* send bytes of the object */
        MOCK_TAKE, /* receive bytes of it */
        MOCK_STALL, /* receive nothing, and say nothing, for as long as it lasts */
        MOCK_SLEEP, /* for `first` ms */
        MOCK_HOLD,  /* do nothing until the client goes away */
        MOCK_CLOSE,
        MOCK_RESET
    } kind;
    const char *text;
    uint64_t first, length;
};

#define SAY(text)              \
    {                          \
        MOCK_SAY, (text), 0, 0 \
    }
#define BODY(first, length)             \
    {                                   \
        MOCK_BODY, 0, (first), (length) \
    }
#define TAKE(first, length)             \
    {                                   \
        MOCK_TAKE, 0, (first), (length) \
    }
#define STALL               \
    {                       \
        MOCK_STALL, 0, 0, 0 \
    }
#define SLEEP(ms)              \
    {                          \
        MOCK_SLEEP, 0, (ms), 0 \
    }
#define HOLD               \
    {                      \
        MOCK_HOLD, 0, 0, 0 \
    }
#define CLOSE               \
    {                       \
        MOCK_CLOSE, 0, 0, 0 \
    }
#define RESET               \
    {                       \
        MOCK_RESET, 0, 0, 0 \
    }
#define NEXT               \
    {                      \
        MOCK_NEXT, 0, 0, 0 \
    }
#define END               \
    {                     \
        MOCK_END, 0, 0, 0 \
    }

/* The byte of every object at an offset. */
unsigned char mock_byte(uint64_t offset);

/* `script` outlives the server.  Failures abort the test. */
struct mock_server *mock_start(const struct mock_step *script);

/* Each line is a request; the URL is SCHEME://127.0.0.1:PORT followed by
 * `path`. */
struct mock_server *mock_start_lines(const struct mock_step *script,
                                     const char *scheme, const char *path);

/* Connections that come hold few bytes that TAKE has not received yet. */
void mock_narrow(struct mock_server *m);

/* Closes all connections and joins all threads. */
void mock_stop(struct mock_server *m);

/* "http://127.0.0.1:PORT/x", or as mock_start_lines() has it. */
const char *mock_url(const struct mock_server *m);
unsigned mock_port(const struct mock_server *m);

unsigned mock_connections(struct mock_server *m);
unsigned mock_requests(struct mock_server *m);

/* Bytes that TAKE has received so far.  One that is not the object's ends its
 * connection, and is not among them. */
uint64_t mock_taken(struct mock_server *m);

/* The head or the line of the i-th request, or "" if there was none yet. */
const char *mock_request(struct mock_server *m, unsigned i);

/* A port on which nobody listens, and one that never completes a connect;
 * the descriptors in `hold` keep it so and are the caller's to close. */
unsigned mock_dead_port(void);
unsigned mock_mute_port(int hold[3]);

#endif
