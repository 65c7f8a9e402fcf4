/* SPDX-License-Identifier: MIT */
#include "io/signature/gpgv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/error.h"
#include "os/small_file.h"

#define MIB ((size_t)1 << 20)

/* Limit in bytes; the keys of a whole distribution have less than 10 MiB. */
#define KEYRING_MAX (32 * MIB)

/* An inline-signed text may be as long as a manifest. */
#define SIGNED_TEXT_MAX (64 * MIB)

#define PATH_SIZE 64

int xd_gpgv_init(struct xd_gpgv *g)
{
    *g = (struct xd_gpgv){.is_inline = false};
    return xd_process_init(&g->process);
}

/* ---- the temporary folder ---- */

static void path_of(const struct xd_gpgv *g, const char *name,
                    char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s/%s", g->folder, name);
}

static void remove_folder(struct xd_gpgv *g)
{
    static const char *const names[] = {"keyring.gpg", "signature"};
    char path[PATH_SIZE];

    if (g->folder[0] == '\0')
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(g, names[i], path);
        (void)unlink(path);
    }
    (void)rmdir(g->folder);
    g->folder[0] = '\0';
}

static int make_folder(struct xd_gpgv *g, struct xd_error *err)
{
    snprintf(g->folder, sizeof g->folder, "%s", "/tmp/xdownload-XXXXXX");
    if (mkdtemp(g->folder))
        return 0;
    g->folder[0] = '\0';
    return xd_fail_errno(err, XD_E_IO, errno,
                         "no folder for gpgv can be made in /tmp");
}

static int put_file(const struct xd_gpgv *g, const char *name, const char *data,
                    size_t len, struct xd_error *err)
{
    char path[PATH_SIZE];
    ssize_t n = 0;
    int fd;

    path_of(g, name, path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    for (size_t done = 0; fd >= 0 && n >= 0 && done < len; done += (size_t)n)
        n = write(fd, data + done, len - done);
    if (fd < 0 || n < 0)
        n = xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    if (fd >= 0)
        (void)close(fd);
    return n < 0 ? XD_E_IO : 0;
}

/* ---- ASCII armor ---- */

static struct xd_span next_line(struct xd_span *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->s, '\n', rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->s) : rest->len;
    struct xd_span line = xd_span_trim(xd_span(rest->s, len));

    len += end != NULL;
    *rest = xd_span(rest->s + len, rest->len - len);
    return line;
}

static bool begins_with(struct xd_span s, const char *with)
{
    size_t len = strlen(with);

    return s.len >= len && memcmp(s.s, with, len) == 0;
}

/* Collects the base64 characters of one block at `at`, without header lines and
 * checksum.  Returns their number, or -1 if the end line is missing. */
static int64_t gather_letters(struct xd_span *rest, char *at)
{
    struct xd_span line = next_line(rest);
    size_t n = 0;

    while (line.len > 0 && memchr(line.s, ':', line.len))
        line = next_line(rest);
    while (!begins_with(line, "-----END PGP ")) {
        if (rest->len == 0)
            return -1;
        if (line.len > 0 && line.s[0] != '=') {
            memmove(at + n, line.s, line.len);
            n += line.len;
        }
        line = next_line(rest);
    }
    return (int64_t)xd_base64_letters(xd_span(at, n)).len;
}

bool xd_gpgv_unarmor(char *text, size_t *len)
{
    struct xd_span rest = xd_span(text, *len);
    size_t n = 0;
    bool is_armored = false;

    if (!begins_with(xd_span_trim(rest), "-----BEGIN PGP "))
        return true;
    while (rest.len > 0) {
        int64_t n_letters;
        size_t n_bytes;

        if (!begins_with(next_line(&rest), "-----BEGIN PGP "))
            continue;
        n_letters = gather_letters(&rest, text + n);
        n_bytes = n_letters < 0 ? 0 : (size_t)n_letters * 6 / 8;
        /* Decoding in place is safe: four characters are read before three
         * bytes are written. */
        if (n_letters < 0 ||
            !xd_base64_read(xd_span(text + n, (size_t)n_letters),
                            (unsigned char *)text + n, n_bytes))
            return false;
        n += n_bytes;
        is_armored = true;
    }
    *len = n;
    return is_armored;
}

/* ---- running gpgv ---- */

static int put_keyring(const struct xd_gpgv *g, const char *keyring,
                       struct xd_error *err)
{
    struct xd_text keys = {0};
    struct stat st;
    int rc;

    if (stat(keyring, &st) < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", keyring);
    rc = xd_small_file_read(&keys, keyring, KEYRING_MAX, err);
    if (rc == 0 && (keys.len == 0 || !xd_gpgv_unarmor(keys.s, &keys.len)))
        rc = xd_fail(err, XD_E_IO,
                     "%s: it holds no keys: make it with 'gpg --export'",
                     keyring);
    if (rc == 0)
        rc = put_file(g, "keyring.gpg", keys.s, keys.len, err);
    xd_text_fini(&keys);
    return rc;
}

static int run(struct xd_gpgv *g, struct xd_error *err)
{
    char keyring[PATH_SIZE], signature[PATH_SIZE];
    const char *const detached[] = {
        "gpgv", "--homedir", g->folder, "--keyring", keyring, "--status-fd",
        "3",    "--",        signature, "-",         NULL};
    const char *const with_text[] = {
        "gpgv", "--homedir", g->folder, "--keyring", keyring, "--status-fd",
        "3",    "--output",  "-",       "--",        "-",     NULL};

    path_of(g, "keyring.gpg", keyring);
    path_of(g, "signature", signature);
    return xd_process_start(&g->process, g->is_inline ? with_text : detached,
                            SIGNED_TEXT_MAX, err);
}

int xd_gpgv_start(struct xd_gpgv *g, const char *keyring,
                  struct xd_span signature, struct xd_error *err)
{
    int rc;

