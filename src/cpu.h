/* SPDX-License-Identifier: MIT */
/* cpu.h - on which processor a thread runs: a hint, since it may be another one at once. */
#ifndef HTW_SRC_CPU_H
#define HTW_SRC_CPU_H

#include <sched.h>
#include <stdint.h>

#if defined(__GLIBC__) && defined(__has_include) && (defined(__x86_64__) || defined(__aarch64__))
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HTW__CPU_BY_RSEQ 1
#endif
#endif

/* Where glibc has registered a struct that the kernel keeps up to date (2.35), this is a load;
   otherwise a call. Any number where the kernel does not tell. */
static inline uint32_t htw__cpu(void) {
#ifdef HTW__CPU_BY_RSEQ
    if (__builtin_expect(__rseq_size != 0, 1)) {
        const volatile struct rseq *area =
            (const void *)((const char *)__builtin_thread_pointer() + __rseq_offset);
        return area->cpu_id;
    }
#endif
    return (uint32_t)sched_getcpu();
}

#endif /* HTW_SRC_CPU_H */
