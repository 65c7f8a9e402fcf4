/*
 * What the command of the tests has more than the real one: the defence that
 * XD_WITHOUT names is off.  A name that is none of a defence is a mistake of
 * the test, which finds the defence not missed.
 */
#include "os/defence.h"

#include <stdlib.h>
#include <string.h>

bool xd_defends(const char *name)
{
    const char *without = getenv("XD_WITHOUT");

    return without == NULL || strcmp(without, name) != 0;
}
