/* SPDX-License-Identifier: MIT */
/* slab.c - the pages and the directory of a slab. */
#include "slab.h"

#include "annotate.h"
#include "assert.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(struct htw__cell) == 64, "a cell is a cache line");

#define PAGE_BYTES (HTW__SLAB_PAGE_CELLS * sizeof(struct htw__cell))

static size_t segment_pages(unsigned segment) {
    return (size_t)1 << (HTW__SLAB_FIRST_BITS + segment);
}

/* A segment is one block: its views, then its pages. */
static size_t segment_bytes(unsigned segment) {
    return segment_pages(segment) * (sizeof(struct htw__slab_view) + sizeof(struct htw__slab_page));
}

static struct htw__slab_view *segment_views(const struct htw__slab *slab, unsigned segment) {
    /* order: Under the lock under which it changes. */
    return atomic_load_explicit(&slab->views[segment], memory_order_relaxed);
}

static struct htw__slab_view *view_of(const struct htw__slab *slab,
                                      const struct htw__slab_page *page) {
    struct htw__slab_place place = htw__slab_place_of(page->number);
    return &segment_views(slab, place.segment)[place.offset];
}

static void set_fresh(const struct htw__slab *slab, struct htw__slab_page *page, uint32_t fresh) {
    page->fresh = fresh;
    /* order: A thread that finds the cell without the lock must see it initialized. [relaxed: `handle`]
       */
    atomic_store_explicit(&view_of(slab, page)->fresh, fresh, memory_order_release);
}

/* After set_fresh(): htw__slab_find() reads them in the other order. */
static void set_cells(const struct htw__slab *slab, struct htw__slab_page *page,
                      struct htw__cell *cells) {
    page->cells = cells;
    /* order: A thread that finds the new memory must see that its cells are not fresh yet. [relaxed:
       `add-page`] */
    atomic_store_explicit(&view_of(slab, page)->cells, cells, memory_order_release);
}

static struct htw__slab_page *page_of(const struct htw__slab *slab, const struct htw__cell *cell) {
    /* order: The page of a cell never changes. */
    return htw__slab_page(
        slab, htw__status_page(atomic_load_explicit(&cell->status, memory_order_relaxed)));
}

static struct htw__slab_page *first_of(const struct htw__link *ring) {
    return htw__ring_is_empty(ring) ? NULL
                                    : HTW_CONTAINER_OF(ring->_next, struct htw__slab_page, link);
}

/* Whether it has a free cell, and so is in `partial` or `empty`. */
static bool has_room(const struct htw__slab_page *page) {
    return page->free != HTW__SLAB_NONE || page->fresh < HTW__SLAB_PAGE_CELLS;
}

void htw__slab_init(struct htw__slab *slab, const struct htw_allocator *allocator,
                    uint32_t index_bits, uint32_t generation_bits) {
    *slab = (struct htw__slab) {
        /* The last index of 32 bits is HTW__SLAB_NONE. */
        .page_limit = (1u << (index_bits - HTW__SLAB_PAGE_BITS)) - (index_bits == 32),
        .generation_max = UINT32_MAX >> (32u - generation_bits),
        .allocator = *allocator,
    };
    htw__ring_init(&slab->partial);
    htw__ring_init(&slab->empty);
    htw__ring_init(&slab->unmapped);
}

void htw__slab_fini(struct htw__slab *slab) {
    for (uint32_t number = 0; number < slab->page_count; number++)
        htw__release(&slab->allocator, htw__slab_page(slab, number)->cells, PAGE_BYTES);
    for (unsigned i = 0; i < HTW__SLAB_SEGMENTS; i++)
        htw__release(&slab->allocator, segment_views(slab, i), segment_bytes(i));
}

struct htw__cell *htw__slab_allocate_page(const struct htw__slab *slab) {
    return htw__allocate(&slab->allocator, PAGE_BYTES);
}

void htw__slab_release_page(const struct htw__slab *slab, struct htw__cell *cells) {
    htw__release(&slab->allocator, cells, PAGE_BYTES);
}

static int create_segment(struct htw__slab *slab, unsigned segment) {
    struct htw__slab_view *views = htw__allocate(&slab->allocator, segment_bytes(segment));
    if (views == NULL)
        return -ENOMEM;
    size_t count = segment_pages(segment);
    for (size_t i = 0; i < count; i++) {
        atomic_init(&views[i].cells, NULL);
        atomic_init(&views[i].fresh, 0);
    }
    slab->pages[segment] = (struct htw__slab_page *)(void *)(views + count);
    /* order: A thread that finds the segment without the lock must see it initialized. [relaxed:
       `handle`] */
    atomic_store_explicit(&slab->views[segment], views, memory_order_release);
    return 0;
}

static int create_entry(struct htw__slab *slab, struct htw__slab_page **ret_page) {
    uint32_t number = slab->page_count;
    if (number == slab->page_limit)
        return -ENOMEM;
    struct htw__slab_place place = htw__slab_place_of(number);
    if (place.offset == 0) {
        int error = create_segment(slab, place.segment);
        if (error != 0)
            return error;
    }
    struct htw__slab_page *page = &slab->pages[place.segment][place.offset];
    page->number = number;
    page->min_generation = 1; /* so that no handle is 0 */
    slab->page_count++;
    *ret_page = page;
    return 0;
}

