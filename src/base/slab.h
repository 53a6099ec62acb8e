/* SPDX-License-Identifier: MIT */
/*
 * slab.h - cells of 64 bytes that are known by number and generation.
 *
 * A cell is named by its index and its generation. Freeing it raises the generation, so that an
 * old name never fits again; a cell whose generations are used up is retired. Cells stand in
 * pages of 4096; a page without a used cell can be given back, and its entry in the directory
 * then keeps where its generations have to go on, should it come to life again.
 *
 * The directory consists of segments that double in size and never move. So htw__slab_find()
 * needs no lock; but what it returns may be taken away with its page unless the caller
 * prevents that (scheduler/state.h tells how). All else is done under the owner's lock,
 * but for the two functions that allocate and release pages, so that this is done outside it.
 */
#ifndef HTW_SRC_BASE_SLAB_H
#define HTW_SRC_BASE_SLAB_H

#include "alloc.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HTW__SLAB_PAGE_BITS 12u
#define HTW__SLAB_PAGE_CELLS (1u << HTW__SLAB_PAGE_BITS)
#define HTW__SLAB_FIRST_BITS 6u /* log2 of the pages in the first segment */
#define HTW__SLAB_SEGMENTS (32u - HTW__SLAB_PAGE_BITS - HTW__SLAB_FIRST_BITS + 1u)

#define HTW__SLAB_NONE UINT32_MAX /* no cell; no page */

/*
 * `status` is, from the top: the generation (32 bits), the page (20), and the state (12), which
 * is the owner's business, except that 0 is free. `content` is the owner's while it is
 * in use.
 */
struct htw__cell {
    uint64_t content[7];
    _Atomic uint64_t status;
};

#define HTW__STATUS_STATE_BITS 12u
#define HTW__STATUS_STATE ((UINT64_C(1) << HTW__STATUS_STATE_BITS) - 1)

/* What of a page is looked at without the lock: on cache lines that rarely change. */
struct htw__slab_view {
    struct htw__cell *_Atomic cells; /* NULL: given back, or never there */
    _Atomic uint32_t fresh;          /* cells from here on were never used in this life */
};

struct htw__slab_page {
    struct htw__cell *cells; /* as in the view, and so is `fresh` */
    uint32_t fresh;
    uint32_t used;    /* cells in use */
    uint32_t free;    /* the free cell that is used next; its content[0] leads on */
    uint32_t floor;   /* the generation with which fresh cells begin */
    uint32_t highest; /* the highest generation of any cell freed in this life */
    uint32_t number;
    uint32_t next, previous; /* in the list that it is in; only `next` where it is absent */
    bool retired;            /* a cell of it is, and so is the entry when the page goes */
};

struct htw__slab {
    alignas(64) struct htw__slab_view *_Atomic views[HTW__SLAB_SEGMENTS];
    alignas(64) struct htw__slab_page *current; /* the first of `partial`; NULL: there is none */
    struct htw__slab_page *pages[HTW__SLAB_SEGMENTS];
    uint32_t page_count;     /* entries of the directory that were ever used */
    uint32_t page_limit;     /* how many there may be */
    uint32_t generation_max; /* the last that a handle can hold */
    uint32_t partial;        /* pages with cells in use and free ones; the last freed into first */
    uint32_t empty;          /* pages with no cell in use */
    uint32_t spent;          /* pages all of whose cells are retired */
    uint32_t absent;         /* entries whose page was given back */
    uint32_t empty_count;
    uint32_t present_count; /* pages that hold memory */
    struct htw_allocator allocator;
};

/* `index_bits` (12 to 32) limits how many cells there may be; `generation_bits` (16 to 32). */
void htw__slab_init(struct htw__slab *slab, const struct htw_allocator *allocator,
                    uint32_t index_bits, uint32_t generation_bits);

/* Releases everything, in use or not. */
void htw__slab_fini(struct htw__slab *slab);

/* Memory for a page: without the lock. NULL: there is none. */
struct htw__cell *htw__slab_allocate_page(const struct htw__slab *slab);
void htw__slab_release_page(const struct htw__slab *slab, struct htw__cell *cells);

/*
 * Puts a page to use: under the lock, with memory from htw__slab_allocate_page(). -ENOMEM when
 * the directory could not grow, or all indices are taken; then the memory is still the caller's.
 */
int htw__slab_add_page(struct htw__slab *slab, struct htw__cell *cells);

/* Takes a page without used cells out, for htw__slab_release_page(), and keeps `spare` of
   them; NULL if there are no more. */
struct htw__cell *htw__slab_remove_page(struct htw__slab *slab, uint32_t spare);

/* Memory that the slab holds. */
uint64_t htw__slab_bytes(const struct htw__slab *slab);

static inline uint32_t htw__status_generation(uint64_t status) {
    return (uint32_t)(status >> 32);
}

static inline uint32_t htw__status_page(uint64_t status) {
    return (uint32_t)status >> HTW__STATUS_STATE_BITS;
}

