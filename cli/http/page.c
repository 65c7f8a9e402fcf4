/* SPDX-License-Identifier: MIT */
#include "http/page.h"

void page_begin(FILE *to, const char *title)
{
    fprintf(to,
            "<!DOCTYPE html>\n"
            "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, "
            "initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<title>%s</title>\n",
            title);
}
