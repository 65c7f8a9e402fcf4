/* SPDX-License-Identifier: MIT */
#include "io/ibp/ibp_wire.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/number.h"

/* The version that every depot supports. */
#define VERSION 0

enum command { ALLOCATE = 1, STORE = 2, STATUS = 4, LOAD = 8, MANAGE = 9 };
enum { PROBE = 40 }; /* subcommand of MANAGE */

/* "ibp" is the default password of depots for STATUS. */
static const struct xd_ibp_command commands[] = {
    {"ALLOCATE", ALLOCATE, NULL, 4, NULL},
    {"STORE", STORE, NULL, 0, "WRITE"},
    {"LOAD", LOAD, NULL, 2, "READ"},
    {"PROBE", MANAGE, "40 0 0 0 0", 0, ""},
    {"CHANGE", MANAGE, "43 0", 3, "MANAGE"},
    {"DECREMENT", MANAGE, "42", 1, "MANAGE"},
    {"STATUS", STATUS, "1 ibp", 0, NULL},
};

static const struct error {
    const char *words;
    bool may_pass;
} errors[] = {
    [1] = {"generic error", true},
    [2] = {"the depot could not read from the socket", true},
    [3] = {"the depot could not write to the socket", true},
    [4] = {"capability not found", false},
    [5] = {"not a write capability", false},
    [6] = {"not a read capability", false},
    [7] = {"not a manage capability", false},
    [8] = {"invalid write capability", false},
    [9] = {"invalid read capability", false},
    [10] = {"invalid manage capability", false},
    [11] = {"wrong format of the capability", false},
    [12] = {"access to the capability denied", false},
    [13] = {"connection failed", true},
    [14] = {"the depot could not open its file", true},
    [15] = {"the depot could not read its file", true},
    [16] = {"the depot could not write its file", true},
    [17] = {"the depot could not access its file", true},
    [18] = {"the depot could not seek in its file", true},
    [19] = {"would exceed the allocation", false},
    [20] = {"would damage data", false},
    [21] = {"bad format", false},
    [22] = {"type not supported", false},
    [23] = {"resource unavailable", true},
    [24] = {"internal error", true},
    [25] = {"invalid command", false},
    [26] = {"would block", true},
    [27] = {"protocol version not supported", false},
    [28] = {"duration too long", false},
    [29] = {"wrong password", false},
    [30] = {"invalid parameter", false},
    [31] = {"invalid parameter", false},
    [32] = {"invalid parameter", false},
    [33] = {"invalid parameter", false},
    [34] = {"invalid parameter", false},
    [35] = {"invalid parameter", false},
    [36] = {"invalid parameter", false},
    [37] = {"invalid parameter", false},
    [38] = {"allocation failed", true},
    [42] = {"client timed out", true},
    [45] = {"not allowed by the depot's policy", false},
    [46] = {"server timed out", true},
    [47] = {"the depot is recovering", true},
    [48] = {"capability is being deleted", false},
    [53] = {"the depot's queue is full", true},
    [61] = {"invalid host", true},
    [62] = {"could not connect", true},
    [63] = {"could not connect", true},
    [64] = {"checksum error on the depot", true},
    [65] = {"checksum error on the depot", true},
    [66] = {"out of sockets", true},
};

bool xd_ibp_is_depot(const struct xd_url *u)
{
    const char *path = xd_url_secret_text(u) + u->path;

    return u->is_valid && u->scheme == XD_SCHEME_IBP && u->host_len > 0 &&
           !xd_url_has_login(u) && (path[0] == '\0' || strcmp(path, "/") == 0);
}

/* Reads a non-empty word up to the next '/'. */
static const char *take_word(const char **s, int *out_len)
{
    const char *word = *s;
    size_t len = strcspn(word, "/");

    *s += len;
    *out_len = (int)len;
    return len > 0 && len <= XD_URL_MAX ? word : NULL;
}

/* Parses the keys and the rest, such as "/READ". */
static bool split(const struct xd_url *u, struct xd_ibp_capability *out,
                  const char **out_right)
{
    struct xd_ibp_capability c;
    const char *s = xd_url_secret_text(u) + u->path;

    if (u->scheme != XD_SCHEME_IBP || *s++ != '/')
        return false;
    c.key = take_word(&s, &c.key_len);
    if (c.key == NULL || *s++ != '/')
        return false;
    c.type_key = take_word(&s, &c.type_key_len);
    if (c.type_key == NULL)
        return false;
    *out = c;
    *out_right = s;
    return true;
}

