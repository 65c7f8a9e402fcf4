/* SPDX-License-Identifier: MIT */
/*
 * What the command of the tests has more than the real one: the defences that
 * XD_WITHOUT names, by commas, are off.  A name that is none of a defence is a mistake of
 * the test, which finds the defence not missed.
 */
#include "base/defence.h"

#include <stdlib.h>
#include <string.h>

bool xd_defends(const char *name)
{
    const char *without = getenv("XD_WITHOUT");
    size_t len = strlen(name);

    while (without != NULL) {
        if (strncmp(without, name, len) == 0 &&
            (without[len] == ',' || without[len] == '\0'))
            return false;
        without = strchr(without, ',');
        if (without != NULL)
            without++;
    }
    return true;
}