/* Where a page stands in the directory. */
struct htw__slab_place {
    unsigned segment;
    uint32_t offset;
};

static inline struct htw__slab_place htw__slab_place_of(uint32_t number) {
    uint32_t shifted = number + (1u << HTW__SLAB_FIRST_BITS);
    unsigned bit = 31u - (unsigned)__builtin_clz(shifted);
    return (struct htw__slab_place) { bit - HTW__SLAB_FIRST_BITS, shifted - (1u << bit) };
}

/* The entry of a page that was there once. */
static inline struct htw__slab_page *htw__slab_page(const struct htw__slab *slab, uint32_t number) {
    struct htw__slab_place place = htw__slab_place_of(number);
    return &slab->pages[place.segment][place.offset];
}

/* The number of a cell that is in use. */
static inline uint32_t htw__slab_index(const struct htw__slab *slab, const struct htw__cell *cell) {
    uint32_t number = htw__status_page(atomic_load_explicit(&cell->status, memory_order_relaxed));
    struct htw__slab_place place = htw__slab_place_of(number);
    const struct htw__slab_view *views =
        atomic_load_explicit(&slab->views[place.segment], memory_order_relaxed);
    const struct htw__cell *first =
        atomic_load_explicit(&views[place.offset].cells, memory_order_relaxed);
    return number << HTW__SLAB_PAGE_BITS | (uint32_t)(cell - first);
}

/* The parts of the two functions below that are not common. */
struct htw__cell *htw__slab_allocate_slow(struct htw__slab *slab, uint32_t *ret_index);
void htw__slab_free_slow(struct htw__slab *slab, struct htw__cell *cell);

/* A free cell, whose state is 0 until the owner sets it, and its index; NULL: add a page. Its
   content is as its last owner left it, but for content[0]; at first it is zero. */
static inline struct htw__cell *htw__slab_allocate(struct htw__slab *slab, uint32_t *ret_index) {
    struct htw__slab_page *page = slab->current;
    if (__builtin_expect(page == NULL || page->free == HTW__SLAB_NONE, false))
        return htw__slab_allocate_slow(slab, ret_index);
    uint32_t slot = page->free;
    struct htw__cell *cell = &page->cells[slot];
    uint32_t next = (uint32_t)cell->content[0];
    if (__builtin_expect(next == HTW__SLAB_NONE && page->fresh == HTW__SLAB_PAGE_CELLS, false))
        return htw__slab_allocate_slow(slab, ret_index);
    /* Whoever freed it may have been another processor: have it here by the next call. */
    __builtin_prefetch(&page->cells[next & (HTW__SLAB_PAGE_CELLS - 1)], 1);
    page->free = next;
    page->used++;
    *ret_index = page->number << HTW__SLAB_PAGE_BITS | slot;
    return cell;
}

/* Puts a cell of a page on the page's list of free ones, under a new name. */
static inline void htw__slab_rename(struct htw__slab_page *page, struct htw__cell *cell,
                                    uint64_t status) {
    uint32_t generation = htw__status_generation(status) + 1;
    page->used--;
    cell->content[0] = page->free;
    page->free = (uint32_t)(cell - page->cells);
    if (page->highest < generation)
        page->highest = generation;
    atomic_store_explicit(&cell->status,
                          (uint64_t)generation << 32 | ((uint32_t)status & ~HTW__STATUS_STATE),
                          memory_order_relaxed);
}

/* Takes a cell back. */
static inline void htw__slab_free(struct htw__slab *slab, struct htw__cell *cell) {
    struct htw__slab_page *page = slab->current;
    uint64_t status = atomic_load_explicit(&cell->status, memory_order_relaxed);
    if (__builtin_expect(page == NULL || page->number != htw__status_page(status) ||
                             page->used == 1 ||
                             htw__status_generation(status) == slab->generation_max,
                         false))
        htw__slab_free_slow(slab, cell);
    else
        htw__slab_rename(page, cell, status);
}

/* The cell of an index, whoever has it now; NULL where there is none. */
static inline struct htw__cell *htw__slab_find(const struct htw__slab *slab, uint32_t index) {
    uint32_t slot = index & (HTW__SLAB_PAGE_CELLS - 1);
    struct htw__slab_place place = htw__slab_place_of(index >> HTW__SLAB_PAGE_BITS);
    const struct htw__slab_view *views =
        atomic_load_explicit(&slab->views[place.segment], memory_order_acquire);
    if (views == NULL)
        return NULL;
    const struct htw__slab_view *view = &views[place.offset];
    struct htw__cell *cells = atomic_load_explicit(&view->cells, memory_order_acquire);
    /* A cell that is not initialised may hold anything. */
    if (cells == NULL || slot >= atomic_load_explicit(&view->fresh, memory_order_acquire))
        return NULL;
    return &cells[slot];
}

#endif /* HTW_SRC_BASE_SLAB_H */
