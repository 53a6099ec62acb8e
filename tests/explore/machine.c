/* SPDX-License-Identifier: MIT */
/* machine.c - threads that are coroutines of one real thread, their choices and their time. */
#include "machine.h"

#include "../support/thread_locals.h"
#include "explore.h"
#include "memory.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef STEPS_MAX
#define STEPS_MAX 30000u /* a cell of memory.c holds twice as many in 16 bits */
#endif
#define OBJECTS 1024u /* a power of 2 */
#define EXPECTED_MAX 16u
#define BEGIN_NS INT64_C(1000000000000)
#define WALL_BEGIN_NS INT64_C(1600000000000000000)
#define LATEST_NS (INT64_MAX / 2) /* what is set to more never comes */

enum state { UNUSED, RUNNABLE, WAITING, ENDED };

struct thread {
    struct machine_thread base;
    enum state state;
    const volatile void *awaited; /* WAITING */
    int64_t until_ns;
    bool timed_out, is_patient;  /* it waits also for all others to wait */
    const volatile void *loaded; /* the word that it has loaded last */
    bool loaded_latest, has_paused, must_see_latest;
    int cpu;
    void *(*main)(void *);
    void *argument, *result;
    void *locals; /* its thread-local variables while another thread runs */
    bool has_begun;
    jmp_buf place;
};

struct machine_timer {
    int poller;    /* 0: none */
    uint32_t name; /* in the poller */
    int64_t at_ns;
    struct machine_past past; /* the kernel's lock of a timer orders the threads that set it */
    bool is_open, is_wall, has_expired, is_new;
};

static struct thread threads[MACHINE_THREADS];
static unsigned living; /* threads that have not been joined */
static struct thread *self;
static struct machine_timer timers[MACHINE_TIMERS];
static struct {
    const bool *flag;
    int64_t by_ns;
} expected[EXPECTED_MAX];
static unsigned expected_count;
static int64_t now_ns, wall_ahead_ns;
static unsigned choices, steps;
static const char *failure;
static jmp_buf outside;
static void (*played)(void);

struct machine_thread *machine_self;
unsigned machine_thread_count;
bool machine_tells, machine_found_shared;

static void begin_locals(struct thread *thread) {
    if (thread->locals == NULL)
        thread->locals = malloc(thread_locals_size());
    thread_locals_init(thread->locals);
}

/* ---- failures */

void machine_fail(const char *format, ...) {
    static char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    failure = text;
    longjmp(outside, 1);
}

void stage_fail(const char *condition, const char *file, int line) {
    const char *name = strrchr(file, '/');
    machine_fail("%s:%d: not %s", name == NULL ? file : name + 1, line, condition);
}

/* ---- which objects several threads use */

static struct {
    const volatile void *object;
    unsigned users;
} objects[OBJECTS];

void machine_forget_shared(void) {
    memset(objects, 0, sizeof(objects));
}

static bool has_one(unsigned users) {
    return (users & (users - 1)) == 0;
}

/* Also notes that this thread uses it. */
static bool several_use(const volatile void *object) {
    size_t i = (uintptr_t)object / 4 * 0x9e3779b1u % OBJECTS, probes = 0;
    while (objects[i].object != object && objects[i].object != NULL && probes++ < OBJECTS)
        i = (i + 1) % OBJECTS;
    if (probes >= OBJECTS)
        return true; /* the table is full: no harm but time */
    objects[i].object = object;
    unsigned before = objects[i].users, users = before | 1u << self->base.number;
    objects[i].users = users;
    if (has_one(before) && !has_one(users))
        machine_found_shared = true;
    return !has_one(users);
}

bool machine_is_shared(void) {
    return living > 1;
}

unsigned machine_choose(const volatile void *object, unsigned count) {
    return explore_choose(choices++, count, living > 1 && several_use(object) ? count : 1);
}

/* ---- time */

int64_t machine_now_ns(void) {
    return now_ns;
}

int64_t machine_wall_ns(void) {
    return now_ns + wall_ahead_ns;
}

