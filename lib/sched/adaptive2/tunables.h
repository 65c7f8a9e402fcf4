/* SPDX-License-Identifier: MIT */
/*
 * The constants of the adaptive2 policy.
 *
 * "Prototype" marks a value that was chosen with an earlier program with the
 * same rules, by varying one constant at a time over random networks.  Some
 * comments name a standard instead.  The origin of the other values is not
 * recorded.
 */
#ifndef XD_SCHED_ADAPTIVE2_TUNABLES_H
#define XD_SCHED_ADAPTIVE2_TUNABLES_H

#include "base/time.h"

/* Longest time between two plans, in microseconds.  Other plans are made when
 * something happens, such as the end of a request.  Without this timer, the
 * policy would notice a stalled connection only at the next event.
 * Prototype. */
#define XD_TICK (20 * XD_MS)

/* Longest time between two plans while no throughput is known, in microseconds.
 * Until a depot answers, or this time has passed twice, it gets a single
 * request: if a nearby depot lacks the file, more requests would fail as well.
 * With four times this value, downloads with bursts take 7 % longer. */
#define XD_FIRST_TICK (5 * XD_MS)

/* The same for the only depot of a download: it gets a single request until it
 * answers, or for this long, in microseconds.  With 250 ms, burst_request takes
 * 6 % longer, and lottery, rate_limit and ban 3 to 4 %. */
#define XD_ALONE_TICK (40 * XD_MS)

/* Number of connections at the start, summed over all depots.  With half as
 * many, downloads are 7 to 9 % slower if depots limit the throughput of each
 * connection or take long to answer.  Prototype. */
#define XD_FIRST_CONNECTIONS 24

/* Number of depots that are opened without a ping if there are many, so that
 * the first byte does not wait for one. */
#define XD_FIRST_UNSEEN 4

/* A depot that was slow in an earlier download is expected to be at most this
 * many times slower than the mean until it has answered: it may have been an
 * exception. */
#define XD_LEAST_PRIOR 8

/* Minimum duration of a throughput sample, in seconds.  If the round-trip time
 * is longer, a sample lasts one round trip, because TCP sends one window in
 * each. */
#define XD_SAMPLE_S 0.05

/* Weight of the newest sample in an exponential moving average. */
#define XD_GAIN (1.0 / 3)

/* Relative uncertainty of a throughput that is unknown or has only one sample.
 * Also the upper limit of the uncertainty later. */
#define XD_UNSURE 0.5

/* Lower limit of the relative uncertainty of a throughput. */
#define XD_SUREST 0.05

/* Number of samples before the throughput of a connection is considered
 * known. */
#define XD_MATURE 3

/* A new connection is in slow start as long as each sample exceeds the mean by
 * this factor. */
#define XD_RISING 1.2

/* Slow start is over after this many consecutive samples below that factor.
 * A single one does not end it, because slow start sends in bursts. */
#define XD_FLAT 2

/* A sample is an outlier if it differs from the mean by more than this many
 * deviations and by more than this part of the mean.  Two outliers in a row on
 * the same side of the mean are a change, and their average becomes the
 * mean. */
#define XD_CHANGE_DEVIATIONS 2
#define XD_CHANGE_PART 0.3

/* Round-trip time that is assumed until the first depot answers, in seconds. */
#define XD_FIRST_WAIT_S 0.01

/* Silence that a single lost packet can explain, in seconds: on Linux, TCP
 * retransmits after 0.2 s or more (RFC 6298).  A connection is stalled only if
 * its silence exceeds this before the first byte of a response, or twice this
 * after it. */
#define XD_QUIET_S 0.25

/* A connection is assumed to share a congested queue for this long after
 * packets arrived out of order, or after its last byte if that had waited in a
 * long queue: so many seconds, plus so many round-trip times.  It is not
 * replaced during that time, because a new connection would be no faster.
 * Without this rule, equal connections on one line look unequal at random and
 * are replaced again and again. */
#define XD_CALM_S 1.0
#define XD_CALM_RTT 8

/* Minimum gain of an action, in seconds: the download must end earlier by more
 * than this. */
#define XD_PRICE_S 0.02

/* The minimum gain is never more than this part of the duration of the
 * download.  Without this limit, no action would pay for a small file. */
#define XD_PRICE_PART 0.05

/* Price of discarded bytes.  An action that discards as many bytes as all
 * connections receive in one second must end the download earlier by this many
 * seconds more. */
#define XD_WASTE 1.0

/* A replacement must be better by this factor.  It may be a new connection for
 * a slow one, a shorter request, or another depot for bytes that a reader
 * needs. */
#define XD_RENEW 1.5