bool xd_ibp_split_right(const struct xd_url *u, const char *right,
                        struct xd_ibp_capability *out)
{
    static const char *const rights[] = {"/READ", "/WRITE", "/MANAGE"};
    struct xd_ibp_capability c;
    const char *its;

    if (!split(u, &c, &its))
        return false;
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        if (strcmp(its, rights[i]) == 0 &&
            (right[0] == '\0' || strcmp(right, its + 1) == 0)) {
            *out = c;
            return true;
        }
    }
    return false;
}

bool xd_ibp_split(const struct xd_url *u, struct xd_ibp_capability *out)
{
    return xd_ibp_split_right(u, "READ", out);
}

void xd_ibp_write_load(struct xd_text *to, const struct xd_ibp_capability *c,
                       uint64_t offset, uint64_t length, unsigned timeout_s)
{
    XD_ASSERT(timeout_s > 0 && length > 0);
    xd_text_addf(to, "%d %d %.*s %.*s %" PRIu64 " %" PRIu64 " %u \n", VERSION,
                 (int)LOAD, c->key_len, c->key, c->type_key_len, c->type_key,
                 offset, length, timeout_s);
}

void xd_ibp_write_probe(struct xd_text *to, const struct xd_ibp_capability *c,
                        unsigned timeout_s)
{
    XD_ASSERT(timeout_s > 0);
    xd_text_addf(to, "%d %d %.*s %.*s %d 0 0 0 0 %u \n", VERSION, (int)MANAGE,
                 c->key_len, c->key, c->type_key_len, c->type_key, (int)PROBE,
                 timeout_s);
}

const struct xd_ibp_command *xd_ibp_command(const char *method)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].method, method) == 0)
            return &commands[i];
    }
    return NULL;
}

void xd_ibp_write_command(struct xd_text *to,
                          const struct xd_ibp_command *command,
                          const struct xd_ibp_capability *c, const char *fields,
                          uint64_t length, unsigned timeout_s)
{
    XD_ASSERT(timeout_s > 0);
    xd_text_addf(to, "%d %d ", VERSION, command->number);
    if (command->right)
        xd_text_addf(to, "%.*s %.*s ", c->key_len, c->key, c->type_key_len,
                     c->type_key);
    if (command->sub)
        xd_text_addf(to, "%s ", command->sub);
    if (command->n_fields > 0)
        xd_text_addf(to, "%s ", fields);
    if (command->number == STORE)
        xd_text_addf(to, "%" PRIu64 " ", length);
    xd_text_addf(to, "%u \n", timeout_s);
}

/* Reads a number at *s after optional blanks; a blank or the end must follow
 * it.  Returns false if there is none. */
static bool take_number(const char **s, const char *end, int64_t *out)
{
    const char *at = *s, *digits;
    bool is_negative;
    uint64_t value;

    while (at < end && *at == ' ')
        at++;
    is_negative = at < end && *at == '-';
    digits = at += is_negative;
    while (at < end && *at != ' ')
        at++;
    if (!xd_parse_u64(digits, (size_t)(at - digits), &value) ||
        value > INT64_MAX)
        return false;
    *out = is_negative ? -(int64_t)value : (int64_t)value;
    *s = at;
    return true;
}

bool xd_ibp_takes(const struct xd_ibp_command *c, const char *fields)
{
    const char *end = fields ? fields + strlen(fields) : NULL;
    unsigned n = 0;
    int64_t number;

    while (fields && fields < end && take_number(&fields, end, &number))
        n++;
    return fields == end && n == c->n_fields;
}

/* Returns the end without trailing blanks and the '\r' that some depots
 * send. */
static const char *end_of(const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\r'))
        len--;
    return line + len;
}

bool xd_ibp_split_reply(const char *line, size_t len, int64_t *out_code,
                        struct xd_span *out_words)
{
    const char *end = end_of(line, len);

    if (memchr(line, '\0', len) || !take_number(&line, end, out_code))
        return false;
    while (line < end && *line == ' ')
        line++;
    *out_words = (struct xd_span){.s = line, .len = (size_t)(end - line)};
    return true;
}

