/* SPDX-License-Identifier: MIT */
/* stacks.c - the stack of calls by which each timer was scheduled, while that is observed. */
#include "stacks.h"

#include "../base/log.h"
#include "../port/system.h"
#include "symbol.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* How many stacks a scheduler keeps, which take 9 MiB, and how many each shard keeps at least. */
#define ALL_MAX 65536u
#define SHARD_MIN 1024u

struct kept {
    htw_handle handle; /* 0: none */
    struct htw_stack stack;
};

struct stacks {
    struct htw__table_head table;
    uint32_t size; /* a power of two */
    struct kept kept[];
};

/* ---- the table */

bool htw__observer_add_stacks(struct htw__observer *observer, uint32_t shard_count) {
    uint32_t size = ALL_MAX;
    if (htw__observer_table(observer, HTW__TABLE_STACKS) != NULL)
        return true;
    while (size > SHARD_MIN && size > ALL_MAX / shard_count)
        size /= 2;
    size_t bytes = sizeof(struct stacks) + size * sizeof(struct kept);
    struct stacks *stacks = htw__table_create(observer, bytes, bytes);
    if (stacks == NULL)
        return false;
    stacks->size = size;
    htw__observer_add_table(observer, HTW__TABLE_STACKS, stacks);
    return true;
}

void htw__stack_fill(struct htw_stack *stack) {
    *stack = (struct htw_stack) { .depth = 0 };
    stack->depth = htw__system_capture_stack(stack->frames, HTW_STACK_FRAMES, 2);
}

static struct stacks *stacks_of(const struct htw__shard *shard) {
    return htw__observer_table(htw__observer_of_shard(shard), HTW__TABLE_STACKS);
}

static struct kept *place_of(const struct htw__shard *shard, struct stacks *stacks,
                             htw_handle handle) {
    uint32_t index = (uint32_t)handle & shard->scheduler->index_mask;
    return &stacks->kept[index & (stacks->size - 1)];
}

static bool is_alive(const struct htw__shard *shard, htw_handle handle) {
    uint64_t status;
    if (handle == 0 || htw__handle_record(shard, handle, &status) == NULL)
        return false;
    enum htw__state state = htw__status_state(status);
    return state == HTW__PENDING || state == HTW__QUEUED || state == HTW__RUNNING;
}

void htw__stacks_keep(struct htw__shard *shard, htw_handle handle, const struct htw_stack *stack) {
    struct stacks *stacks = stacks_of(shard);
    if (stacks == NULL) /* it is being switched on */
        return;
    struct kept *place = place_of(shard, stacks, handle);
    if (!is_alive(shard, place->handle))
        *place = (struct kept) { handle, *stack };
}

const struct htw_stack *htw__stacks_find(const struct htw__shard *shard, htw_handle handle) {
    struct stacks *stacks = stacks_of(shard);
    if (stacks == NULL)
        return NULL;
    const struct kept *place = place_of(shard, stacks, handle);
    return place->handle == handle ? &place->stack : NULL;
}

/* ---- stacks that are alike */

static bool is_same(const struct htw_stack *a, const struct htw_stack *b) {
    return a->depth == b->depth &&
           memcmp(a->frames, b->frames, a->depth * sizeof(a->frames[0])) == 0;
}

void htw__stack_census_add(struct htw__stack_census *census, const struct htw_stack *stack) {
    census->timers++;
    if (stack == NULL) {
        census->unknown++;
        return;
    }
    for (uint32_t i = 0; i < census->count; i++)
        if (is_same(&census->counts[i].stack, stack)) {
            census->counts[i].timers++;
            return;
        }
    if (census->count == HTW__STACKS_ALIKE)
        census->others++;
    else
        census->counts[census->count++] = (struct htw__stack_count) { 1, *stack };
}

static int by_timers(const void *left, const void *right) {
    const struct htw__stack_count *a = left, *b = right;
    return (a->timers < b->timers) - (a->timers > b->timers);
}

/* `stream` NULL: to the function of htw_set_log(), a line at a time. */
static __attribute__((format(printf, 2, 3))) void write_line(FILE *stream, const char *format,
                                                             ...) {
    char line[HTW__SYMBOL_MAX + 16];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof(line), format, values);
    va_end(values);
    if (stream != NULL)
        fprintf(stream, "%s\n", line);
    else
        htw__report(HTW_LOG_WARNING, "scheduler", "%s", line);
}

/* A return address is behind the call, and may be in the next line. */
static void write_stack(const struct htw_stack *stack, const struct htw__safe_copy *copy,
                        FILE *stream) {
    char text[HTW__SYMBOL_MAX];
    for (uint32_t i = 0; i < stack->depth; i++)
        write_line(stream, "            %s",
                   htw__symbol_text(copy, (uintptr_t)stack->frames[i] - 1, text));
}

static void write_rest(FILE *stream, uint64_t timers, const char *what) {
    if (timers > 0)
        write_line(stream, "%10" PRIu64 "  %s", timers, what);
}

void htw__stack_census_write(struct htw__stack_census *census, const struct htw__safe_copy *copy,
                             FILE *stream) {
    qsort(census->counts, census->count, sizeof(census->counts[0]), by_timers);
    for (uint32_t i = 0; i < census->count; i++) {
        write_rest(stream, census->counts[i].timers, "armed by");
        write_stack(&census->counts[i].stack, copy, stream);
    }
    write_rest(stream, census->others, "armed by other stacks");
    write_rest(stream, census->unknown, "of which no stack was kept");
}

/* ---- the timers that are left at the end */

static void add_left(void *context, const struct htw_unexpired *unexpired) {
    htw__stack_census_add(context, unexpired->stack);
}

void htw__stop_and_report(struct htw_scheduler *scheduler,
                          void (*end)(struct htw_scheduler *, htw_unexpired_visitor *, void *)) {
    struct htw__stack_census left = { .count = 0 };
    struct htw__callback_frame frame = { .scheduler = scheduler };
    struct htw__safe_copy copy;
    end(scheduler, add_left, &left);
    if (left.timers == 0)
        return;
    htw__safe_copy_init(&copy);
    FILE *stream = htw__report_is_due(NULL) ? NULL : stderr;
    htw__callback_frame_push(
        &frame); /* the function cannot destroy the scheduler, which is stopped */
    write_line(stream, "%sscheduler %s has stopped, and nobody has cancelled %" PRIu64 " %s",
               stream == NULL ? "" : "htw: ", scheduler->thread_name, left.timers,
               left.timers == 1 ? "timer" : "timers");
    htw__stack_census_write(&left, &copy, stream);
    htw__callback_frame_pop(&frame);
    htw__safe_copy_fini(&copy);
}
