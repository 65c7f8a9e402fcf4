/* SPDX-License-Identifier: MIT */
#include "via/via.h"

#include "via/via_nginx.h"

int via_command(const struct args *a)
{
    return via_nginx(a);
}
