/* SPDX-License-Identifier: MIT */
/*
 * libxdownload: download files that are kept in many copies on many depots.
 *
 *   xd_fetch()       one call, one file                       <download.h>
 *   xd_download_*    the same with progress, cancel, records  <download.h>
 *   xd_source_*      a file that is read while it arrives     <stream.h>
 *   xd_reader_*      a position in it                         <stream.h>
 *   xd_simulate()    the same in virtual time                 <simulate.h>
 *   xd_playback_*    what a player would have had of it       <playback.h>
 *   xd_manifest_*    what to fetch and where copies lie       <manifest.h>
 *   xd_checksums_*   checksums beside a manifest              <checksums.h>
 *   xd_manifest_sign()  that a key has signed the file       <signature.h>
 *   xd_inspect()     what a URL leads to                      <inspect.h>
 *   xd_audit_*       whether depots still hold what it says    <audit.h>
 *   xd_manifest_make()  one for copies that exist already     <make.h>
 *   xd_probe_*       how long what depots hold of it lives    <probe.h>
 *   xd_check_*       whether a file is the right one          <check.h>
 *   xd_upload_*      placing copies on stores                 <upload.h>
 *   xd_replicas_*    dropping and renewing them               <upkeep.h>
 *   xd_mesh_*        caches that many clients share           <mesh.h>
 *   xd_circus_*      what a server best sends to many clients  <circus.h>
 *   xd_cancel_*      ending what waits for the network        <cancel.h>
 *   xd_options       how                                      <options.h>
 *   xd_error         what went wrong                          <error.h>
 *   xd_version()     which library this is                    <version.h>
 */
#ifndef XDOWNLOAD_XDOWNLOAD_H
#define XDOWNLOAD_XDOWNLOAD_H

#include <xdownload/audit.h>
#include <xdownload/cancel.h>
#include <xdownload/check.h>
#include <xdownload/checksums.h>
#include <xdownload/circus.h>
#include <xdownload/download.h>
#include <xdownload/error.h>
#include <xdownload/inspect.h>
#include <xdownload/list.h>
#include <xdownload/make.h>
#include <xdownload/manifest.h>
#include <xdownload/mesh.h>
#include <xdownload/options.h>
#include <xdownload/playback.h>
#include <xdownload/probe.h>
#include <xdownload/signature.h>
#include <xdownload/simulate.h>
#include <xdownload/stream.h>
#include <xdownload/upload.h>
#include <xdownload/upkeep.h>
#include <xdownload/version.h>

#endif