/* The expected throughput of a new connection is a weighted mean over the
 * earlier connections of the depot.  Each older connection has this part of the
 * weight of the next newer one. */
#define XD_MEMORY 0.8

/* Number of earlier connections in that mean. */
#define XD_PAST 12

/* Request lengths are rounded to a multiple of this, in bytes.  A request takes
 * the whole gap rather than leave a very short rest. */
#define XD_GRAIN 16384

/* Some depots send the start of each response faster, and are asked for short
 * requests.  This is the minimum length of those, in bytes.  Shorter bursts are
 * ignored, because data that waited in a queue also arrives at once. */
#define XD_LEAST_BURST (512 * 1024)

/* Objects shorter than this share a connection if the depot allows it, in
 * bytes.  A connection of its own would cost such an object more time than it
 * saves. */
#define XD_SHORT (1024.0 * 1024)

/* Minimum length of a request while no throughput is known, in bytes. */
#define XD_LEAST_REQUEST 1024

/* Initial congestion window of TCP in bytes: 10 segments (RFC 6928), less the
 * header of the response. */
#define XD_FIRST_WINDOW 14000

/* A request for a reader may take at least this long, however close its
 * deadline is, in seconds. */
#define XD_READ_S 0.1

/* While the first block for a reader is incomplete, requests for other bytes
 * last this long, in seconds, so that the fastest connections can soon help
 * with the block.  With 0.1, a near depot beside far ones is busy for 0.2 s,
 * and the first piece arrives 0.1 s later. */
#define XD_BESIDE_S 0.025

/* Longest request for a reader: this many seconds, or waits for a first byte.
 * If a depot falls silent, a connection of another is soon free to help.  With
 * 1 s, 100 films stall for 18 instead of 14 s, and without a limit for
 * 21 s. */
#define XD_LONGEST_READ_S 0.5
#define XD_LONGEST_READ_WAITS 8

/* A request for a reader may last this part of the time until its first byte is
 * played. */
#define XD_NEED_PART 0.5

/* A player has time to spare if its next missing byte is not needed for this
 * long, in seconds, and the rest of the film would arrive in time with this
 * part of the throughput.  Until then, nothing else is requested. */
#define XD_SPARE_S 1.0
#define XD_SPARE_PART 0.8

/* While no throughput is known, a request for a reader is at most one block
 * divided by this. */
#define XD_FIRST_PARTS 8

/* Longest request for bytes without a deadline, in seconds, if the download has
 * readers, or if the depot suggests bytes.  It keeps connections from being
 * busy when a reader needs them, or when the depot suggests others. */
#define XD_BULK_S 1.0

/* In waits for a first byte: a depot that suggests bytes gets requests at least
 * this long, or they would cost more than 2 %. */
#define XD_BULK_WAITS 50

/* The user's limit is reached from this part of it on. */
#define XD_NEAR_LIMIT 0.8

/* Back-off of a depot after it refused a request, in seconds.  Then it gets one
 * more request at a time than it served.  The back-off doubles with each
 * refusal, up to the second value.  Without these attempts, a depot that
 * refused once would be limited for the rest of the download.  Prototype. */
#define XD_BACK_OFF_S 0.25
#define XD_LONGEST_BACK_OFF_S 8.0

/* Packets wait in a queue if the round-trip time exceeds 1.2 times the shortest
 * one by more than this, in seconds. */
#define XD_QUEUE_S 0.005

/* Packets wait in a long queue if the round-trip time exceeds 2 times the
 * shortest one by more than this, in seconds.  With 0.03, connections that
 * share a line of 12 Mbit/s with a queue of 128 KiB replace each other, and
 * stutter takes 3 % longer. */
#define XD_LONG_QUEUE_S 0.015

/* A request that waits for its first byte may be silent for this many round
 * trips of another connection of its depot, if those are long because packets
 * wait in a queue.  The queue grows while it waits.  With 2, lines of 56 to 512
 * kbit/s lose 1 % of their time to connections that are replaced without
 * need. */
#define XD_QUEUE_WAITS 4

/* On a slow line, one depot is enough if it delivers at least this part of what
 * all delivered together.  An unlucky loss on a long queue costs a quarter. */
#define XD_ONE_IS_ENOUGH 0.75

/* Number of bytes over which that is measured: about as many as wait in the
 * queue of a slow line.  One lost packet delays about as many. */
#define XD_LINE_BYTES (256.0 * 1024)

/* A trial of more connections succeeds if it brings at least this part of the
 * expected additional throughput.  After a failed trial there is a pause, which
 * doubles each time. */
#define XD_KEEP 0.25

#endif
