/* SPDX-License-Identifier: MIT */
/*
 * Records what downloads do in the Chrome trace event format, as a JSON array
 * (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU),
 * which Perfetto opens.  Times are microseconds since the trace began.
 *
 *     event                     ph  what
 *     xdownload_trace           M   the version of this format
 *     process_name              M   a run (one download); pid is its number
 *     thread_name               M   a lane: requests to a depot in sequence
 *     begin, end                i   begin and end of a run
 *     ok, canceled, net...      X   a request, named by its outcome
 *     bytes, player, a depot    C   counters
 *     read                      B,E a reader of a file that is served
 *     a line of the log         i   a decision, with its reason
 *
 * The file is written while the run lasts.  If a run is killed, only its last
 * moment and the closing bracket are missing.  The format does not require the
 * closing bracket.  URLs appear as in messages, without logins and queries.
 *
 * Traces are a part of the command, not of the library.
 *
 * Threads: only one thread at a time may record a run.  Any thread may call all
 * other functions.  If a trace or a run is NULL, nothing is recorded.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <xdownload/stream.h>

#include "lab/simulate.h"

struct xd_fetch_record;
struct trace;
struct trace_run;

/* Creates or truncates the file.  Returns 0; after a failure, prints the error
 * and returns the exit status.
 * Ownership: the caller releases *out with trace_close(). */
int trace_open(struct trace **out, const char *path);

/* Closes the trace.  Returns 0; if the file could not be written, prints the
 * error and returns the exit status. */
int trace_close(struct trace *t);

/*
 * Starts the record of a run, whose download needs the option `records`.
 * Returns NULL if `t` is NULL or memory runs out.
 * Ownership: the caller releases the run with trace_end().  `d` and the viewer
 * must live until then.
 */
struct trace_run *trace_begin(struct trace *t, const char *name,
                              struct xd_download *d);

/* Sets the reader whose player is recorded.  NULL: no player is recorded. */
void trace_viewer(struct trace_run *r, struct xd_reader *viewer);

/* While `yes` is true, trace_look() does not take the records of requests.  The
 * caller must take them and pass them to trace_record(). */
void trace_leave_records(struct trace_run *r, bool yes);

/* Records everything that is new.  Call it about ten times a second. */
void trace_look(struct trace_run *r);

/* Records a request that the caller has taken from the download. */
void trace_record(struct trace_run *r, const struct xd_fetch_record *record);

/* Ends the recording of a run.  `rc` is the result of the run, or XD_E_AGAIN if
 * it was interrupted.  If it failed, err->msg is the reason. */
void trace_end(struct trace_run *r, int rc, const struct xd_error *err);

/* Records a whole run that was simulated in virtual time. */
void trace_simulation(struct trace *t, const char *name, const char *algorithm,
                      const struct xd_simulation *sim,
                      const struct xd_simulate_what *what);

/* Records a line of the log.  This is an xd_log_fn whose `user` is the struct
 * trace. */
void trace_log(void *user, enum xd_log_level level, const char *line);

/* Record where a reader of a served file starts, where it is now, and where it
 * ends.  begin() returns the number of the reader for the other two
 * functions. */
unsigned trace_reader_begin(struct trace_run *r, uint64_t at);
void trace_reader_at(struct trace_run *r, unsigned reader, uint64_t at);
void trace_reader_end(struct trace_run *r, unsigned reader, uint64_t at);

#endif