int htw__slab_add_page(struct htw__slab *slab, struct htw__cell *cells) {
    struct htw__slab_page *page = first_of(&slab->unmapped);
    int error = 0;
    if (page != NULL)
        htw__link_unlink(&page->link);
    else
        error = create_entry(slab, &page);
    if (error != 0)
        return error;
    page->used = 0;
    page->retired = false;
    page->free = HTW__SLAB_NONE;
    page->highest = page->min_generation;
    set_fresh(slab, page, 0);
    set_cells(slab, page, cells);
    htw__ring_push_front(&slab->empty, &page->link);
    slab->empty_count++;
    slab->present_count++;
    return 0;
}

/* Instead of the addresses of its cells, which go, that of its view tells what came before. */
static void hand_over_cells(const struct htw__slab *slab, const struct htw__slab_page *page) {
    for (uint32_t i = 0; i < page->fresh; i++)
        HTW__ANNOTATE_TAKE_OVER(&page->cells[i]);
    HTW__ANNOTATE_HAND_OVER(view_of(slab, page));
}

void htw__slab_take_over(const struct htw__slab *slab, uint32_t index) {
    struct htw__slab_place place = htw__slab_place_of(index >> HTW__SLAB_PAGE_BITS);
    const struct htw__slab_view *views = segment_views(slab, place.segment);
    const struct htw__cell *cell = htw__slab_find(slab, index);
    if (cell != NULL)
        HTW__ANNOTATE_TAKE_OVER(cell);
    if (views != NULL) /* after the cell, whose page may be released meanwhile */
        HTW__ANNOTATE_TAKE_OVER(&views[place.offset]);
}

struct htw__cell *htw__slab_remove_page(struct htw__slab *slab, uint32_t spare) {
    if (slab->empty_count <= spare)
        return NULL;
    struct htw__slab_page *page = first_of(&slab->empty);
    htw__link_unlink(&page->link);
    slab->empty_count--;
    struct htw__cell *cells = page->cells;
    slab->present_count--;
    if (HTW__ANNOTATED())
        hand_over_cells(slab, page);
    set_cells(slab, page, NULL);
    /* `highest` is the generation of a free cell: no handle has it yet. */
    page->min_generation = page->highest;
    if (!page->retired) /* a retired entry is never used again */
        htw__ring_push_front(&slab->unmapped, &page->link);
    return cells;
}

static struct htw__cell *allocate_from(const struct htw__slab *slab, struct htw__slab_page *page) {
    page->used++;
    if (page->free != HTW__SLAB_NONE) {
        struct htw__cell *cell = &page->cells[page->free];
        page->free = (uint32_t)cell->content[0];
        return cell;
    }
    uint32_t slot = page->fresh;
    struct htw__cell *cell = &page->cells[slot];
    memset(cell->content, 0, sizeof(cell->content));
    /* order: set_fresh() publishes it. */
    atomic_store_explicit(&cell->status,
                          (uint64_t)page->min_generation << 32 | (uint64_t)page->number
                                                                     << HTW__STATUS_STATE_BITS,
                          memory_order_relaxed);
    set_fresh(slab, page, slot + 1);
    return cell;
}

/* After each change of `partial`. */
static void set_current(struct htw__slab *slab) {
    slab->current = first_of(&slab->partial);
}

struct htw__cell *htw__slab_allocate_slow(struct htw__slab *slab, uint32_t *ret_index) {
    struct htw__slab_page *page = slab->current;
    if (page == NULL && (page = first_of(&slab->empty)) != NULL) {
        htw__link_unlink(&page->link);
        slab->empty_count--;
        htw__ring_push_front(&slab->partial, &page->link);
    }
    if (page == NULL)
        return NULL;
    struct htw__cell *cell = allocate_from(slab, page);
    if (!has_room(page))
        htw__link_unlink(&page->link);
    set_current(slab);
    *ret_index = page->number << HTW__SLAB_PAGE_BITS | (uint32_t)(cell - page->cells);
    return cell;
}

/* Puts a page into its ring again after one of its cells was freed. */
static void relist(struct htw__slab *slab, struct htw__slab_page *page, bool had_room) {
    if (had_room)
        htw__link_unlink(&page->link);
    if (has_room(page)) /* to the front: its freed cell is in the cache, and is used next */
        htw__ring_push_front(page->used == 0 ? &slab->empty : &slab->partial, &page->link);
    if (has_room(page) && page->used == 0)
        slab->empty_count++;
    set_current(slab);
}

void htw__slab_free_slow(struct htw__slab *slab, struct htw__cell *cell) {
    struct htw__slab_page *page = page_of(slab, cell);
    /* order: Under the lock; the cell is in use. */
    uint64_t status = atomic_load_explicit(&cell->status, memory_order_relaxed);
    bool had_room = has_room(page);
    HTW_ASSERT(page->used > 0);
    if (htw__status_generation(status) < slab->generation_max) {
        htw__slab_free_in_page(page, cell, status);
    } else { /* retired: in no list */
        page->used--;
        page->retired = true;
        /* order: The generation stays, so a thread that finds the cell without the lock takes the lock.
           */
        atomic_store_explicit(&cell->status, status & ~HTW__STATUS_STATE, memory_order_relaxed);
    }
    relist(slab, page, had_room);
}

uint64_t htw__slab_bytes(const struct htw__slab *slab) {
    uint64_t bytes = (uint64_t)slab->present_count * PAGE_BYTES;
    for (unsigned i = 0; i < HTW__SLAB_SEGMENTS; i++)
        if (segment_views(slab, i) != NULL)
            bytes += segment_bytes(i);
    return bytes;
}
