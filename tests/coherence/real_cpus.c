/* SPDX-License-Identifier: MIT */
/* real_cpus.c - the CPUs of this machine: what a workload takes there, beside what the simulation says. */
#include "cpus.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define CPUS_MAX 64u

static unsigned cpu_count = 1;
static unsigned processors[CPUS_MAX];
static pthread_barrier_t all_here;
static double begun_ns, ended_ns;
static struct {
    void (*body)(unsigned number, void *context);
    void *context;
} work;

unsigned cpus_available(void) {
    cpu_set_t set;
    unsigned count = 0;
    sched_getaffinity(0, sizeof(set), &set);
    for (unsigned i = 0; i < CPU_SETSIZE && count < CPUS_MAX; i++)
        if (CPU_ISSET(i, &set))
            processors[count++] = i;
    return count;
}

void cpus_set_count(unsigned count) {
    cpu_count = count;
}

void cpus_set_prices(struct cpus_prices prices) {
    (void)prices;
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void cpus_begin(void) {
    if (pthread_barrier_wait(&all_here) == PTHREAD_BARRIER_SERIAL_THREAD)
        begun_ns = now_ns();
    pthread_barrier_wait(&all_here);
}

void cpus_end(void) {
    if (pthread_barrier_wait(&all_here) == PTHREAD_BARRIER_SERIAL_THREAD)
        ended_ns = now_ns();
    pthread_barrier_wait(&all_here);
}

void cpus_yield(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void cpus_skip(bool on) {
    (void)on;
}

void cpus_touch(const void *memory, size_t size, bool is_write) {
    (void)memory, (void)size, (void)is_write;
}

static void *play(void *argument) {
    unsigned number = (unsigned)(size_t)argument;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors[number], &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    work.body(number, work.context);
    return NULL;
}

double cpus_run(uint64_t seed, void (*body)(unsigned number, void *context), void *context) {
    pthread_t threads[CPUS_MAX];
    (void)seed;
    work.body = body;
    work.context = context;
    pthread_barrier_init(&all_here, NULL, cpu_count);
    for (unsigned i = 0; i < cpu_count; i++)
        if (pthread_create(&threads[i], NULL, play, (void *)(size_t)i) != 0)
            abort();
    for (unsigned i = 0; i < cpu_count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_here);
    return ended_ns - begun_ns;
}

const void *cpus_caller(void) {
    return NULL;
}
