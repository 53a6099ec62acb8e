/* SPDX-License-Identifier: MIT */
/* virtual_cpus.c - CPUs that a simulation plays: threads that pass a baton. */
#include "cpus.h"

#include "cache.h"
#include "../support/access_hooks.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* A CPU runs up to so far ahead of the others, at random: then its steps and theirs interleave in all
   ways, and not one by one. */
#define AHEAD_NS 60.0

/* The same where nothing is counted: to change threads takes long. */
#define COARSELY_AHEAD_NS 20000.0

#define CODE __builtin_return_address(0)
#define STEP_NS 1.0  /* an access to memory, with the instructions around it */
#define LINE_NS 60.0 /* a cache line that changes hands */
#define YIELD_NS 400.0
#define PAUSE_NS 20.0

struct cpu {
    double now_ns, until_ns;
    bool is_parked;                    /* waits for the others, or has ended */
    bool is_idle;                      /* accesses do not count */
    uintptr_t last_line, awaited_line; /* 0: none */
    unsigned pauses;                   /* since its last access to memory */
    double paused_ns;                  /* when the first of them began */
    sem_t baton;
    pthread_t thread;
    uint64_t random;
    void (*body)(unsigned number, void *context);
    void *context;
};

static struct cpu cpus[CACHE_CPUS];
static unsigned cpu_count = 1, arrived;
static double ahead_ns = COARSELY_AHEAD_NS;
static unsigned awaiting; /* CPUs that await a change of a line */
static _Thread_local struct cpu *self;

static unsigned number_of(const struct cpu *cpu) {
    return (unsigned)(cpu - cpus);
}

void cpus_set_count(unsigned count) {
    cpu_count = count;
    cache_reset();
}

/* ---- the baton */

static double draw_ahead_ns(struct cpu *cpu) {
    cpu->random = cpu->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ahead_ns * (double)(cpu->random >> 40) / (double)(1 << 24);
}

/* The CPU that is behind most of those that can run, which may go on until it is ahead of the second.
   NULL: there is none. */
static struct cpu *find_next(void) {
    struct cpu *next = NULL, *second = NULL;
    for (struct cpu *cpu = cpus; cpu < cpus + cpu_count; cpu++) {
        if (cpu->is_parked)
            continue;
        if (next == NULL || cpu->now_ns < next->now_ns) {
            second = next;
            next = cpu;
        } else if (second == NULL || cpu->now_ns < second->now_ns) {
            second = cpu;
        }
    }
    if (next != NULL)
        next->until_ns = second == NULL ? INFINITY : second->now_ns + draw_ahead_ns(next);
    return next;
}

static void await_baton(struct cpu *cpu) {
    while (sem_wait(&cpu->baton) != 0)
        ; /* interrupted */
}

/* Lets the CPU that is behind most run, which may be this one. */
static void pass_baton(void) {
    struct cpu *me = self, *next = find_next();
    if (next == NULL || next == me)
        return;
    sem_post(&next->baton);
    await_baton(me);
}

static void let_others_catch_up(void) {
    if (self->now_ns >= self->until_ns)
        pass_baton();
}

static void spend(double ns) {
    self->now_ns += ns;
    let_others_catch_up();
}

/* ---- the hooks */

/* This CPU has changed a line: those that await that go on. */
static void end_waits(uintptr_t line) {
    for (struct cpu *cpu = cpus; cpu < cpus + cpu_count; cpu++) {
        if (cpu->awaited_line != line)
            continue;
        awaiting--;
        cpu->awaited_line = 0;
        cpu->is_parked = false;
        if (cpu->now_ns < self->now_ns)
            cpu->now_ns = self->now_ns;
        self->until_ns = self->now_ns;
    }
}

static void access_memory(const volatile void *memory, size_t size, bool is_write,
                          const void *code) {
    if (self == NULL || self->is_idle)
        return;
    let_others_catch_up(); /* before, since the access itself follows at once when this returns */
    unsigned moved = cache_access(number_of(self), memory, size, is_write, code);
    self->last_line = (uintptr_t)memory / CACHE_LINE;
    self->pauses = 0;
    if (is_write && awaiting > 0)
        end_waits(self->last_line);
    self->now_ns += STEP_NS + moved * LINE_NS;
}

void hook_read(const volatile void *memory, size_t size, const void *code) {
    access_memory(memory, size, false, code);
}

void hook_write(const volatile void *memory, size_t size, const void *code) {
    access_memory(memory, size, true, code);
}

void hook_prefetch(const void *memory) {
    access_memory(memory, 1, true, CODE);
}

/* Atomic operations are sequentially consistent: only one CPU runs at a time. Loads read, and all others write, also
   a compare-and-swap that fails. */

uint64_t hook_load(const volatile void *word, size_t size, int order, const void *code) {
    (void)order;
    access_memory(word, size, false, code);
    return access_word(word, size);
}

uint64_t hook_store(const volatile void *word, size_t size, uint64_t value, int order,
                    const void *code) {
    (void)order;
    access_memory(word, size, true, code);
    return value;
}

