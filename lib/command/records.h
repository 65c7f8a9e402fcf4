/* SPDX-License-Identifier: MIT */
/*
 * Records of the requests of a download, for traces and measurements.  Any
 * thread may call the functions at any time, as long as the caller holds a
 * reference to the download.
 */
#ifndef XD_COMMAND_RECORDS_H
#define XD_COMMAND_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/download.h>

/* Why a request was made. */
enum xd_fetch_reason {
    XD_FETCH_NEXT,  /* first request for these bytes */
    XD_FETCH_PROBE, /* to learn the size of the file */
    /* An earlier request for these bytes failed or was stopped, or the bytes
     * were discarded. */
    XD_FETCH_AGAIN,
    /* The bytes were taken from a slower request, which now ends before these
     * bytes. */
    XD_FETCH_SPLIT,
    /* a second request for bytes that another request is still fetching */
    XD_FETCH_HEDGE,
    XD_FETCH_SAMPLE /* to compare the bytes with another depot's copy */
};

/* One request: a finished one from xd_download_next_record(), or one in flight
 * from xd_download_requests().  Times are in seconds since the start of the
 * download unless stated otherwise. */
struct xd_fetch_record {
    size_t struct_size;
    unsigned depot; /* index for xd_download_depot() */
    /* Range of bytes of the file that was requested; `end` is excluded */
    uint64_t begin, end;
    uint64_t received;  /* bytes of the range that were received */
    uint64_t redundant; /* duplicate bytes; included in `received` */
    double start_s;
    /* time at which the first byte was received; negative if no byte was
     * received */
    double first_byte_s;
    double end_s;
    /* XD_OK, or XD_E_CANCELED if another request delivered the bytes, or the
     * code of the failure */
    enum xd_code code;
    enum xd_fetch_reason reason;
    /* Number of the slot on the depot, from 0.  A slot runs one request at a
     * time.  It has a connection of its own unless slots share one (HTTP/2). */
    unsigned lane;
    double queued_s; /* time at which the request was planned */
    /* Duration in seconds of the name lookup, and of the connection set-up
     * including TLS.  Both are 0 if the connection was open already, or if the
     * durations are not known. */
    double name_s;
    double connect_s;
};

/*
 * Removes the oldest record from a queue, which holds up to 4096 records of
 * finished requests.  Records are kept only if the option `records` is set.
 * When the queue is full, the oldest record is lost; *out_lost (may be NULL) is
 * the number of records lost so far.
 * Returns: false if there is no record now.
 * Blocks:  no.
 */
bool xd_download_next_record(struct xd_download *d, struct xd_fetch_record *out,
                             uint64_t *out_lost);

/*
 * Lists the requests in flight.  It fills in up to `n` records.  In each,
 * `code` is AGAIN, end_s and first_byte_s are negative, and start_s equals
 * queued_s until the request has been sent.
 *
 * The struct_size of the first record applies to the whole array.
 * `out` may be NULL if `n` is 0.
 * Returns: the number of requests in flight, which may be more than `n`.
 * Blocks:  no.
 */
size_t xd_download_requests(struct xd_download *d, struct xd_fetch_record *out,
                            size_t n);

#endif
