/* SPDX-License-Identifier: MIT */
/*
 * alloc_jemalloc.c - the default allocator with the build option `jemalloc`: the library's own jemalloc.
 *
 * The application keeps its malloc. The usual ways to use jemalloc replace it: a program with
 * libjemalloc.so or libjemalloc.a gets every malloc from jemalloc. Opening libjemalloc.so.2 at run
 * time would not, but fails: its thread-local storage (2 632 bytes, initial-exec) does not fit into
 * what glibc reserves for libraries that are loaded later. So meson.build links libjemalloc_pic.a
 * into one object, makes all its symbols local, and keeps only the functions below under names of
 * the library. Both libhtw.so and libhtw.a contain that object. The declarations below are hidden,
 * which hides the definitions too.
 *
 * Consequences:
 *  - The application may use any malloc, also a jemalloc, and shares nothing with this one.
 *  - A thread that has used this jemalloc has a destructor of it until it ends. So the library
 *    must never be unloaded: libhtw.so is linked with -z nodelete, and a plugin that contains
 *    libhtw.a must be too (pkg-config --static says so).
 *  - Such a libhtw.so cannot be loaded late either: programs link to it, or run with
 *    GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096.
 *  - This jemalloc reads MALLOC_CONF and /etc/malloc.conf, too.
 */
#include "../base/alloc.h"

#include <jemalloc/jemalloc.h>
#include <stdatomic.h>
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* See jemalloc(3). */
extern __typeof__(mallocx) htw__je_mallocx HIDDEN;
extern __typeof__(sdallocx) htw__je_sdallocx HIDDEN;
extern __typeof__(mallctl) htw__je_mallctl HIDDEN;

/*
 * Blocks up to this size go through jemalloc's cache of the calling thread: an allocation and a
 * release take 30 ns instead of 1000. No other code uses this jemalloc, so the caches hold memory
 * of this arena only. They keep at most 56 KiB of each of a dozen sizes until the thread ends.
 * Larger blocks are few, and go back to the system at once.
 */
#define CACHED_UP_TO ((size_t)1024)

/* MALLOCX_ARENA of the arena; 0: there is none yet. */
static atomic_int arena_flag;

static int write_arena(unsigned arena, const char *what, void *value, size_t size) {
    char name[64];
    (void)snprintf(name, sizeof name, "arena.%u.%s", arena, what);
    return htw__je_mallctl(name, NULL, NULL, value, size);
}

/*
 * Makes released pages go back to the system with the release. Later would need another call into
 * the arena, which may never come, or jemalloc's background thread, which a library must not start.
 * (jemalloc keeps the addresses, so the number of mapped areas does not grow.)
 */
static int decay_at_once(unsigned arena) {
    ssize_t at_once = 0;
    int rc = write_arena(arena, "dirty_decay_ms", &at_once, sizeof at_once);
    return rc != 0 ? rc : write_arena(arena, "muzzy_decay_ms", &at_once, sizeof at_once);
}

/*
 * If several threads come here at once, the arena of the first stays and the others are destroyed;
 * a lock could be held at the moment of a fork. 0: no memory for an arena; the next call tries
 * again.
 */
static int create_arena(void) {
    unsigned arena;
    size_t size = sizeof arena;
    if (htw__je_mallctl("arenas.create", &arena, &size, NULL, 0) != 0)
        return 0;
    int flag = 0;
    /* order: Another thread uses the arena that was created: what jemalloc has written for it must be
       visible. [acquire: not played, as the release is what publishes the arena; release: not played, and
       kept: C11 wants it no weaker than the order of a failure; failed relaxed: not played, as the arena
       of the other thread is used then] */
    if (decay_at_once(arena) == 0 &&
        atomic_compare_exchange_strong_explicit(&arena_flag, &flag, MALLOCX_ARENA(arena),
                                                memory_order_acq_rel, memory_order_acquire))
        return MALLOCX_ARENA(arena);
    (void)write_arena(arena, "destroy", NULL, 0);
    return flag;
}

static int flags(size_t size, size_t alignment) {
    return MALLOCX_ALIGN(alignment) | (size > CACHED_UP_TO ? MALLOCX_TCACHE_NONE : 0);
}

static void *allocate_in_arena(void *context, size_t size, size_t alignment) {
    (void)context;
    /* order: Another thread uses the arena that was created: what jemalloc has written for it must be
       visible. [relaxed: not played, as the arena of another thread is used then] */
    int arena = atomic_load_explicit(&arena_flag, memory_order_acquire);
    if (arena == 0 && (arena = create_arena()) == 0)
        return NULL;
    return htw__je_mallocx(size, arena | flags(size, alignment));
}

static void release_to_arena(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    htw__je_sdallocx(memory, size, flags(size, alignment));
}

const struct htw_allocator htw__default_allocator = { allocate_in_arena, release_to_arena, NULL };