    xd_gpgv_abandon(g);
    g->is_inline = signature.len == 0;
    rc = make_folder(g, err);
    if (rc == 0)
        rc = put_keyring(g, keyring, err);
    if (rc == 0 && !g->is_inline)
        rc = put_file(g, "signature", signature.s, signature.len, err);
    if (rc == 0)
        rc = run(g, err);
    if (rc < 0)
        xd_gpgv_abandon(g);
    return rc;
}

int xd_gpgv_feed(struct xd_gpgv *g, const void *data, size_t len,
                 struct xd_error *err)
{
    int rc = xd_process_feed(&g->process, data, len, err);

    if (rc < 0)
        xd_gpgv_abandon(g);
    return rc;
}

int xd_gpgv_end(struct xd_gpgv *g, char out[XD_SIGNER_SIZE],
                struct xd_span *out_text, struct xd_error *err)
{
    const struct xd_text *said = g->process.said;
    struct xd_span text, status;
    int rc = xd_process_end(&g->process, err);

    remove_folder(g);
    if (rc < 0)
        return rc;
    text = xd_span(said[XD_PROCESS_OUTPUT].s, said[XD_PROCESS_OUTPUT].len);
    status = xd_span(said[XD_PROCESS_FD3].s, said[XD_PROCESS_FD3].len);
    rc = xd_gpgv_judge(status, g->is_inline, out, err);
    if (rc == 0 && out_text)
        *out_text = text;
    return rc;
}

void xd_gpgv_abandon(struct xd_gpgv *g)
{
    xd_process_abandon(&g->process);
    remove_folder(g);
}

void xd_gpgv_stop(struct xd_gpgv *g)
{
    xd_process_stop(&g->process);
}

void xd_gpgv_fini(struct xd_gpgv *g)
{
    remove_folder(g);
    xd_process_fini(&g->process);
}

/* ---- gpgv's output ---- */

/* Status keywords (GnuPG's doc/DETAILS) of signatures that do not count. */
static const struct {
    const char *word, *why;
} refusals[] = {
    {"BADSIG", "it is not the signature of this file"},
    {"EXPSIG", "the signature has expired"},
    {"EXPKEYSIG", "the key that signed it has expired"},
    {"REVKEYSIG", "the key that signed it was revoked"},
};

static struct xd_span next_word(struct xd_span *line)
{
    struct xd_span all = xd_span_trim(*line);
    const char *blank = all.len > 0 ? memchr(all.s, ' ', all.len) : NULL;
    size_t len = blank ? (size_t)(blank - all.s) : all.len;

    *line = xd_span(all.s + len, all.len - len);
    return xd_span(all.s, len);
}

static const char *refusal_of(struct xd_span word)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        if (xd_span_is(word, refusals[i].word))
            return refusals[i].why;
    }
    return NULL;
}

/* Writes the name of the signing key.  The last word of the line is the primary
 * key's fingerprint; the first is the signing subkey's. */
static void name_signer(struct xd_span line, char out[XD_SIGNER_SIZE])
{
    struct xd_span word = next_word(&line), next = word;

    while (next.len > 0) {
        word = next;
        next = next_word(&line);
    }
    snprintf(out, XD_SIGNER_SIZE, "OpenPGP key %.*s",
             (int)(word.len < 64 ? word.len : 64), word.s);
}

int xd_gpgv_judge(struct xd_span status, bool is_inline,
                  char out[XD_SIGNER_SIZE], struct xd_error *err)
{
    unsigned n_texts = 0, n_good = 0, n_valid = 0, n_unknown = 0;

    while (status.len > 0) {
        struct xd_span line = next_line(&status), word;
        const char *why;

        if (!xd_span_is(next_word(&line), "[GNUPG:]"))
            continue;
        word = next_word(&line);
        why = refusal_of(word);
        if (why)
            return xd_fail(err, XD_E_CORRUPT, "%s", why);
        n_texts += xd_span_is(word, "PLAINTEXT");
        n_good += xd_span_is(word, "GOODSIG");
        n_unknown += xd_span_is(word, "ERRSIG");
        if (!xd_span_is(word, "VALIDSIG"))
            continue;
        n_valid++;
        name_signer(line, out);
    }
    /* Unknown signatures matter only if there is no good one. */
    if (n_valid == 0 && n_unknown > 0)
        return xd_fail(err, XD_E_CORRUPT,
                       "the key that signed it is not in the keyring, or its "
                       "kind is not known");
    /* A detached signature must not contain its own text, because that is not
     * the file. */
    if (n_valid == 0 || n_good != n_valid || n_texts != (is_inline ? 1 : 0))
        return xd_fail(err, XD_E_CORRUPT,
                       is_inline ? "no signature that can be verified is in it"
                                 : "it is no signature that can be verified");
    return 0;
}