int64_t explore_now_ns(void) {
    return now_ns;
}

/* When a timer expires, by the monotonic clock. */
static int64_t expires_ns(const struct machine_timer *timer) {
    return timer->at_ns > LATEST_NS ? MACHINE_NEVER
                                    : timer->at_ns - (timer->is_wall ? wall_ahead_ns : 0);
}

/* `all_wait`: no thread can run. */
static int64_t next_event_ns(bool all_wait) {
    int64_t next_ns = MACHINE_NEVER;
    for (unsigned i = 0; i < machine_thread_count; i++)
        if (threads[i].state == WAITING && threads[i].until_ns < next_ns &&
            (all_wait || !threads[i].is_patient))
            next_ns = threads[i].until_ns;
    for (unsigned i = 1; i < MACHINE_TIMERS; i++)
        if (timers[i].is_open && timers[i].poller != 0 && !timers[i].has_expired &&
            expires_ns(&timers[i]) < next_ns)
            next_ns = expires_ns(&timers[i]);
    return next_ns;
}

static void ring(struct machine_timer *timer) {
    timer->has_expired = timer->is_new = true;
    if (timer->poller != 0)
        machine_wake(&timers[timer->poller], true);
}

static void expire(struct machine_timer *timer) {
    if (timer->is_open && !timer->has_expired && expires_ns(timer) <= now_ns)
        ring(timer);
}

static void advance(int64_t to_ns, bool all_wait) {
    if (to_ns > now_ns)
        now_ns = to_ns;
    for (unsigned i = 1; i < MACHINE_TIMERS; i++)
        expire(&timers[i]);
    for (unsigned i = 0; i < machine_thread_count; i++)
        if (threads[i].state == WAITING && threads[i].until_ns <= now_ns &&
            (all_wait || !threads[i].is_patient)) {
            threads[i].state = RUNNABLE;
            threads[i].timed_out = true;
        }
}

void explore_expect(const bool *flag, int64_t by_ns) {
    if (expected_count == EXPECTED_MAX)
        machine_fail("too many expectations");
    expected[expected_count].flag = flag;
    expected[expected_count++].by_ns = by_ns;
}

/* All threads wait, until `event_ns`. */
static void check_expected(int64_t event_ns) {
    for (unsigned i = 0; i < expected_count; i++)
        if (expected[i].by_ns < event_ns && !*expected[i].flag)
            machine_fail(
                "a wake-up was lost: all threads wait for longer than until what was due at "
                "%lld ns",
                (long long)expected[i].by_ns);
}

/* ---- which thread runs */

static void run_thread(void) {
    self->result = self->main(self->argument);
    memory_release_to(&self->base.past);
    self->state = ENDED;
    machine_wake(&self->result, true);
    machine_wait(NULL, MACHINE_NEVER, NULL); /* for ever */
}

/* (setcontext() would ask the kernel for signals, a million times a minute.) */
static _Noreturn void begin(struct thread *thread) {
    size_t size;
    char *stack = memory_stack(thread->base.number, &size);
    thread->has_begun = true;
    __asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\tcall *%1" ::"r"(stack + size),
                     "r"(run_thread)
                     : "memory");
    __builtin_unreachable();
}

static void enter(struct thread *thread) {
    self = thread;
    machine_self = &thread->base;
    thread_locals_load(thread->locals);
    if (thread->has_begun)
        longjmp(thread->place, 1);
    begin(thread);
}

static void change_to(struct thread *thread) {
    if (thread == self)
        return;
    thread_locals_save(self->locals);
    if (setjmp(self->place) == 0)
        enter(thread);
}

static unsigned list_runnable(struct thread *list[]) {
    unsigned count = 0, from = (unsigned)(self - threads);
    for (unsigned i = 0; i < machine_thread_count; i++) {
        struct thread *thread = &threads[(from + i) % machine_thread_count];
        if (thread->state == RUNNABLE)
            list[count++] = thread;
    }
    return count;
}