uint64_t hook_begin_change(const volatile void *word, size_t size, int order,
                           const uint64_t *expected, const void *code) {
    (void)order, (void)expected;
    access_memory(word, size, true, code);
    return access_word(word, size);
}

uint64_t hook_end_change(const volatile void *word, size_t size, uint64_t value, int order,
                         const void *code) {
    (void)word, (void)size, (void)order, (void)code;
    return value;
}

void hook_end_unchanged(const volatile void *word, size_t size, int order, const void *code) {
    (void)word, (void)size, (void)order, (void)code;
}

void hook_fence(int order, const void *code) {
    (void)order, (void)code;
}

/* ---- running */

/* Parks the CPU until all are here; `last` is called by the last one. */
static void meet(void (*last)(void)) {
    if (++arrived < cpu_count) {
        self->is_parked = true;
        pass_baton();
        return;
    }
    arrived = 0;
    for (unsigned i = 0; i < cpu_count; i++) {
        if (cpus[i].now_ns > self->now_ns)
            self->now_ns = cpus[i].now_ns;
        cpus[i].is_parked = false;
    }
    last();
    for (unsigned i = 0; i < cpu_count; i++)
        cpus[i].now_ns = self->now_ns;
    self->until_ns = 0;
}

static void begin(void) {
    ahead_ns = AHEAD_NS;
    cache_log(true);
}

static void end(void) {
    ahead_ns = COARSELY_AHEAD_NS;
    cache_log(false);
}

void cpus_begin(void) {
    meet(begin);
}

void cpus_end(void) {
    meet(end);
}

void cpus_yield(void) {
    spend(YIELD_NS);
}

void cpus_skip(bool on) {
    self->is_idle = on;
}

void cpus_touch(const void *memory, size_t size, bool is_write) {
    access_memory(memory, size, is_write, NULL);
}

static void *play(void *argument) {
    self = argument;
    await_baton(self);
    self->body(number_of(self), self->context);
    self->is_parked = true;
    struct cpu *next = find_next();
    if (next != NULL)
        sem_post(&next->baton);
    return NULL;
}

/* One processor for all threads: only one of them runs anyway, and passing the baton is cheaper. */
static void tie_to_one_processor(cpu_set_t *ret_before) {
    cpu_set_t one;
    unsigned processor = 0;
    sched_getaffinity(0, sizeof(*ret_before), ret_before);
    syscall(SYS_getcpu, &processor, NULL, NULL);
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

void cpus_run(uint64_t seed, void (*body)(unsigned number, void *context), void *context) {
    cpu_set_t before;
    tie_to_one_processor(&before);
    for (unsigned i = 0; i < cpu_count; i++) {
        cpus[i] = (struct cpu) { .random = seed + i, .body = body, .context = context };
        sem_init(&cpus[i].baton, 0, 0);
        if (pthread_create(&cpus[i].thread, NULL, play, &cpus[i]) != 0)
            abort();
    }
    sem_post(&cpus[0].baton);
    for (unsigned i = 0; i < cpu_count; i++) {
        pthread_join(cpus[i].thread, NULL);
        sem_destroy(&cpus[i].baton);
    }
    sched_setaffinity(0, sizeof(before), &before);
}

/* ---- the seam: what the library calls. The names are those of the linker's --wrap. */

int sched_getcpu(void) {
    return self == NULL ? 0 : (int)number_of(self);
}

long __real_sysconf(int name);
long __wrap_sysconf(int name) {
    return name == _SC_NPROCESSORS_ONLN ? (long)cpu_count : __real_sysconf(name);
}

int __wrap_sched_yield(void) {
    if (self != NULL)
        spend(YIELD_NS);
    return 0;
}

int __wrap_nanosleep(const struct timespec *duration, struct timespec *left) {
    (void)left;
    if (self != NULL)
        spend((double)duration->tv_nsec);
    return 0;
}

/* The CPU has just read a lock that is held, and would read it again until its line changes. If it makes
   several pauses before it reads it again, it sees the change after the last of them. */
void hook_pause(void) {
    if (self == NULL || self->is_idle)
        return;
    if (self->pauses++ > 0) {
        double end_ns = self->paused_ns + self->pauses * PAUSE_NS;
        if (self->now_ns < end_ns)
            spend(end_ns - self->now_ns);
        return;
    }
    self->paused_ns = self->now_ns;
    awaiting++;
    self->awaited_line = self->last_line;
    self->is_parked = true;
    pass_baton();
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    do
        access_memory(mutex, sizeof(*mutex), true, CODE);
    while (pthread_mutex_trylock(mutex) != 0);
    return 0;
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    access_memory(mutex, sizeof(*mutex), true, CODE);
    return __real_pthread_mutex_unlock(mutex);
}

/* The same keys are in the same shards in each run. */
uint64_t __wrap_htw__random_seed(const void *owner) {
    (void)owner;
    return 1;
}
