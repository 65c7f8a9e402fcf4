/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include <check.h>
#include <curl/curl.h>
#include <libxml/parser.h>
#include <openssl/evp.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "os/thread.h"
#include "xdownload/error.h"

/* Those of the scenario that runs; any thread may wish. */
static atomic_bool is_armed, was_refused;
static atomic_uint n_wishes;
static atomic_long n_blocks; /* of memory, alive */
static unsigned refused_wish;
static bool refuses_all_later;
static const char *refused_name; /* of the first */

bool torture_refuses(const char *name)
{
    unsigned wish;

    if (!atomic_load(&is_armed))
        return false;
    wish = atomic_fetch_add(&n_wishes, 1) + 1;
    if (wish != refused_wish && !(refuses_all_later && wish > refused_wish))
        return false;
    if (!atomic_exchange(&was_refused, true))
        refused_name = name;
    return true;
}

void torture_begin(void)
{
    atomic_store(&is_armed, true);
}

void torture_end(void)
{
    atomic_store(&is_armed, false);
}

/* False when the wish was never made. */
static bool torture_once(torture_fn *scenario, bool may_survive)
{
    long blocks = atomic_load(&n_blocks);
    int rc;

    atomic_store(&n_wishes, 0);
    atomic_store(&was_refused, false);
    refused_name = "none";
    rc = scenario();
    torture_end();
    ck_assert_msg(atomic_load(&n_blocks) == blocks,
                  "%ld blocks are left behind after refusing wish %u, %s%s",
                  atomic_load(&n_blocks) - blocks, refused_wish, refused_name,
                  refuses_all_later ? ", and all later ones" : "");
    if (!atomic_load(&was_refused)) {
        ck_assert_msg(rc == 0, "%d though nothing was refused", rc);
        return false;
    }
    ck_assert_msg(rc == XD_E_NOMEM || (rc == 0 && may_survive),
                  "%d after refusing wish %u, %s%s", rc, refused_wish,
                  refused_name,
                  refuses_all_later ? ", and all later ones" : "");
    return true;
}

static void torture_all(torture_fn *scenario, bool may_survive)
{
    for (int all_later = 0; all_later < 2; all_later++) {
        refuses_all_later = all_later;
        refused_wish = 1;
        while (torture_once(scenario, may_survive))
            refused_wish++;
        ck_assert_uint_gt(refused_wish, 1); /* something was refused */
    }
}

void torture(torture_fn *scenario)
{
    torture_all(scenario, false);
}

void torture_survivor(torture_fn *scenario)
{
    torture_all(scenario, true);
}

#define WRAP_BLOCK(name, parameters, arguments, is_new) \
    void *__real_##name parameters;                     \
    void *__wrap_##name parameters;                     \
    void *__wrap_##name parameters                      \
    {                                                   \
        void *block = NULL;                             \
                                                        \
        if (!torture_refuses(#name))                    \
            block = __real_##name arguments;            \
        if (block != NULL && (is_new))                  \
            atomic_fetch_add(&n_blocks, 1);             \
        return block;                                   \
    }

WRAP_BLOCK(xd_alloc, (size_t n, size_t size), (n, size), true)
WRAP_BLOCK(xd_realloc, (void *p, size_t n, size_t size), (p, n, size),
           p == NULL)
WRAP_BLOCK(xd_strdup, (const char *s), (s), true)
WRAP_BLOCK(xd_strndup, (const char *s, size_t len), (s, len), true)

void __real_xd_free(void *p);
void __wrap_xd_free(void *p);
void __wrap_xd_free(void *p)
{
    if (p != NULL)
        atomic_fetch_sub(&n_blocks, 1);
    __real_xd_free(p);
}

WRAP(int, xd_mutex_init, (struct xd_mutex * m), (m), XD_E_NOMEM)
WRAP(int, xd_cond_init, (struct xd_cond * c), (c), XD_E_NOMEM)
WRAP(int, xd_thread_start,
     (struct xd_thread * t, void *(*main)(void *), void *arg), (t, main, arg),
     XD_E_NOMEM)

/* Disks are slow, and what they keep is other tests' business. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
    (void)fd;
    return 0;
}

WRAP(CURL *, curl_easy_init, (void), (), NULL)
WRAP(CURLM *, curl_multi_init, (void), (), NULL)
WRAP(CURLMcode, curl_multi_add_handle, (CURLM * m, CURL *easy), (m, easy),
     CURLM_OUT_OF_MEMORY)
WRAP(struct curl_slist *, curl_slist_append,
     (struct curl_slist * list, const char *s), (list, s), NULL)
WRAP(xmlParserCtxtPtr, xmlCreateMemoryParserCtxt, (const char *text, int len),
     (text, len), NULL)
WRAP(EVP_MD_CTX *, EVP_MD_CTX_new, (void), (), NULL)