static void end_or_fail(void) {
    for (unsigned i = 0; i < machine_thread_count; i++)
        if (threads[i].state == WAITING)
            machine_fail("deadlock: all threads wait, thread %u for %p", threads[i].base.number,
                         (const void *)(uintptr_t)threads[i].awaited);
    longjmp(outside, 1);
}

/* Lets the next thread run, which may be this one. */
static void pass_on(bool is_useful) {
    struct thread *runnable[MACHINE_THREADS];
    for (;;) {
        unsigned count = list_runnable(runnable);
        int64_t event_ns = next_event_ns(count == 0);
        if (count == 0) {
            check_expected(event_ns);
            if (event_ns == MACHINE_NEVER)
                end_or_fail();
            advance(event_ns, true);
            continue;
        }
        unsigned answers = count + (event_ns != MACHINE_NEVER);
        unsigned chosen = explore_choose(choices++, answers, is_useful ? answers : 1);
        if (chosen < count) {
            change_to(runnable[chosen]);
            return;
        }
        advance(event_ns, false);
    }
}

static void count_step(const char *what, const volatile void *object, bool is_shared,
                       const void *code) {
    if (++steps > STEPS_MAX)
        machine_fail("livelock: no end after %u steps", steps);
    self->base.past.steps[self->base.number]++;
    if (machine_tells && is_shared)
        explore_tell(steps, self->base.number, what, object, code);
}

void machine_step(const volatile void *object, const char *what, const void *code) {
    bool is_shared = living > 1 && several_use(object);
    if (living > 1)
        pass_on(is_shared);
    count_step(what, object, is_shared, code);
}

bool machine_wait(const volatile void *object, int64_t until_ns, const void *code) {
    if (code != NULL)
        count_step("waits for", object, true, code);
    if (self->state != ENDED)
        self->state = WAITING;
    self->awaited = object;
    self->until_ns = until_ns;
    self->timed_out = false;
    if (until_ns <= now_ns)
        advance(now_ns, false);
    pass_on(true);
    return !self->timed_out;
}

void machine_wake(const volatile void *object, bool all) {
    struct thread *waiting[MACHINE_THREADS];
    unsigned count = 0;
    for (unsigned i = 0; i < machine_thread_count; i++)
        if (threads[i].state == WAITING && threads[i].awaited == object)
            waiting[count++] = &threads[i];
    if (count > 0 && !all)
        waiting[0] = waiting[explore_choose(choices++, count, count)];
    for (unsigned i = 0; i < (all ? count : count > 0); i++)
        waiting[i]->state = RUNNABLE;
}

void machine_changed(const volatile void *word) {
    machine_wake(word, true);
}

void machine_loaded(const volatile void *word, bool is_latest) {
    self->loaded = word;
    self->loaded_latest = is_latest;
    self->has_paused = self->must_see_latest = false;
}

bool machine_must_see_latest(void) {
    return self->must_see_latest;
}

void machine_pause(const void *code) {
    if (self == NULL || living < 2 || self->has_paused)
        return;
    self->has_paused = true;
    if (self->loaded_latest)
        machine_wait(self->loaded, MACHINE_NEVER, code);
    else
        self->must_see_latest = true;
}

/* ---- timers of the kernel, edge-triggered */

static int create(void) {
    for (int i = 1; i < (int)MACHINE_TIMERS; i++)
        if (!timers[i].is_open) {
            timers[i] = (struct machine_timer) { .is_open = true, .at_ns = MACHINE_NEVER };
            return i;
        }
    machine_fail("too many file descriptors");
}

int machine_timer_create(bool is_wall) {
    int timer = create();
    timers[timer].is_wall = is_wall;
    return timer;
}

/* It expires also when the wall clock is set. */
void machine_timer_set(int timer, int64_t at_ns, const void *code) {
    machine_step(&timers[timers[timer].poller], "sets a timer of", code);
    memory_acquire_from(&timers[timer].past);
    memory_release_to(&timers[timer].past);
    timers[timer].at_ns = at_ns;
    timers[timer].has_expired = timers[timer].is_new = false;
    expire(&timers[timer]);
}