/* Reads the capability at *s, which must have this right. */
static bool take_capability(const char **s, const char *right,
                            struct xd_ibp_capability *out)
{
    size_t len = strcspn(*s += strspn(*s, " "), " "), n_right = strlen(right);
    const char *at = *s, *end = at + len, *slash;

    *s = end;
    if (len > XD_URL_MAX || len < 6 + n_right ||
        strncasecmp(at, "ibp://", 6) != 0)
        return false;
    end -= n_right;
    at = memchr(at + 6, '/', (size_t)(end - at - 6));
    if (at == NULL || strncmp(end, right, n_right) != 0)
        return false;
    at++;
    slash = memchr(at, '/', (size_t)(end - at));
    if (slash == NULL || slash == at || slash + 1 == end ||
        memchr(slash + 1, '/', (size_t)(end - slash - 1)))
        return false;
    *out = (struct xd_ibp_capability){.key = at,
                                      .key_len = (int)(slash - at),
                                      .type_key = slash + 1,
                                      .type_key_len = (int)(end - slash - 1)};
    return true;
}

bool xd_ibp_allocated(const char *words, struct xd_ibp_allocation *out)
{
    return take_capability(&words, "/READ", &out->read) &&
           take_capability(&words, "/WRITE", &out->write) &&
           take_capability(&words, "/MANAGE", &out->manage) &&
           words[strspn(words, " ")] == '\0';
}

static uint64_t count(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

bool xd_ibp_longest(const char *line, uint64_t *out_s)
{
    struct xd_ibp_reply r;

    if (!xd_ibp_parse_reply(line, strlen(line), &r) || r.code < 0 || r.n < 4)
        return false;
    *out_s = count(r.numbers[3]);
    return true;
}

bool xd_ibp_parse_numbers(const char *words, size_t len,
                          struct xd_ibp_reply *out)
{
    const char *end = end_of(words, len);
    struct xd_ibp_reply r = {.code = out->code};

    while (r.code >= 0 && words < end) {
        if (r.n == XD_IBP_NUMBERS_MAX ||
            !take_number(&words, end, &r.numbers[r.n++]))
            return false;
    }
    *out = r;
    return true;
}

bool xd_ibp_parse_reply(const char *line, size_t len, struct xd_ibp_reply *out)
{
    const char *end = end_of(line, len);
    struct xd_ibp_reply r = {.n = 0};

    if (!take_number(&line, end, &r.code) ||
        !xd_ibp_parse_numbers(line, (size_t)(end - line), &r))
        return false;
    *out = r;
    return true;
}

bool xd_ibp_loaded(const struct xd_ibp_reply *r, uint64_t *out)
{
    if (r->code != XD_IBP_OK || r->n < 1 || r->numbers[0] < 0)
        return false;
    *out = (uint64_t)r->numbers[0];
    return true;
}

bool xd_ibp_probed(const struct xd_ibp_reply *r, struct xd_ibp_probe *out)
{
    bool is_soft;

    if (r->code != XD_IBP_OK || r->n < 5)
        return false;
    for (size_t i = 2; i < 5; i++) {
        if (r->numbers[i] < 0)
            return false;
    }
    is_soft = r->n > 5 && r->numbers[5] == XD_IBP_SOFT;
    *out = (struct xd_ibp_probe){.readers = count(r->numbers[0]),
                                 .writers = count(r->numbers[1]),
                                 .written = (uint64_t)r->numbers[2],
                                 .allocated = (uint64_t)r->numbers[3],
                                 .lifetime = (uint64_t)r->numbers[4],
                                 .reliability =
                                     is_soft ? XD_IBP_SOFT : XD_IBP_HARD};
    return true;
}

static const struct error *find_error(int64_t code)
{
    static const struct error unknown = {"unknown error", true};

    if (code >= 0 || code <= -(int64_t)(sizeof errors / sizeof *errors) ||
        errors[-code].words == NULL)
        return &unknown;
    return &errors[-code];
}

const char *xd_ibp_words(int64_t code)
{
    return find_error(code)->words;
}

bool xd_ibp_may_pass(int64_t code)
{
    return find_error(code)->may_pass;
}
