/* SPDX-License-Identifier: MIT */
/*
 * The thread that requests samples, for sampler.c and for validator_check.c.
 */
#ifndef XD_ENGINE_SAMPLER_THREAD_H
#define XD_ENGINE_SAMPLER_THREAD_H

/* The function of the thread; `engine` outlives it. */
void *xd_sampler_main(void *engine);

#endif
