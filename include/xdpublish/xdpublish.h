/* SPDX-License-Identifier: MIT */
/*
 * Publish files: put copies of a file on servers, and look after the copies.
 *
 * This header includes all others:
 *
 *       xd_upload_*         put copies of a file on servers,
 *                           and replace bad copies            <upload.h>
 *       xd_replicas_*       remove or renew copies            <upkeep.h>
 *       xd_manifest_make()  a manifest of existing copies     <make.h>
 *       xd_audit_*          test every copy of a file         <audit.h>
 *       xd_manifest_stripe()  the parity of a file            <parity.h>
 *       xd_probe_*          when copies on IBP depots expire  <probe.h>
 *
 * The functions are in libxdownload.  To download a file, a program does not
 * need this header: see <xdownload/xdownload.h>.
 */
#ifndef XDPUBLISH_XDPUBLISH_H
#define XDPUBLISH_XDPUBLISH_H

#include <xdpublish/audit.h>
#include <xdpublish/make.h>
#include <xdpublish/parity.h>
#include <xdpublish/probe.h>
#include <xdpublish/upkeep.h>
#include <xdpublish/upload.h>

#endif
