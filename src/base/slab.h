/* SPDX-License-Identifier: MIT */
/*
 * slab.h - cells of 64 bytes, each with an index and a generation.
 *
 * Index and generation name a cell. Freeing it raises the generation, so that an old name never
 * fits again; a cell whose generations are used up is retired. Cells are in pages of 4096. A page
 * with no cell in use can be released; its entry in the directory keeps the first generation of
 * its cells for when it gets memory again.
 *
 * The directory consists of segments that double in size and never move, so htw__slab_find() needs
 * no lock. But the page of the cell that it returns may be released, unless the caller prevents
 * that (scheduler/state.h says how). All other functions are called under the owner's lock, except
 * the two that allocate and release the memory of pages, which need none.
 */
#ifndef HTW_SRC_BASE_SLAB_H
#define HTW_SRC_BASE_SLAB_H

#include "alloc.h"
#include "compiler.h"
#include "list.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HTW__SLAB_PAGE_BITS 12u
#define HTW__SLAB_PAGE_CELLS (1u << HTW__SLAB_PAGE_BITS)
#define HTW__SLAB_FIRST_BITS 6u /* log2 of the pages in the first segment */
#define HTW__SLAB_SEGMENTS (32u - HTW__SLAB_PAGE_BITS - HTW__SLAB_FIRST_BITS + 1u)

#define HTW__SLAB_NONE UINT32_MAX /* no cell; no page */

/* `status` is, from the top: the generation (32 bits), the page (20), and the state (12), which the
   owner defines, except that 0 is free. The owner uses `content` while the cell is in use. */
struct htw__cell {
    uint64_t content[7];
    _Atomic uint64_t status;
};

#define HTW__STATUS_STATE_BITS 12u
#define HTW__STATUS_STATE ((UINT64_C(1) << HTW__STATUS_STATE_BITS) - 1)

/* What is read of a page without the lock: on cache lines that rarely change. */
struct htw__slab_view {
    struct htw__cell *_Atomic cells; /* NULL: released, or never there */
    _Atomic uint32_t fresh;          /* cells from here on were never used in this memory */
};

struct htw__slab_page {
    struct htw__cell *cells; /* as in the view, like `fresh` */
    uint32_t fresh;
    uint32_t used;           /* cells in use */
    uint32_t free;           /* the free cell that is used next; its content[0] is the one after */
    uint32_t min_generation; /* the generation with which fresh cells begin */
    uint32_t highest;        /* the highest generation of any cell freed in this memory */
    uint32_t number;
    bool retired;          /* one of its cells is; then so is the entry when the page is released */
    struct htw__link link; /* in a ring of the slab; full or exhausted: in none */
};

struct htw__slab {
    alignas(64) struct htw__slab_view *_Atomic views[HTW__SLAB_SEGMENTS];
    alignas(64) struct htw__slab_page *current; /* the first of `partial`; NULL: there is none */
    struct htw__link
        partial;            /* ring: pages with used and free cells; the last freed into is first */
    struct htw__link empty; /* ring: pages with no cell in use */
    struct htw__link unmapped; /* ring: entries whose page was released */
    struct htw__slab_page *pages[HTW__SLAB_SEGMENTS];
    uint32_t page_count;     /* entries of the directory in use or unmapped */
    uint32_t page_limit;     /* the most there may be */
    uint32_t generation_max; /* the last that fits into a handle */
    uint32_t empty_count;
    uint32_t present_count; /* pages that hold memory */
    struct htw_allocator allocator;
};

/* At most 2^`index_bits` cells (12 to 32), and 2^`generation_bits` generations (16 to 32). The slab must not move. */
void htw__slab_init(struct htw__slab *slab, const struct htw_allocator *allocator,
                    uint32_t index_bits, uint32_t generation_bits);

/* Releases all memory, in use or not. */
void htw__slab_fini(struct htw__slab *slab);

/* Memory for a page, NULL: there is none; and its release. Without the lock. */
struct htw__cell *htw__slab_allocate_page(const struct htw__slab *slab);
void htw__slab_release_page(const struct htw__slab *slab, struct htw__cell *cells);

/* Puts memory from htw__slab_allocate_page() to use. 0, or -ENOMEM: the directory could not grow,
   or all indices are in use; the memory still belongs to the caller. */
int htw__slab_add_page(struct htw__slab *slab, struct htw__cell *cells);

/* Removes a page without used cells, for htw__slab_release_page(), as long as there are more than
   `spare` of them; NULL: there are not. A page with all cells retired stays: that takes days. */
struct htw__cell *htw__slab_remove_page(struct htw__slab *slab, uint32_t spare);

/* Memory that the slab holds. */
uint64_t htw__slab_bytes(const struct htw__slab *slab);

static inline uint32_t htw__status_generation(uint64_t status) {
    return (uint32_t)(status >> 32);
}

static inline uint32_t htw__status_page(uint64_t status) {
    return (uint32_t)status >> HTW__STATUS_STATE_BITS;
}

/* The place of a page in the directory. */
struct htw__slab_place {
    unsigned segment;
    uint32_t offset;
};

static inline struct htw__slab_place htw__slab_place_of(uint32_t number) {
    uint32_t shifted = number + (1u << HTW__SLAB_FIRST_BITS);
    unsigned bit = 31u - (unsigned)__builtin_clz(shifted);
    return (struct htw__slab_place) { bit - HTW__SLAB_FIRST_BITS, shifted - (1u << bit) };
}

/* The entry of a page that has been used. */
static inline struct htw__slab_page *htw__slab_page(const struct htw__slab *slab, uint32_t number) {
    struct htw__slab_place place = htw__slab_place_of(number);
    return &slab->pages[place.segment][place.offset];
}

