/* SPDX-License-Identifier: MIT */
/*
 * seam.h - is included before each source file of the library that ./dev coherence compiles.
 * What the compiler would turn into instructions becomes calls that the simulation sees.
 */
#ifndef TESTS_COHERENCE_SEAM_H
#define TESTS_COHERENCE_SEAM_H

/* A step of a spin lock's wait. */
void coherence_pause(void);
#define __builtin_ia32_pause coherence_pause

/* A line is fetched to be written to. */
void coherence_prefetch(const void *address);
#define HTW__PREFETCH(address) coherence_prefetch(address)

#endif /* TESTS_COHERENCE_SEAM_H */
