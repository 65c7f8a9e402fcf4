/* SPDX-License-Identifier: MIT */
/*
 * libxdownload downloads a file from many servers at once.
 *
 * The servers (called depots) may each hold the whole file or only parts of it.
 * A manifest says which server holds which bytes.  It is a list of URLs, a
 * Metalink or an exNode, and it may contain hashes with which the bytes are
 * verified.
 *
 * This header includes all others:
 *
 *     Download
 *       xd_fetch()          one file in one call              <download.h>
 *       xd_download_*       with progress, pause and cancel   <download.h>
 *       xd_source_*         a file that is read while it
 *       xd_reader_*         arrives, for media players        <stream.h>
 *       xd_options_*        settings of a download            <options.h>
 *       xd_cancel_*         stop calls that wait              <options.h>
 *     What to download
 *       xd_manifest_*       which server has which bytes      <manifest.h>
 *     Verification
 *       xd_checksums_*      SHA256SUMS and similar files      <check.h>
 *       xd_check_*          verify and repair a local file    <check.h>
 *     Basics
 *       struct xd_error     error codes and messages          <error.h>
 *       xd_version()        version of the library            <version.h>
 *
 * To publish files, include <xdpublish/xdpublish.h>.
 *
 * Exit and fork:
 * - exit(), or a return from main(), cancels every download, upload and call
 *   that still runs, and waits until their threads have ended.  This usually
 *   takes less than a second, and at most five seconds.  The exit status of the
 *   program does not change.  After that, the library calls no callback of the
 *   program and starts no thread.  When the program runs again, it can resume
 *   the download.
 * - A child process of fork() has none of the library's threads.  It may
 *   release the objects that it has inherited, for example with
 *   xd_download_unref(), but must not use them otherwise.  This does not affect
 *   the connections and files of the parent.  The memory and descriptors of
 *   these objects are freed only when the child ends or calls exec().
 *
 * Signals: the threads of the library block all signals (except faults), so
 * that a signal interrupts only threads of the program.  Closed connections do
 * not raise SIGPIPE.
 *
 * libxdownload(3) and examples/fetch.c show a complete program.
 */
#ifndef XDOWNLOAD_XDOWNLOAD_H
#define XDOWNLOAD_XDOWNLOAD_H

#include <xdownload/options.h>
#include <xdownload/check.h>
#include <xdownload/download.h>
#include <xdownload/error.h>
#include <xdownload/manifest.h>
#include <xdownload/stream.h>
#include <xdownload/version.h>

#endif
