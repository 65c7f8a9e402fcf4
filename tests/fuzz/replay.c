/* SPDX-License-Identifier: MIT */
/*
 * Stands in for libFuzzer: runs the target once over each file that it is
 * given, and over each file of a folder.
 */
#include <dirent.h>
#include <errno.h>

#include "fuzz.h"

#define MOST_BYTES (1 << 20)

static unsigned n_inputs;

static void replay_file(const char *path, FILE *f)
{
    uint8_t *data = malloc(MOST_BYTES), *exact;
    size_t len;

    FUZZ_CHECK(data != NULL);
    len = fread(data, 1, MOST_BYTES, f);
    FUZZ_CHECK(!ferror(f) && len < MOST_BYTES);
    exact = malloc(len > 0 ? len : 1); /* what lies behind is not its */
    FUZZ_CHECK(exact != NULL);
    memcpy(exact, data, len);
    free(data);
    fprintf(stderr, "%s\n", path); /* the last one said has crashed */
    LLVMFuzzerTestOneInput(exact, len);
    free(exact);
    n_inputs++;
}

static bool replay_path(const char *path);

static bool replay_folder(const char *path, DIR *folder)
{
    const struct dirent *entry;
    bool is_good = true;

    while ((entry = readdir(folder)) != NULL) {
        char inside[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        is_good &= replay_path(inside);
    }
    return is_good;
}

static bool replay_path(const char *path)
{
    DIR *folder = opendir(path);
    FILE *f;

    if (folder != NULL) {
        bool is_good = replay_folder(path, folder);

        closedir(folder);
        return is_good;
    }
    f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    replay_file(path, f);
    fclose(f);
    return true;
}

int main(int argc, char **argv)
{
    bool is_good = true;

    for (int i = 1; i < argc; i++)
        is_good &= replay_path(argv[i]);
    printf("%u inputs\n", n_inputs);
    return is_good && n_inputs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
