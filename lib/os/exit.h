/* SPDX-License-Identifier: MIT */
/*
 * Clean-up when the process exits or forks.
 *
 * exit() runs handlers that free the data of OpenSSL and of other libraries.
 * A thread that still uses them would crash.  So an exit handler of this
 * library, which runs before theirs, cancels everything and joins the threads.
 *
 * A child of fork() inherits objects but no threads, and a lock may be held by
 * a thread that the child does not have.  So the child forgets the threads, and
 * the functions that free such an object leave it alone.
 *
 * Lock order: the lock of the hooks, then the locks of the objects that are
 * canceled, then the lock of the threads, which is a leaf.
 */
#ifndef XD_OS_EXIT_H
#define XD_OS_EXIT_H

#include <stdbool.h>

struct xd_cancel_hook;
struct xd_thread;

/* Registers the handlers for exit() and fork(), once.  Call it after the
 * libraries whose data the threads use are initialized, because exit handlers
 * run in the reverse order. */
void xd_exit_prepare(void);

/* Returns true once exit() has begun.  Callbacks of the program are not called
 * any more, because the data that they use may be gone. */
bool xd_exit_has_begun(void);

/* Runs the hook when exit() begins; at once if it has begun.  After remove()
 * returns, the hook is not running. */
void xd_exit_add(struct xd_cancel_hook *hook);
void xd_exit_remove(struct xd_cancel_hook *hook);

/* Used by thread.c.  add() returns false once exit() has begun, because no
 * thread may start any more.  leave() is the last call of a thread.  join()
 * waits for a thread to leave, and joins it. */
bool xd_exit_add_thread(struct xd_thread *t);
void xd_exit_remove_thread(struct xd_thread *t);
void xd_exit_leave_thread(struct xd_thread *t);
void xd_exit_join_thread(struct xd_thread *t);

/* Identifies the process, so that the child of a fork() recognizes objects of
 * its parent. */
long xd_exit_process(void);

#endif
