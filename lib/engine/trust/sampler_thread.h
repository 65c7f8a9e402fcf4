/* SPDX-License-Identifier: MIT */
/*
 * The thread that asks for samples: of sampler.c, and where the
 * validators of one depot differ.
 */
#ifndef XD_ENGINE_SAMPLER_THREAD_H
#define XD_ENGINE_SAMPLER_THREAD_H

/* The thread's function; `engine` outlives it. */
void *xd_sampler_main(void *engine);

#endif
