/* SPDX-License-Identifier: MIT */
/* threads.c - the hooks of the library's accesses, interrupts, and memory. It stands in place of the explorer's
   memory.c and search.c. */
#include "threads.h"

#include "../explore/memory.h"
#include "../support/access_hooks.h"
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEPS_BETWEEN 60u      /* atomic operations from one interrupt to the next, on average */
#define STEPS_A_SECOND 500000u /* of virtual time: more are a loop that waits for nothing */
#define CRASH_WITHIN 60u       /* interrupts after its time */
#define SOON_NS (20 * HTW_MILLISECOND)
#define SHORT_NS 200000    /* a thread is off its CPU for up to this */
#define STOP_NS HTW_SECOND /* a thread is stopped for about this */
#define STOP_EVERY_NS (20 * HTW_SECOND)
#define SHORTAGE_NS (300 * HTW_MILLISECOND)
#define SHORTAGE_EVERY_NS (15 * HTW_SECOND)

static struct {
    bool has_faults;
    unsigned countdown;
    int64_t crash_ns; /* MACHINE_NEVER: it does not crash */
    unsigned crash_countdown;
    int64_t stop_ns;                       /* the next one */
    int64_t short_from_ns, short_until_ns; /* of memory */
    int64_t begin_ns, second_ns;           /* when the life began; when its present second did */
    uint64_t steps_then;                   /* at the begin of that second */
} at;

/* ---- interrupts */

static unsigned next_countdown(void) {
    return 1 + (unsigned)chance_below(2 * STEPS_BETWEEN);
}

static int64_t after(int64_t mean_ns) {
    return machine_now_ns() + chance_ns(mean_ns);
}

void threads_begin(void) {
    at.begin_ns = at.second_ns = machine_now_ns();
    at.steps_then = world->counts.steps;
    at.countdown = next_countdown();
    at.crash_ns = MACHINE_NEVER;
}

void threads_set_faults(bool are_on) {
    at.has_faults = are_on;
    at.stop_ns = after(STOP_EVERY_NS);
    at.short_from_ns = after(SHORTAGE_EVERY_NS);
    at.short_until_ns = at.short_from_ns + chance_ns(SHORTAGE_NS);
}

void threads_crash_after(int64_t at_ns) {
    at.crash_ns = at_ns;
    at.crash_countdown = 1 + (unsigned)chance_below(CRASH_WITHIN);
}

void threads_crash_soon(void) {
    int64_t soon_ns = after(chance_one_in(2) ? SOON_NS : 100 * SOON_NS);
    if (at.crash_ns != MACHINE_NEVER && soon_ns < at.crash_ns)
        at.crash_ns = soon_ns;
}

static void crash_if_it_is_time(void) {
    if (machine_now_ns() < at.crash_ns || --at.crash_countdown > 0)
        return;
    stage_note("crash", world->ending, 0);
    fflush(stdout);
    _exit(0);
}

void stage_sleep_ns(int64_t delay_ns) {
    int64_t until_ns = machine_now_ns() + delay_ns;
    while (machine_now_ns() < until_ns)
        machine_wait(machine_self, until_ns, __builtin_return_address(0));
}

static void stop(void) {
    int64_t until_ns = after(STOP_NS);
    if (until_ns > stopped_until_ns) {
        stopped_until_ns = until_ns;
        stopped_for_ns = until_ns - machine_now_ns();
    }
    at.stop_ns = until_ns + chance_ns(STOP_EVERY_NS);
    stage_note("stopped", 0, until_ns - machine_now_ns());
    stage_sleep_ns(until_ns - machine_now_ns());
}

static void note_progress(void) {
    int64_t now_ns = machine_now_ns();
    world->life_ns = now_ns - at.begin_ns;
    if (now_ns >= at.second_ns + HTW_SECOND) {
        if (world->counts.steps - at.steps_then > world->counts.most_steps)
            world->counts.most_steps = world->counts.steps - at.steps_then;
        at.second_ns = now_ns;
        at.steps_then = world->counts.steps;
    } else if (world->counts.steps > at.steps_then + STEPS_A_SECOND) {
        machine_fail("the threads do not rest: %u steps in a second", STEPS_A_SECOND);
    }
}

void threads_interrupt(void) {
    static const char place; /* all threads have been here: any of them may run */
    int error = errno;
    note_progress();
    crash_if_it_is_time();
    if (at.has_faults && machine_now_ns() >= at.stop_ns)
        stop();
    else if (chance_one_in(3))
        stage_sleep_ns(1 + (int64_t)chance_below(SHORT_NS));
    else
        machine_step(&place, "is interrupted at", __builtin_return_address(0));
    errno = error;
}

/* Before an atomic operation. */
static bool step(void) {
    if (machine_self == NULL)
        return false;
    world->counts.steps++;
    if (--at.countdown == 0) {
        at.countdown = next_countdown();
        threads_interrupt();
    }
    return true;
}

