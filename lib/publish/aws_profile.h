/* SPDX-License-Identifier: MIT */
/*
 * A profile in the files that Amazon's own programs share: "Configuration and
 * credential file settings" in the user guide of the AWS CLI.
 *
 *     ~/.aws/credentials          ~/.aws/config
 *     [default]                   [default]
 *     aws_access_key_id = ...     region = eu-central-1
 *     [work]                      [profile work]
 *
 * Of the settings those are read that S3 needs; nested ones, which are indented,
 * are none of them.  Pure.
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
    XD_AWS_ELSEWHERE, /* its credentials are: in a role, a program or a single
                         sign-on, which are not supported; this is which */
    XD_AWS_N_SETTINGS
};

/* Spans of the text that was read; those without bytes were not set. */
struct xd_aws_profile {
    bool is_there;
    struct xd_span settings[XD_AWS_N_SETTINGS];
};

/* What `text` says of a profile.  Sections of a config file are called
 * "profile NAME", but for "default".  Of a setting that stands there twice the last
 * counts. */
void xd_aws_profile_read(struct xd_aws_profile *out, struct xd_span text,
                         const char *name, bool is_config);

#endif
