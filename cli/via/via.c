/* SPDX-License-Identifier: MIT */
#include "via/via.h"

#include "via/via_check.h"
#include "via/via_nginx.h"

int via_command(const struct args *a)
{
    return a->via.writes ? via_nginx(a) : via_check_nodes(a);
}
