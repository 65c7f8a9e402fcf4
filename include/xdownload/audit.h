/* SPDX-License-Identifier: MIT */
/*
 * Whether the depots of a file still hold what its manifest says: each replica is
 * looked at alone.  Nothing is written, neither to depots nor to this machine.
 */
#ifndef XDOWNLOAD_AUDIT_H
#define XDOWNLOAD_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_audit;

/* Of a replica, from good to bad; of a depot, that of its worst replica. */
enum xd_audit_verdict {
    XD_AUDIT_SKIPPED, /* not asked: the options leave its host out */
    XD_AUDIT_OK,
    XD_AUDIT_SLOW, /* its depot answers after more than 2 s, or delivers less
                          than a quarter of the median of all depots; it took at
                          least half a second to receive what came */
    XD_AUDIT_UNRANGED, /* its depot sends no ranges */
    XD_AUDIT_DISPUTED, /* its bytes differ from another's, and there is neither a
                          hash nor a majority */
    XD_AUDIT_LYING,   /* its bytes are wrong: by their hash, or by a majority */
    XD_AUDIT_STALE,   /* another version: the size of its object differs, or its
                          bytes, and it is older than the others; or it has
                          changed while it was read */
    XD_AUDIT_EXPIRED, /* its allocation is over */
    XD_AUDIT_DENIED, /* its depot denies access to it (401, 403): what is there is
                        not known, and it is not replaced */
    XD_AUDIT_DEAD,   /* it cannot be read */
    XD_AUDIT_UNREACHED /* not known: no depot at all was reached, as if the line of
                          this machine were down */
};

struct xd_audit_options {
    size_t struct_size; /* set by the caller */
    bool is_full;       /* read every byte; else samples */
};

/* What was found of one replica.  Strings live as long as the audit. */
struct xd_audited {
    size_t struct_size; /* set by the caller */
    enum xd_audit_verdict verdict;
    const char *reason;    /* a sentence; NULL: all is well */
    size_t depot;          /* the number of its depot */
    uint64_t object_size;  /* as its depot says, or XD_SIZE_UNKNOWN */
    const char *validator; /* as its depot sent it; or NULL */
    int64_t modified;      /* seconds since 1970; 0: not known */
    bool has_answered, has_no_ranges;
    uint64_t expires_at;  /* seconds since 1970, by the depot's word or else the
                            manifest's; 0: never, or not known */
    uint64_t bytes_read;  /* that were compared, or were to be: */
    uint64_t bytes_right; /* by a hash, or as most depots have them */
    uint64_t bytes_wrong, bytes_disputed;
    size_t n_wrong;         /* runs of wrong bytes: see xd_audit_wrong() */
    const char *depot_name; /* as in struct xd_audited_depot */
};

/* What was found of one depot. */
struct xd_audited_depot {
    size_t struct_size; /* set by the caller */
    const char *name;   /* "host" or "host:port" */
    enum xd_audit_verdict verdict;
    const char *reason; /* of the first replica with this verdict; or NULL */
    size_t n_replicas, n_usable;
    uint64_t bytes_held; /* of the file, by the manifest */
    uint64_t bytes_read, bytes_wrong;
    uint64_t expires_at;  /* of the first allocation that expires; 0: of none */
    uint64_t answer_usec; /* until its first answer; XD_SIZE_UNKNOWN: none */
    double bytes_per_s;   /* 0: not measured */
};

/* What was found of a stripe.  Of a file of which the line was down nothing was. */
struct xd_audited_stripe {
    size_t struct_size; /* set by the caller */
    unsigned
        n_good;   /* shards that are there as a whole: of data, every byte has
                           a good copy, or they have none; of parity, they have a
                           usable replica */
    int n_losses; /* of shards that it bears: n_good less k; what is below 0
                           is missing to give back its lost bytes */
};

/* What was found of the file. */
struct xd_audit_sum {
    size_t struct_size; /* set by the caller */
    uint64_t size;      /* or XD_SIZE_UNKNOWN */
    bool is_full;
    const char *algorithm; /* of the hashes that bytes were compared with; NULL:
                              with each other alone */
    size_t n_depots, n_replicas, n_usable, n_skipped; /* of parity, too */
    /* Of a file of known size: the bytes that are lost, and those that are lost with
     * one depot more.  Without parity these are those of which no depot has a good
     * copy, and those of which one has.  A usable replica is one; and so are, if
     * every byte was read, those bytes of a lying or disputed one that were right.
     * A stripe gives back its bytes as long as k of its shards are good. */
    uint64_t bytes_with_one, bytes_with_none;
    size_t n_with_one, n_with_none; /* runs of them: see xd_audit_at_risk() */
    bool
        is_line_down; /* all replicas that were asked are unreached: of how many
                          bytes there are good copies is not known */
    size_t n_of_parity; /* replicas, of all */
    size_t n_stripes;
    int n_losses; /* as of the stripe that bears the fewest; 0 without stripes */
    /* Of which no depot has a good copy, but which parity gives back. */
    uint64_t bytes_restorable;
    size_t n_restorable; /* runs: see xd_audit_restorable() */
};