/* What the machine leaves open. Of the answers for which thread runs the last is that time passes before: this is not
   chosen, as each thread would be late. */
unsigned explore_choose(unsigned choice, unsigned count, unsigned useful) {
    (void)choice, (void)count;
    if (useful < 3 || chance_one_in(2))
        return 0;
    return (unsigned)chance_below(useful - 1);
}

void explore_tell(unsigned number, unsigned thread, const char *what, const volatile void *object,
                  const void *code) {
    (void)number, (void)thread, (void)what, (void)object, (void)code;
}

/* ---- hooks */

void hook_read(const volatile void *memory, size_t size, const void *code) {
    (void)memory, (void)size, (void)code;
}

void hook_write(const volatile void *memory, size_t size, const void *code) {
    (void)memory, (void)size, (void)code;
}

uint64_t hook_load(const volatile void *word, size_t size, int order, const void *code) {
    (void)order, (void)code;
    if (step())
        machine_loaded(word, true);
    return access_word(word, size);
}

uint64_t hook_store(const volatile void *word, size_t size, uint64_t value, int order,
                    const void *code) {
    (void)size, (void)order, (void)code;
    if (step())
        machine_changed(word);
    return value;
}

uint64_t hook_begin_change(const volatile void *word, size_t size, int order,
                           const uint64_t *expected, const void *code) {
    (void)order, (void)expected, (void)code;
    step();
    return access_word(word, size);
}

uint64_t hook_end_change(const volatile void *word, size_t size, uint64_t value, int order,
                         const void *code) {
    (void)order, (void)code;
    if (machine_self == NULL)
        return value;
    machine_loaded(word, true);
    if (value != access_word(word, size))
        machine_changed(word);
    return value;
}

void hook_end_unchanged(const volatile void *word, size_t size, int order, const void *code) {
    (void)size, (void)order, (void)code;
    if (machine_self != NULL)
        machine_loaded(word, true);
}

void hook_fence(int order, const void *code) {
    (void)order, (void)code;
}

void hook_prefetch(const void *memory) {
    (void)memory;
}

/* ---- memory */

#define REGION_SIZE (256u << 20)
#define STACK_SIZE (256u << 10)
#define UNIT ((size_t)64)
#define CLASSES 1025u /* of up to 64 KiB; larger blocks are not used again */

struct block {
    struct block *next;
};

static char *region, *next_block;
static struct block *released[CLASSES];
static size_t live;

void memory_reset(void) {
    region = mmap((void *)UINT64_C(0x100000000000), REGION_SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (region == MAP_FAILED) {
        perror("simulate: mmap");
        exit(1);
    }
    next_block = region + MACHINE_THREADS * STACK_SIZE;
    at.countdown = UINT32_MAX;
}

void *memory_stack(unsigned number, size_t *ret_size) {
    *ret_size = STACK_SIZE;
    return region + number * STACK_SIZE;
}

bool memory_fails(void) {
    int64_t now_ns = machine_now_ns();
    if (!at.has_faults || now_ns < at.short_from_ns)
        return false;
    if (now_ns >= at.short_until_ns) {
        at.short_from_ns = after(SHORTAGE_EVERY_NS);
        at.short_until_ns = at.short_from_ns + chance_ns(SHORTAGE_NS);
        return false;
    }
    if (!chance_one_in(3))
        return false;
    world->counts.no_memory++;
    if (now_ns > failed_until_ns)
        failed_until_ns = now_ns;
    return true;
}

static size_t units_of(size_t size) {
    return (size + UNIT - 1) / UNIT;
}

static void *allocate(void *context, size_t size, size_t alignment) {
    (void)context;
    size_t units = units_of(size);
    if (alignment > UNIT)
        machine_fail("an alignment of %zu", alignment);
    if (memory_fails())
        return NULL;
    live += units * UNIT;
    if (live > world->counts.most_bytes)
        world->counts.most_bytes = live;
    if (units < CLASSES && released[units] != NULL) {
        struct block *block = released[units];
        released[units] = block->next;
        return block;
    }
    char *block = next_block;
    if (units * UNIT > (size_t)(region + REGION_SIZE - block))
        machine_fail("memory grows without end");
    next_block += units * UNIT;
    return block;
}

/* What is read or called there after this is wrong, and most likely an address that does not exist. */
static void release(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    size_t units = units_of(size);
    if (memory == NULL)
        return;
    if (units * UNIT > live)
        machine_fail("more is released than was allocated");
    live -= units * UNIT;
    memset(memory, 0xdd, units * UNIT);
    if (units < CLASSES) {
        struct block *block = memory;
        block->next = released[units];
        released[units] = block;
    }
}

const struct htw_allocator stage_allocator = { .allocate = allocate, .release = release };

size_t memory_bytes(void) {
    return live;
}

/* ---- the machine orders nothing by what has happened before: memory is sequentially consistent */

void memory_release_to(struct machine_past *past) {
    (void)past;
}

void memory_acquire_from(const struct machine_past *past) {
    (void)past;
}
