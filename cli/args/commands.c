/* SPDX-License-Identifier: MIT */
#include "args/commands.h"

#include <string.h>

#include "common/nearest.h"

#define NOTHING "no manifest and no URL is given"

/* In the order in which the manual and the help list them. */
static const struct command_row rows[] = {
    {COMMAND_GET, "get", NOTHING, NULL, "download",
     "download files from several servers at once",
     "  xdownload fedora.meta4\n"
     "  xdownload https://a.example/d.iso https://b.example/d.iso\n"
     "  xdownload --checksum https://a.example/SHA256SUMS "
     "https://a.example/d.iso\n"
     "  xdownload -c https://a.example/d.iso\n"
     "  xdownload -i list.txt\n"
     "  xdownload -q -o - film.xnd | mpv -\n",
     "  xdownload [OPTION...] URL...         copies of one file\n"
     "  xdownload [OPTION...] MANIFEST...    a Metalink, an exNode or a list "
     "of URLs\n"
     "  xdownload [OPTION...] -i LIST        different files, one per line\n"},
    {COMMAND_VERIFY, "verify", NOTHING, NULL, "download",
     "verify a file, and download again what is wrong",
     "  xdownload verify fedora.meta4 fedora.iso\n"
     "  xdownload verify --repair fedora.meta4 fedora.iso\n",
     "  xdownload verify [OPTION...] MANIFEST-OR-URL FILE [--repair]\n"},
    {COMMAND_SHOW, "show", "show needs a manifest", "one manifest", "download",
     "print or convert a manifest",
     "  xdownload show fedora.meta4\n"
     "  xdownload show --json data.xnd\n"
     "  xdownload show --probe data.xnd\n"
     "  xdownload show --format exnode -o data.xnd data.meta4\n",
     "  xdownload show MANIFEST-OR-URL [-v] [--probe] [--json]\n"
     "  xdownload show MANIFEST-OR-URL --format FORMAT [-o FILE]\n"},
    {COMMAND_PLAY, "play", NOTHING, NULL, "play",
     "play films and music while they arrive",
     "  xdownload play film.xnd\n"
     "  xdownload play --player vlc film.xnd -- --play-and-exit\n"
     "  xdownload play --browser film.xnd\n"
     "  xdownload play --simulate --rate 15Mbit/s film.xnd\n",
     "  xdownload play [OPTION...] MANIFEST-OR-URL... [-- PLAYER-ARGUMENT...]\n"
     "  xdownload play --browser [OPTION...] MANIFEST-OR-URL...\n"
     "  xdownload play --simulate --rate RATE [OPTION...] "
     "MANIFEST-OR-URL...\n"},
    {COMMAND_SERVE, "serve", NOTHING, NULL, "play",
     "make files available at local URLs while they arrive",
     "  xdownload serve film.xnd\n"
     "  xdownload serve --keep film.mkv film.xnd\n"
     "  xdownload serve --listen 0.0.0.0:8080 --token correct-horse film.xnd\n",
     "  xdownload serve [OPTION...] MANIFEST-OR-URL...\n"},
    {COMMAND_MAKE, "make",
     "make needs the URLs of the copies: xdownload make FILE URL... -o "
     "FILE.xnd",
     NULL, "publish", "write a manifest for copies that exist already",
     "  xdownload make film.mkv https://a.example/film.mkv -o film.xnd\n"
     "  xdownload make https://a.example/d.iso https://b.example/d.iso -o "
     "d.meta4\n",
     "  xdownload make [OPTION...] FILE URL... -o MANIFEST\n"
     "  xdownload make [OPTION...] URL... -o MANIFEST    reads the copies "
     "themselves\n"},
    {COMMAND_PUT, "put", "put needs a file: xdownload put FILE --to URL...",
     "one file", "publish", "upload copies of a file, and write its manifest",
     "  xdownload put film.mkv --to https://a.example/dav/ --to "
     "https://b.example/dav/\n"
     "  xdownload put film.mkv --stripe --copies 2 --to s3://bucket/films "
     "--to ibp://depot.example:6714 --to https://a.example/dav/ -o film.xnd\n",
     "  xdownload put [OPTION...] FILE --to URL... [--copies N] [--stripe] "
     "[-o MANIFEST]\n"
     "  xdownload put [OPTION...] FILE --to URL... --code K+M "
     "[-o MANIFEST]\n"},
    {COMMAND_ADD, "add", NOTHING, "one manifest", "publish",
     "upload more copies of a file",
     "  xdownload add film.mkv.xnd --to https://c.example/dav/\n",
     "  xdownload add [OPTION...] MANIFEST --to URL... [--copies N] "
     "[--stripe]\n"
     "  xdownload add [OPTION...] MANIFEST --to URL... --parity K+M\n"},
    {COMMAND_DROP, "drop", NOTHING, "one manifest", "publish",
     "delete the copies on one server",
     "  xdownload drop film.xnd --from https://a.example/dav/\n"
     "  xdownload drop film.xnd --from a.example --keep-objects\n",
     "  xdownload drop [OPTION...] MANIFEST --from HOST|URL "
     "[--keep-objects]\n"},
    {COMMAND_RENEW, "renew", NOTHING, "one manifest", "publish",
     "extend the lifetime of copies that would expire",
     "  xdownload renew film.xnd --for 30d\n"
     "  xdownload renew film.xnd --for 7d --to s3://bucket/films\n",
     "  xdownload renew [OPTION...] MANIFEST --for TIME [--to URL...]\n"},
    {COMMAND_CHECK, "check", NOTHING, "one manifest", "publish",
     "check the copies, and replace bad ones",
     "  xdownload check film.xnd\n"
     "  xdownload check --full film.xnd\n"
     "  xdownload check --json https://a.example/d.iso "
     "https://b.example/d.iso\n",
     "  xdownload check [OPTION...] MANIFEST-OR-URL... [--full] [--json]\n"},
    {COMMAND_DEPOT, "depot", "depot needs a folder: xdownload depot DIR",
     "one folder", "publish", "serve a folder to many clients",
     "  xdownload depot /srv/images\n"
     "  xdownload depot --listen 0.0.0.0:8080 --token correct-horse "
     "/srv/images\n",
     "  xdownload depot [OPTION...] DIR\n"},
    {COMMAND_VIA, "via",
     "via needs --nginx and nodes, or --check, a list of nodes and a URL", NULL,
     "publish", "set up and test caches that many clients share",
     "  xdownload via --nginx a=10.0.0.1:8080 b=10.0.0.2:8080 "
     "--origin https://a.example/ -o mesh\n"
     "  xdownload via --check mesh/NODES https://a.example/d.iso\n",
     "  xdownload via --nginx [ID=]HOST:PORT... --origin URL... [--chunk SIZE] "
     "[--hops N] -o DIR\n"
     "  xdownload via --check NODES URL [--json]\n"},
    {COMMAND_BENCH, "bench", NULL, NULL, "measure",
     "compare settings and servers",
     "  xdownload bench -o r.csv -t 1,2,4 --depots drop-one fedora.meta4\n"
     "  xdownload bench --summarize r.csv\n"
     "  xdownload bench --plot figures r.csv\n"
     "  xdownload bench --virtual paper-tennessee -a basic,adaptive\n",
     "  xdownload bench [OPTION...] [-o RESULTS] MANIFEST-OR-URL\n"
     "  xdownload bench [OPTION...] [-o RESULTS] --virtual SCENARIO...\n"
     "  xdownload bench --summarize RESULTS...\n"
     "  xdownload bench --plot DIR RESULTS...\n"},
    {COMMAND_TRACE, "trace", "trace takes one file, which --trace has written",
     "one file, which --trace has written", "measure",
     "show what happened during a download",
     "  xdownload --trace t.json fedora.meta4\n"
     "  xdownload trace t.json > t.svg\n"
     "  xdownload trace --summary t.json\n"
     "  xdownload trace --scenario net.scn t.json\n",
     "  xdownload trace [--summary | --scenario FILE] [--run N] [-o FILE] "
     "TRACE\n"},
};

#define N_ROWS (sizeof rows / sizeof *rows)

const struct command_row *commands_at(size_t i)
{
    return i < N_ROWS ? &rows[i] : NULL;
}

const struct command_row *commands_row(enum command command)
{
    size_t i = 0;

    while (i < N_ROWS - 1 && rows[i].command != command)
        i++;
    return &rows[i];
}

const struct command_row *commands_named(const char *word)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].name, word) == 0)
            return &rows[i];
    return NULL;
}

const char *commands_nearest(const char *word)
{
    struct nearest nearest;

    nearest_init(&nearest, word, strlen(word));
    for (size_t i = 0; i < N_ROWS; i++)
        nearest_consider(&nearest, rows[i].name);
    return nearest.name;
}
