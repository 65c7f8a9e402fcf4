/* SPDX-License-Identifier: MIT */
/*
 * Reads a profile from the configuration files of Amazon's own tools.  Their
 * format is described in "Configuration and credential file settings" in the
 * AWS CLI user guide.
 *
 *     ~/.aws/credentials          ~/.aws/config
 *     [default]                   [default]
 *     aws_access_key_id = ...     region = eu-central-1
 *     [work]                      [profile work]
 *
 * Only the settings that S3 needs are read.  Nested settings, which are
 * indented, are ignored.  Pure.
 */
#ifndef XD_PUBLISH_AWS_PROFILE_H
#define XD_PUBLISH_AWS_PROFILE_H

#include <stdbool.h>

#include "base/span.h"

enum xd_aws_setting {
    XD_AWS_ACCESS_KEY,
    XD_AWS_SECRET_KEY,
    XD_AWS_SESSION_TOKEN,
    XD_AWS_REGION,
    XD_AWS_ENDPOINT,
    /* Name of a setting that gets credentials from a role, a program or single
     * sign-on.  These are not supported. */
    XD_AWS_ELSEWHERE,
    XD_AWS_N_SETTINGS
};

/* Spans of the text that was read.  Empty: not set. */
struct xd_aws_profile {
    bool is_there;
    struct xd_span settings[XD_AWS_N_SETTINGS];
};

/* Reads the profile `name` from `text`.  In a config file, sections are called
 * "profile NAME", except "default".  If a setting occurs twice, the last one
 * counts. */
void xd_aws_profile_read(struct xd_aws_profile *out, struct xd_span text,
                         const char *name, bool is_config);

#endif