XD_BEGIN_DECLS

/*
 * Look at all replicas of file number `file` of `m`, those of parity too: whether their depots answer,
 * the size of their objects, whether ranges can be had, when they expire, and
 * samples of their bytes: of each extent 8 places of 64 KiB, or up to 8 pieces
 * that the manifest has hashes of, of at most 16 MiB together but two at least;
 * all of what is shorter than 1 MiB.  Or all bytes, by `what`, which may be NULL.
 * Bytes without a hash are compared with each other: those are right that more
 * than half of the depots have.  A shard of parity is read as an extent is, and of
 * all its bytes its hash decides.
 *
 * Each depot is asked one thing at a time, several depots at once, as many as the
 * option `max-depots` allows (0: 16).  The log is given XD_LOG_STATUS lines of
 * how much has been read.
 *
 * Ownership: *out is the caller's, to release with xd_audit_free(); it holds a
 *            reference to `m`.  `o` may be NULL: the defaults.
 * Threads:   any.  Works on a thread of its own, which has ended on return.
 * Blocks:    until each depot has answered or failed: a depot that is silent for
 *            as long as the option `silence` allows is asked again, up to
 *            `retry` times where it has answered before, else twice; one that
 *            sends less than 10 KiB in 10 s, without a `limit-rate`, is given up.
 *            A cancel of the options ends it.
 * Errors:    INVAL (no such file, or extents that overlap in more than ten million
 *            ways, or parity that is longer than any file), TIMEOUT (the option `max-time` is over),
 *            CANCELED, NOMEM, IO (a file that the options name).  What is wrong
 *            with a replica is none.
 */
XD_API XD_MUST_CHECK int xd_audit_new(struct xd_audit **out,
                                      struct xd_manifest *m, size_t file,
                                      const struct xd_audit_options *what,
                                      const struct xd_options *o,
                                      struct xd_error *err);

XD_API void xd_audit_get(const struct xd_audit *a, struct xd_audit_sum *out);

/* The i-th depot, in the order of the manifest; 0, or INVAL past the last. */
XD_API int xd_audit_depot(const struct xd_audit *a, size_t i,
                          struct xd_audited_depot *out);

/* A replica of the manifest's file; 0, or INVAL past the last. */
XD_API int xd_audit_replica(const struct xd_audit *a, size_t extent,
                            size_t replica, struct xd_audited *out);

/* The i-th run of bytes of the file that a replica has wrong, as far as they were
 * read: from *out_begin on, before *out_end; 0, or INVAL past the last. */
XD_API int xd_audit_wrong(const struct xd_audit *a, size_t extent,
                          size_t replica, size_t i, uint64_t *out_begin,
                          uint64_t *out_end);

/* The i-th run of bytes that are lost (`n_depots` 0), or are with one depot more (1);
 * likewise. */
XD_API int xd_audit_at_risk(const struct xd_audit *a, size_t n_depots, size_t i,
                            uint64_t *out_begin, uint64_t *out_end);

/* The i-th run of bytes that only parity gives back; likewise. */
XD_API int xd_audit_restorable(const struct xd_audit *a, size_t i,
                               uint64_t *out_begin, uint64_t *out_end);

/* The i-th run of bytes of which there are good copies, but only as parts of replicas
 * that are wrong elsewhere; likewise. */
XD_API int xd_audit_scattered(const struct xd_audit *a, size_t i,
                              uint64_t *out_begin, uint64_t *out_end);

/* A stripe of the manifest's file; 0, or INVAL past the last. */
XD_API int xd_audit_stripe(const struct xd_audit *a, size_t stripe,
                           struct xd_audited_stripe *out);

/* Whether that shard of a stripe, of data or of parity, is there as a whole. */
XD_API bool xd_audit_shard_is_good(const struct xd_audit *a, size_t stripe,
                                   size_t shard);

/* As xd_audit_replica() and xd_audit_wrong(), of a replica of parity; bytes are those
 * of the shard. */
XD_API int xd_audit_shard_replica(const struct xd_audit *a, size_t stripe,
                                  size_t shard, size_t replica,
                                  struct xd_audited *out);
XD_API int xd_audit_shard_wrong(const struct xd_audit *a, size_t stripe,
                                size_t shard, size_t replica, size_t i,
                                uint64_t *out_begin, uint64_t *out_end);

/* "ok", "slow", "unranged", "disputed", "lying", "stale", "expired", "denied", "dead",
 * "unreached" or "skipped"; lives for ever. */
XD_API const char *xd_audit_verdict_name(enum xd_audit_verdict verdict);

/* Whether a download can use such a replica: OK, SLOW, UNRANGED. */
XD_API bool xd_audit_verdict_is_usable(enum xd_audit_verdict verdict);

XD_API void xd_audit_free(struct xd_audit *a); /* NULL does nothing */

XD_END_DECLS

#endif
