/* SPDX-License-Identifier: MIT */
/* test_alloc_jemalloc - the default allocator is an arena of the library's own jemalloc. */
#include "../../../src/base/alloc.h"

#include "../../support/child.h"
#include "../unit.h"

#include <jemalloc/jemalloc.h>
#include <pthread.h>
#include <stdatomic.h>

/* The library's own. */
extern __typeof__(mallctl) htw__je_mallctl;

static const struct htw_allocator *const memory = &htw__default_allocator;

static unsigned arena_of(void *block) {
    unsigned arena = 0;
    size_t size = sizeof arena;
    assert_int_equal(htw__je_mallctl("arenas.lookup", &arena, &size, &block, sizeof block), 0);
    return arena;
}

static size_t arena_statistic(unsigned arena, const char *what) {
    uint64_t epoch = 1; /* statistics are those of the last time that this was written */
    assert_int_equal(htw__je_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch), 0);
    char name[64];
    (void)snprintf(name, sizeof name, "stats.arenas.%u.%s", arena, what);
    size_t value = 0, size = sizeof value;
    assert_int_equal(htw__je_mallctl(name, &value, &size, NULL, 0), 0);
    return value;
}

UNIT_TEST(alloc_is_counted_in_an_arena_of_its_own_and_leaves_it_at_once) {
    enum { BLOCKS = 64, BYTES = 256 * 1024 };
    void *blocks[BLOCKS];
    blocks[0] = htw__allocate(memory, BYTES);
    unsigned arena = arena_of(blocks[0]), automatic = 0;
    size_t size = sizeof automatic;
    assert_int_equal(htw__je_mallctl("opt.narenas", &automatic, &size, NULL, 0), 0);
    assert_true(arena >= automatic);
    for (size_t i = 1; i < BLOCKS; i++)
        blocks[i] = htw__allocate(memory, BYTES);
    for (size_t i = 0; i < BLOCKS; i++)
        memset(blocks[i], 1, BYTES);
    assert_int_equal(arena_statistic(arena, "large.allocated"), (size_t)BLOCKS * BYTES);
    size_t resident = arena_statistic(arena, "resident");
    for (size_t i = 0; i < BLOCKS; i++)
        htw__release(memory, blocks[i], BYTES);
    assert_int_equal(arena_statistic(arena, "large.allocated"), 0);
    assert_int_equal(arena_statistic(arena, "pdirty"), 0);
    assert_int_equal(arena_statistic(arena, "pmuzzy"), 0);
    assert_true(arena_statistic(arena, "resident") <= resident - (size_t)BLOCKS * BYTES);
}

/* ---- threads and processes */

enum { THREADS = 8, ROUNDS = 2000 };

/* Each round is an allocation of one of the others' sizes; true when all came from `arena`. */
static bool work_in(unsigned arena) {
    static const size_t sizes[] = { 96, 1024, 5000, 256 * 1024 };
    for (size_t round = 0; round < ROUNDS; round++) {
        unsigned char *block = htw__allocate(memory, sizes[round % 4]);
        if (block == NULL)
            return false;
        block[0] = block[sizes[round % 4] - 1] = 1;
        unsigned actual = 0;
        size_t size = sizeof actual;
        if (htw__je_mallctl("arenas.lookup", &actual, &size, &block, sizeof block) != 0 ||
            actual != arena)
            return false;
        htw__release(memory, block, sizes[round % 4]);
    }
    return true;
}

struct workers {
    pthread_barrier_t start;
    atomic_uint arena;
    atomic_int sound;
};

/* All threads make their first allocation at the same time, and still share one arena. */
static void *work(void *argument) {
    struct workers *workers = argument;
    pthread_barrier_wait(&workers->start);
    void *block = htw__allocate(memory, 96);
    unsigned arena = 0, none = 0;
    size_t size = sizeof arena;
    if (block == NULL || htw__je_mallctl("arenas.lookup", &arena, &size, &block, sizeof block) != 0)
        return NULL;
    bool first = atomic_compare_exchange_strong(&workers->arena, &none, arena);
    htw__release(memory, block, 96);
    if ((first || none == arena) && work_in(arena))
        atomic_fetch_add(&workers->sound, 1);
    return NULL;
}

UNIT_TEST(alloc_first_used_by_many_threads_makes_one_arena) {
    struct workers workers = { .arena = 0, .sound = 0 };
    pthread_t threads[THREADS];
    assert_int_equal(pthread_barrier_init(&workers.start, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&workers.start);
    assert_int_equal(workers.sound, THREADS);
}

static void work_in_child(void *arg) {
    unsigned char *block = arg;
    EXPECT(block[95] == 7 && work_in(block[0]));
    htw__release(memory, block, 96);
}

UNIT_TEST(alloc_works_in_a_forked_child) {
    unsigned char *block = htw__allocate(memory, 96);
    block[0] = (unsigned char)arena_of(block);
    block[95] = 7;
    assert_int_equal(child_run(work_in_child, block, NULL, 0), 0);
    htw__release(memory, block, 96);
}
