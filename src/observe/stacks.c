/* SPDX-License-Identifier: MIT */
/* stacks.c - the stack of calls by which each timer was scheduled, while that is observed. */
#include "stacks.h"

#include "symbol.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many stacks a scheduler keeps, which take 9 MiB, and how many each shard keeps at least. */
#define ALL_MAX 65536u
#define SHARD_MIN 1024u

struct kept {
    htw_handle handle; /* 0: none */
    struct htw_stack stack;
};

struct htw__stacks {
    uint32_t size; /* a power of two */
    uint64_t dropped;
    struct kept kept[];
};

/* ---- the table */

static size_t bytes_of(uint32_t size) {
    return sizeof(struct htw__stacks) + size * sizeof(struct kept);
}

static struct htw__stacks *create(const struct htw_scheduler *scheduler) {
    uint32_t size = ALL_MAX;
    while (size > SHARD_MIN && size > ALL_MAX / scheduler->shard_count)
        size /= 2;
    struct htw__stacks *stacks = htw__allocate(&scheduler->allocator, bytes_of(size));
    if (stacks == NULL)
        return NULL;
    memset(stacks, 0, bytes_of(size));
    stacks->size = size;
    return stacks;
}

static void destroy(const struct htw_scheduler *scheduler, struct htw__stacks *stacks) {
    if (stacks != NULL)
        htw__release(&scheduler->allocator, stacks, bytes_of(stacks->size));
}

/* Returns the table that the shard has then. */
static const struct htw__stacks *give(struct htw__shard *shard, struct htw__stacks *stacks) {
    htw__lock_acquire(&shard->lock);
    if (shard->stacks == NULL)
        shard->stacks = stacks;
    const struct htw__stacks *present = shard->stacks;
    htw__lock_release(&shard->lock);
    return present;
}

int htw__stacks_prepare(struct htw__shard *shard) {
    const void *frame;
    if (htw__stack_capture(&frame, 1, 0) == 0)
        return -ENOTSUP;
    if (give(shard, NULL) != NULL)
        return 0;
    struct htw__stacks *stacks = create(shard->scheduler);
    if (stacks == NULL)
        return -ENOMEM;
    if (give(shard, stacks) != stacks)
        destroy(shard->scheduler, stacks);
    return 0;
}

void htw__stacks_fini(struct htw__shard *shard) {
    destroy(shard->scheduler, shard->stacks);
}

uint64_t htw__stacks_bytes(const struct htw__shard *shard) {
    return shard->stacks == NULL ? 0 : bytes_of(shard->stacks->size);
}

__attribute__((noinline)) void htw__stack_fill(struct htw_stack *stack) {
    *stack = (struct htw_stack) { .depth = 0 };
    stack->depth = htw__stack_capture(stack->frames, HTW_STACK_FRAMES, 2);
}

static struct kept *place_of(const struct htw__shard *shard, struct htw__stacks *stacks,
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
    struct htw__stacks *stacks = shard->stacks;
    if (stacks == NULL) /* it is being switched on */
        return;
    struct kept *place = place_of(shard, stacks, handle);
    if (is_alive(shard, place->handle))
        stacks->dropped++;
    else
        *place = (struct kept) { handle, *stack };
}

const struct htw_stack *htw__stacks_find(const struct htw__shard *shard, htw_handle handle) {
    struct htw__stacks *stacks = shard->stacks;
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

void htw__stack_census_add_dropped(struct htw__stack_census *census,
                                   struct htw_scheduler *scheduler) {
    for (uint32_t i = 0; i < scheduler->shard_count; i++) {
        struct htw__shard *shard = &scheduler->shards[i];
        htw__lock_acquire(&shard->lock);
        census->dropped += shard->stacks == NULL ? 0 : shard->stacks->dropped;
        htw__lock_release(&shard->lock);
    }
}

static int by_timers(const void *left, const void *right) {
    const struct htw__stack_count *a = left, *b = right;
    return (a->timers < b->timers) - (a->timers > b->timers);
}

/* A return address is behind the call, and may be in the next line. */
static void write_stack(const struct htw_stack *stack, const struct htw__safe_copy *copy,
                        FILE *stream) {
    char text[HTW__SYMBOL_MAX];
    for (uint32_t i = 0; i < stack->depth; i++)
        fprintf(stream, "            %s\n",
                htw__symbol_text(copy, (uintptr_t)stack->frames[i] - 1, text));
}

static void write_rest(FILE *stream, uint64_t timers, const char *what) {
    if (timers > 0)
        fprintf(stream, "%10" PRIu64 "  %s\n", timers, what);
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
    if (census->dropped > 0)
        fprintf(stream, "%" PRIu64 " stacks found no room\n", census->dropped);
}
