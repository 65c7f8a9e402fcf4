/* SPDX-License-Identifier: MIT */
/* A program of somebody else, built against what was installed. */
#include <stdio.h>
#include <xdownload/xdownload.h>

int main(void)
{
    struct xd_option_info info = {.struct_size = sizeof info};

    printf("%s\n", xd_version());
    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        printf("%s\n", info.name);
    return 0;
}
