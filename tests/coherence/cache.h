/* SPDX-License-Identifier: MIT */
/*
 * cache.h - the private caches of up to 64 CPUs, infinitely large, with lines of 64 bytes. A line is in
 * any number of them unchanged, or in one of them changed (MESI; a line that no other has is written
 * without a word to others).
 *
 * A line CHANGES HANDS when a CPU reads or writes one that it does not have and another one has, or
 * writes one that others have, too. A line that no CPU has had yet comes from memory, which does
 * not count.
 *
 * Lines that change hands are logged while the log is on: by which code.
 */
#ifndef TESTS_COHERENCE_CACHE_H
#define TESTS_COHERENCE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_CPUS 64u
#define CACHE_LINE 64u

struct cache_event {
    uintptr_t code;
    bool is_write;
};

/* Empties all caches and the log. */
void cache_reset(void);

/* `cpu` reads or writes these bytes, at an address in the code. Returns how many lines change hands. */
unsigned cache_access(unsigned cpu, const volatile void *memory, size_t size, bool is_write,
                      const void *code);

/* Switches the log. It is empty when it is switched on. */
void cache_log(bool on);

const struct cache_event *cache_events(size_t *ret_count);

#endif /* TESTS_COHERENCE_CACHE_H */
