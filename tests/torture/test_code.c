/* SPDX-License-Identifier: MIT */
/* A coder and a decoder, when memory runs out. */
#include <xdownload/error.h>

#include "code/reed_solomon.h"
#include "suite.h"
#include "torture.h"

static int make_a_coder(void)
{
    struct xd_coder *c;
    int rc;

    torture_begin();
    rc = xd_coder_new(&c, 4, 6, NULL);
    torture_end();
    ck_assert((c == NULL) == (rc < 0));
    xd_coder_free(c);
    return rc;
}

START_TEST(a_coder_needs_memory)
{
    torture(make_a_coder);
}
END_TEST

static int make_a_decoder(void)
{
    static const unsigned present[] = {0, 3, 4, 5}, wanted[] = {1, 2};
    struct xd_coder *c;
    struct xd_decoder *d;
    int rc;

    ck_assert_int_eq(xd_coder_new(&c, 4, 6, NULL), 0);
    torture_begin();
    rc = xd_decoder_new(&d, c, present, wanted, 2, NULL);
    torture_end();
    ck_assert((d == NULL) == (rc < 0));
    xd_decoder_free(d);
    xd_coder_free(c);
    return rc;
}

START_TEST(a_decoder_needs_memory)
{
    torture(make_a_decoder);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("code");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, a_coder_needs_memory);
    tcase_add_test(t, a_decoder_needs_memory);
    return run_suite("torture.code", t);
}
