/* SPDX-License-Identifier: MIT */
/* Opens a URL that does not answer, or fetches it: open|fetch URL OUT.  SIGINT
 * ends that. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <xdownload/xdownload.h>

static struct xd_cancel *cancel;

static void on_signal(int sig)
{
    (void)sig;
    xd_cancel_trigger(cancel);
}

int main(int argc, char **argv)
{
    struct sigaction act = {.sa_handler = on_signal};
    struct xd_options *o = NULL;
    struct xd_manifest *m = NULL;
    struct xd_error err = {.code = XD_OK};
    int rc = 0;
    const char *const urls[] = {argv[2]};

    if (argc != 4 || xd_options_new(&o, &err) < 0 ||
        xd_cancel_new(&cancel, &err) < 0)
        return 1;
    xd_options_set_cancel(o, cancel);
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    puts("ready");
    fflush(stdout);
    if (strcmp(argv[1], "open") == 0) {
        rc = xd_manifest_open(&m, urls, 1, o, &err);
    } else {
        struct xd_download *d;
        if (xd_manifest_from_urls(&m, urls, 1, XD_SIZE_UNKNOWN, &err) == 0 &&
            xd_download_new(&d, m, 0, NULL, argv[3], o, &err) == 0) {
            if (xd_download_start(d, &err) == 0)
                rc = xd_download_wait(d, -1, &err);
            xd_download_unref(d);
        }
    }
    printf("%s\n", xd_code_name(rc));
    xd_manifest_unref(m);
    xd_options_free(o);
    xd_cancel_free(cancel);
    return 0;
}