void machine_timer_close(int fd) {
    if (fd < (int)MACHINE_TIMERS) /* otherwise it is a file of the disk */
        timers[fd].is_open = false;
}

int machine_poller_create(void) {
    return create();
}

void machine_poller_add(int poller, int timer, uint32_t name) {
    timers[timer].poller = poller;
    timers[timer].name = name;
}

static int take_expired(int poller, uint32_t *ret_names) {
    int count = 0;
    for (unsigned i = 1; i < MACHINE_TIMERS; i++)
        if (timers[i].is_open && timers[i].poller == poller && timers[i].is_new) {
            timers[i].is_new = false;
            ret_names[count++] = timers[i].name;
        }
    return count;
}

int machine_poller_wait(int poller, int timeout_ms, uint32_t *ret_names, const void *code) {
    int count;
    machine_step(&timers[poller], "polls", code);
    while ((count = take_expired(poller, ret_names)) == 0 && timeout_ms != 0)
        machine_wait(&timers[poller], MACHINE_NEVER, code);
    return count;
}

/* ---- threads */

unsigned machine_thread_start(void *(*main)(void *), void *argument) {
    if (machine_thread_count == MACHINE_THREADS)
        machine_fail("too many threads");
    struct thread *thread = &threads[machine_thread_count];
    void *kept = thread->locals;
    *thread = (struct thread) { .base = { .number = machine_thread_count },
                                .state = RUNNABLE,
                                .main = main,
                                .argument = argument,
                                .locals = kept };
    begin_locals(thread);
    if (self != NULL)
        memory_release_to(&thread->base.past);
    thread->base.past.steps[machine_thread_count] = 1;
    machine_thread_count++;
    living++;
    return thread->base.number;
}

void *machine_thread_join(unsigned number, const void *code) {
    struct thread *thread = &threads[number];
    while (thread->state != ENDED)
        machine_wait(&thread->result, MACHINE_NEVER, code);
    memory_acquire_from(&thread->base.past);
    living--; /* what it has done is ordered from now on */
    return thread->result;
}

void explore_set_wall_ns(int64_t wall_ns) {
    machine_step(&wall_ahead_ns, "sets the clock", __builtin_return_address(0));
    wall_ahead_ns = wall_ns - now_ns;
    for (unsigned i = 1; i < MACHINE_TIMERS; i++)
        if (timers[i].is_open && timers[i].is_wall)
            ring(&timers[i]);
}

void explore_set_cpu(int cpu) {
    self->cpu = cpu;
}

int machine_cpu(void) {
    return self == NULL ? 0 : self->cpu;
}

void explore_sleep_ns(int64_t delay_ns) {
    self->is_patient = true;
    machine_wait(&self->until_ns, now_ns + delay_ns, __builtin_return_address(0));
    self->is_patient = false;
    for (unsigned i = 0; i < machine_thread_count; i++)
        memory_acquire_from(&threads[i].base.past);
}

/* ---- running */

static void *play(void *unused) {
    (void)unused;
    played();
    return NULL;
}

static void crash(int signal) {
    machine_fail("a crash by signal %d in thread %u", signal, self == NULL ? 0 : self->base.number);
}

static void catch_crashes(void) {
    static char stack[64 << 10]; /* the thread's own may be the reason */
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
    const struct sigaction action = { .sa_handler = crash, .sa_flags = SA_ONSTACK | SA_NODEFER };
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
}

const char *machine_run(void (*scene)(void)) {
    static bool catches;
    if (!catches)
        catch_crashes();
    catches = true;
    memory_reset();
    memset(timers, 0, sizeof(timers));
    machine_thread_count = living = choices = steps = expected_count = 0;
    now_ns = BEGIN_NS;
    wall_ahead_ns = WALL_BEGIN_NS - BEGIN_NS;
    seam_reset();
    failure = NULL;
    played = scene;
    self = NULL;
    machine_self = NULL;
    machine_thread_start(play, NULL);
    if (setjmp(outside) == 0)
        enter(&threads[0]);
    self = NULL;
    machine_self = NULL;
    return failure;
}