/* The index of a cell that is in use. */
static inline uint32_t htw__slab_index(const struct htw__slab *slab, const struct htw__cell *cell) {
    /* order: The page of a cell never changes. */
    uint32_t number = htw__status_page(atomic_load_explicit(&cell->status, memory_order_relaxed));
    struct htw__slab_place place = htw__slab_place_of(number);
    /* order: The cell is in use, so its page has long been there. */
    const struct htw__slab_view *views =
        atomic_load_explicit(&slab->views[place.segment], memory_order_relaxed);
    const struct htw__cell *first =
        atomic_load_explicit(&views[place.offset].cells, memory_order_relaxed);
    return number << HTW__SLAB_PAGE_BITS | (uint32_t)(cell - first);
}

/* The rare cases of the two functions below. */
struct htw__cell *htw__slab_allocate_slow(struct htw__slab *slab, uint32_t *ret_index);
void htw__slab_free_slow(struct htw__slab *slab, struct htw__cell *cell);

/* A free cell and its index; NULL: add a page. Its state is 0 until the owner sets it. Its content
   is zero at first, and later what its last owner left there, except content[0]. */
static inline struct htw__cell *htw__slab_allocate(struct htw__slab *slab, uint32_t *ret_index) {
    struct htw__slab_page *page = slab->current;
    if (HTW__UNLIKELY(page == NULL || page->free == HTW__SLAB_NONE))
        return htw__slab_allocate_slow(slab, ret_index);
    uint32_t slot = page->free;
    struct htw__cell *cell = &page->cells[slot];
    uint32_t next = (uint32_t)cell->content[0];
    if (HTW__UNLIKELY(next == HTW__SLAB_NONE && page->fresh == HTW__SLAB_PAGE_CELLS))
        return htw__slab_allocate_slow(slab, ret_index);
    /* Another CPU may have freed it: fetch it for the next call. */
    HTW__PREFETCH(&page->cells[next & (HTW__SLAB_PAGE_CELLS - 1)]);
    page->free = next;
    page->used++;
    *ret_index = page->number << HTW__SLAB_PAGE_BITS | slot;
    return cell;
}

/* Gives a cell the next generation, and the state 0. A thread that finds this generation without the
   lock sees what came before: a cancel from another CPU, that the timer has ended. */
static inline void htw__slab_raise_generation(struct htw__slab_page *page, struct htw__cell *cell,
                                              uint64_t status) {
    uint32_t generation = htw__status_generation(status) + 1;
    if (page->highest < generation)
        page->highest = generation;
    /* order: A thread that finds the new generation without the lock, a foreign cancel, must see that
       the timer has ended. [relaxed: `gone`] */
    atomic_store_explicit(&cell->status,
                          (uint64_t)generation << 32 | ((uint32_t)status & ~HTW__STATUS_STATE),
                          memory_order_release);
}

/* Puts a cell on the list of free cells of its page. */
static inline void htw__slab_free_in_page(struct htw__slab_page *page, struct htw__cell *cell,
                                          uint64_t status) {
    page->used--;
    cell->content[0] = page->free;
    page->free = (uint32_t)(cell - page->cells);
    htw__slab_raise_generation(page, cell, status);
}

/* Frees a cell. */
static inline void htw__slab_free(struct htw__slab *slab, struct htw__cell *cell) {
    struct htw__slab_page *page = slab->current;
    /* order: Under the lock; the cell is in use. */
    uint64_t status = atomic_load_explicit(&cell->status, memory_order_relaxed);
    if (HTW__UNLIKELY(page == NULL || page->number != htw__status_page(status) || page->used == 1 ||
                      htw__status_generation(status) == slab->generation_max))
        htw__slab_free_slow(slab, cell);
    else
        htw__slab_free_in_page(page, cell, status);
}

/* Frees a cell and allocates it again. False: it has no generation left, and is retired. */
static inline bool htw__slab_renew(struct htw__slab *slab, struct htw__cell *cell) {
    /* order: Under the lock; the cell is in use. */
    uint64_t status = atomic_load_explicit(&cell->status, memory_order_relaxed);
    if (HTW__UNLIKELY(htw__status_generation(status) == slab->generation_max)) {
        htw__slab_free_slow(slab, cell);
        return false;
    }
    htw__slab_raise_generation(htw__slab_page(slab, htw__status_page(status)), cell, status);
    return true;
}

/* The cell of an index, whatever its generation; NULL: there is none. */
static inline struct htw__cell *htw__slab_find(const struct htw__slab *slab, uint32_t index) {
    uint32_t slot = index & (HTW__SLAB_PAGE_CELLS - 1);
    struct htw__slab_place place = htw__slab_place_of(index >> HTW__SLAB_PAGE_BITS);
    /* order: The segment must be seen initialized. [relaxed: `handle`] */
    const struct htw__slab_view *views =
        atomic_load_explicit(&slab->views[place.segment], memory_order_acquire);
    if (views == NULL)
        return NULL;
    const struct htw__slab_view *view = &views[place.offset];
    /* order: `fresh`, read next, must not be that of memory which was there before. [relaxed:
       `add-page`] */
    struct htw__cell *cells = atomic_load_explicit(&view->cells, memory_order_acquire);
    /* A cell that was never used is not initialized. */
    /* order: The cell must be seen initialized. [relaxed: `handle`] */
    if (cells == NULL || slot >= atomic_load_explicit(&view->fresh, memory_order_acquire))
        return NULL;
    return &cells[slot];
}

/* Under a race detector only: what a thread handed over with a cell of this index (HTW__ANNOTATE_HAND_OVER)
   is visible now, also if the page of the cell was released. */
void htw__slab_take_over(const struct htw__slab *slab, uint32_t index);

#endif /* HTW_SRC_BASE_SLAB_H */
