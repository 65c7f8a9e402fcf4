/* SPDX-License-Identifier: MIT */
/* A target with a bug in it, to see that the fuzzer would find one. */
#define XD_FUZZ_PLANTED
#include "fuzz_http_answer.c"
