/* SPDX-License-Identifier: MIT */
/* slab.c - a thread finds a cell without the lock, while another one adds the page, uses the cell and frees it. What it
   finds was initialized, and a generation that it finds tells what came before the cell was freed. */
#include "base/slab.c"

static struct htw__slab slab;
static struct htw__cell *cells;
static int handed_over; /* plain: ordered by the generation alone */

void *htw__allocate(const struct htw_allocator *allocator, size_t size) {
    (void)allocator;
    return PROOF_ALLOCATE(size);
}

void htw__release(const struct htw_allocator *allocator, void *memory, size_t size) {
    (void)allocator, (void)memory, (void)size;
}

static void *use(void *unused) {
    uint32_t index;
    REQUIRE(htw__slab_add_page(&slab, cells) == 0);
    struct htw__cell *cell = htw__slab_allocate(&slab, &index);
    REQUIRE(cell == &cells[0] && index == 0);
    handed_over = 1;
    htw__slab_free(&slab, cell);
    return unused;
}

static void *find(void *unused) {
    struct htw__cell *cell = htw__slab_find(&slab, 0);
    if (cell == NULL)
        return unused;
    uint64_t status = atomic_load_explicit(&cell->status, memory_order_acquire);
    REQUIRE(htw__status_page(status) == 0);
    REQUIRE(htw__status_generation(status) >= 1);
    if (htw__status_generation(status) == 2)
        REQUIRE(handed_over == 1);
    return unused;
}

int main(void) {
    proof_thread first, second;
    /* As htw__slab_init(), which copies a structure. */
    slab.page_limit = 1;
    slab.generation_max = UINT32_MAX;
    slab.partial = slab.empty = slab.exhausted = slab.unmapped = HTW__SLAB_NONE;
    cells = PROOF_ALLOCATE(2 * sizeof(*cells));
    PROOF_START(first, use);
    PROOF_START(second, find);
    PROOF_JOIN(first);
    PROOF_JOIN(second);
    return 0;
}
