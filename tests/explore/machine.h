/* SPDX-License-Identifier: MIT */
/*
 * machine.h - a machine for one schedule of a scene: threads of which one runs at a time, their choices,
 * and a time that passes when all of them wait.
 *
 * A schedule is told by its deviations from the one in which each thread runs until it waits and the next
 * one follows. At each choice the machine asks explore_choose(); answer 0 is to go on in this way. What can
 * be chosen: which thread runs next, whether time passes first, which thread a condition wakes, and
 * which of the values that a load may see it sees.
 */
#ifndef TESTS_EXPLORE_MACHINE_H
#define TESTS_EXPLORE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#ifndef MACHINE_THREADS
#define MACHINE_THREADS 8u
#endif
#define MACHINE_NEVER INT64_MAX

/* What happened before: how many steps of each thread. What only comes before, by sequentially consistent fences: it orders
   atomic operations, but no plain accesses. */
struct machine_past {
    uint32_t steps[MACHINE_THREADS], fenced[MACHINE_THREADS];
    uint32_t consistent; /* how many sequentially consistent writes came before such a fence */
};

struct machine_thread {
    unsigned number;
    struct machine_past past;     /* of itself: the number of its present step */
    struct machine_past released; /* of its last release fence */
    struct machine_past pending;  /* what relaxed loads have seen, for its next acquire fence */
    int64_t *read_to; /* receives its next reading of the steady clock; NULL: nothing does */
};

/* The thread that runs. */
extern struct machine_thread *machine_self;

extern unsigned machine_thread_count; /* that have been started */

/* Whether more than one thread lives: otherwise nothing has to be recorded. */
bool machine_is_shared(void);

static inline void machine_past_join(struct machine_past *past, const struct machine_past *other) {
    for (unsigned i = 0; i < MACHINE_THREADS; i++) {
        if (other->steps[i] > past->steps[i])
            past->steps[i] = other->steps[i];
        if (other->fenced[i] > past->fenced[i])
            past->fenced[i] = other->fenced[i];
    }
    if (other->consistent > past->consistent)
        past->consistent = other->consistent;
}

/* The thread makes a step that others can see, on what is at `object`. Other threads may run first, if
   some thread shares `object`. `code`: its address in the program; `what`: a word for the list of steps. */
void machine_step(const volatile void *object, const char *what, const void *code);

/* One of `count` answers, the first of which is the usual one; only if `object` is shared. */
unsigned machine_choose(const volatile void *object, unsigned count);

/* Waits until machine_wake(object), or until `until_ns`. False: the time has come. */
bool machine_wait(const volatile void *object, int64_t until_ns, const void *code);

/* `all`, or one thread that waits for `object`. */
void machine_wake(const volatile void *object, bool all);

/* Waits until another thread changes the word that this one has loaded last. */
void machine_pause(const void *code);

/* A word was changed. */
void machine_changed(const volatile void *word);
/* A word was loaded. `is_latest`: no later value is there. */
void machine_loaded(const volatile void *word, bool is_latest);
/* Whether the next load must see the latest value: this thread has waited for it. */
bool machine_must_see_latest(void);

/* ---- time, in nanoseconds; timers of the kernel */

int64_t machine_now_ns(void);
int64_t machine_wall_ns(void);

/* File descriptors of timers are less. */
#define MACHINE_TIMERS 32u

struct machine_timer;
/* A new one; its number is a file descriptor. */
int machine_timer_create(bool is_wall);
void machine_timer_set(int timer, int64_t at_ns, const void *code);
void machine_timer_close(int fd);
int machine_poller_create(void);
void machine_poller_add(int poller, int timer, uint32_t name);
/* Waits until a timer of the poller has expired since the last time; `timeout_ms` is 0 or -1. Sets the
   names of those that have. */
int machine_poller_wait(int poller, int timeout_ms, uint32_t *ret_names, const void *code);

/* ---- threads */

/* On which CPU this thread runs. */
int machine_cpu(void);

unsigned machine_thread_start(void *(*main)(void *), void *argument);
void *machine_thread_join(unsigned number, const void *code);

/* ---- running */

/* Plays a scene from its begin to its end, or to the first failure, which is returned, or NULL. */
const char *machine_run(void (*scene)(void));

/* By what stands for the system: before each schedule. */
void seam_reset(void);

/* The schedule has failed: does not return. The text is like that of printf(). */
__attribute__((format(printf, 1, 2))) _Noreturn void machine_fail(const char *format, ...);

/* ---- by the search */

/* The number of the choice in this schedule, and how many answers there are. Those from `useful` on
   change nothing that another thread can see, as far as is known. */
unsigned explore_choose(unsigned choice, unsigned count, unsigned useful);

/* Each step, while steps are told. */
extern bool machine_tells;
void explore_tell(unsigned step, unsigned thread, const char *what, const volatile void *object,
                  const void *code);

/* An address is used by several threads: whether the search did not know. */
void machine_forget_shared(void);
extern bool machine_found_shared;

#endif /* TESTS_EXPLORE_MACHINE_H */
