/* SPDX-License-Identifier: MIT */
/* A ledger against an array, at the beginning or the end of all bytes. */
#include "fuzz.h"
#include "unit/ledger/model.h"

static void step(struct model *m, struct xd_ledger *l, struct fuzz_input *in)
{
    unsigned kind = fuzz_below(in, MODEL_TRANSITIONS);
    unsigned depot = model_origin(fuzz_below(in, MODEL_DEPOTS));
    unsigned begin = fuzz_below(in, MODEL_BYTES);
    unsigned end = begin + fuzz_below(in, MODEL_BYTES + 1 - begin);
    unsigned why = fuzz_below(in, XD_N_DISCARD_REASONS);

    FUZZ_CHECK(model_change(m, l, kind, begin, end, depot,
                            (enum xd_discard_reason)why) == 0);
    FUZZ_CHECK(model_agrees(m, l, fuzz_byte(in), depot, begin, end));
    FUZZ_CHECK(model_agrees_on_discards(m, l));
    FUZZ_CHECK(model_has_whole_runs(m, l));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    struct xd_ledger l = {0};
    struct model m;

    model_init(&m, fuzz_below(&in, 2) ? UINT64_MAX - MODEL_BYTES : 0);
    while (!fuzz_is_over(&in))
        step(&m, &l, &in);
    xd_ledger_fini(&l);
    return 0;
}
