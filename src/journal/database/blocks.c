/* SPDX-License-Identifier: MIT */
/* blocks.c - ids, in blocks, and which blocks are in the file. */
#include "blocks.h"

#include "../../base/random.h"
#include "statements.h"

#include <string.h>

/* So many jobs of a block a look counts: few, unless others of it have ended before. */
#define LOOK 16u
#define COUNT_BITS 9u
_Static_assert(HTW__BLOCK_IDS < 1u << COUNT_BITS, "they fit below the number of the block");

static uint64_t first_of(uint64_t id) {
    return id - id % HTW__BLOCK_IDS;
}

/* 0 is that of no id. */
static uint64_t number_of(uint64_t id) {
    return id / HTW__BLOCK_IDS + 1;
}

static uint64_t *entry_of(struct htw__blocks *self, uint64_t id) {
    return &self->known[htw__random_mix(number_of(id)) % HTW__BLOCKS_KNOWN];
}

static bool is_of_block(uint64_t entry, uint64_t id) {
    return entry >> COUNT_BITS == number_of(id);
}

/* ---- giving ids */

/* The place is the first of its set after this. The set forgets the one that was used longest ago. */
static struct htw__open_block *find(struct htw__ids *self, uint64_t place) {
    struct htw__open_block *set = self->open[htw__random_mix(place) % HTW__IDS_SETS];
    struct htw__open_block found = { .place = place };
    size_t way = 0;
    while (way < HTW__IDS_WAYS - 1 && set[way].place != place)
        way++;
    if (set[way].place == place)
        found = set[way];
    memmove(set + 1, set, way * sizeof(*set));
    set[0] = found;
    return set;
}

uint64_t htw__ids_give(struct htw__ids *self, uint64_t place) {
    struct htw__open_block *block = find(self, place);
    if (block->next % HTW__BLOCK_IDS == 0) {
        block->next = self->next_block;
        self->next_block += HTW__BLOCK_IDS;
    }
    return block->next++;
}

/* ---- rows */

int64_t htw__blocks_read(struct htw__database *self, uint64_t *next, uint64_t last,
                         struct htw__scan_row *rows, size_t capacity, bool *ret_more) {
    struct sqlite3_stmt *statement = self->sqlite->statements[HTW__SCAN];
    int64_t count = 0;
    size_t read = 0;
    int result;
    htw__statement_bind(self, HTW__SCAN,
                        HTW__NUMBERS((int64_t)*next, (int64_t)last, (int64_t)capacity));
    while ((result = htw__statement_step(self, HTW__SCAN)) == 1) {
        uint64_t id = (uint64_t)sqlite3_column_int64(statement, 0);
        if (id < *next || id > last) { /* pages that lead back: reading would not end */
            sqlite3_reset(statement);
            return htw__database_distrust(self, "the table of jobs is damaged");
        }
        *next = id + 1;
        read++;
        if (sqlite3_column_int64(statement, 3) == 0)
            rows[count++] =
                (struct htw__scan_row) { .id = id,
                                         .deadline_ns = sqlite3_column_int64(statement, 1),
                                         .rank = sqlite3_column_int64(statement, 2) };
    }
    *ret_more = read == capacity;
    return result == 0 ? count : result;
}

int htw__blocks_use(struct htw__database *self, uint64_t id, uint64_t place) {
    uint64_t first = first_of(id), *entry = entry_of(&self->sqlite->blocks, id);
    if (is_of_block(*entry, id)) {
        ++*entry;
        return 0;
    }
    int error =
        htw__statement_run(self, HTW__STORE_BLOCK, HTW__NUMBERS((int64_t)place, (int64_t)first));
    if (error == 0)
        *entry = number_of(id) << COUNT_BITS | 1;
    return error;
}

static int remove_block(struct htw__database *self, uint64_t place, uint64_t id) {
    uint64_t *entry = entry_of(&self->sqlite->blocks, id);
    if (is_of_block(*entry, id))
        *entry = 0;
    return htw__statement_run(self, HTW__DELETE_BLOCK,
                              HTW__NUMBERS((int64_t)place, (int64_t)first_of(id)));
}

/* The jobs of the block of this id, those alone that were not moved: at least, if there are more rows than `most`. */
static int count_jobs(struct htw__database *self, uint64_t id, unsigned most, unsigned *ret_jobs) {
    struct sqlite3_stmt *statement = self->sqlite->statements[HTW__COUNT_JOBS];
    uint64_t first = first_of(id);
    int result = htw__statement_run(
        self, HTW__COUNT_JOBS,
        HTW__NUMBERS((int64_t)first, (int64_t)(first + HTW__BLOCK_IDS - 1), most));
    if (result < 0)
        return result;
    unsigned rows = (unsigned)sqlite3_column_int64(statement, 0);
    *ret_jobs = rows - (unsigned)sqlite3_column_int64(statement, 1);
    sqlite3_reset(statement);
    bool is_sure = *ret_jobs > 0 || rows < most || most >= HTW__BLOCK_IDS;
    return is_sure ? 0 : count_jobs(self, id, HTW__BLOCK_IDS, ret_jobs);
}

/* ---- the ring */

/* Then a sweep will count its jobs. */
static bool is_newest(const struct htw__blocks *self, uint64_t id) {
    size_t newest = (self->first + self->count - 1) % HTW__BLOCKS_EMPTY;
    return self->count > 0 && number_of(self->empty[newest].id) == number_of(id);
}

static bool add(struct htw__blocks *self, uint64_t id, uint64_t place) {
    bool is_there = is_newest(self, id), has_room = self->count < HTW__BLOCKS_EMPTY;
    if (!is_there && has_room)
        self->empty[(self->first + self->count++) % HTW__BLOCKS_EMPTY] =
            (struct htw__empty_block) { place, id };
    return is_there || has_room;
}

void htw__blocks_found_empty(struct htw__blocks *self, uint64_t first, uint64_t place) {
    (void)add(self, first, place);
}

int htw__blocks_sweep(struct htw__database *self, size_t rest) {
    struct htw__blocks *blocks = &self->sqlite->blocks;
    int error = 0;
    while (blocks->count > rest && error == 0) {
        struct htw__empty_block block = blocks->empty[blocks->first];
        unsigned jobs;
        blocks->first = (blocks->first + 1) % HTW__BLOCKS_EMPTY;
        blocks->count--;
        error = count_jobs(self, block.id, HTW__BLOCK_IDS, &jobs);
        if (error == 0 && jobs == 0)
            error = remove_block(self, block.place, block.id);
    }
    return error;
}

/* ---- ends */

bool htw__blocks_know(struct htw__blocks *self, uint64_t id) {
    uint64_t entry = *entry_of(self, id);
    return (is_of_block(entry, id) && entry % (1u << COUNT_BITS) > 1) || is_newest(self, id);
}

int htw__blocks_leave(struct htw__database *self, uint64_t id, uint64_t place) {
    uint64_t *entry = entry_of(&self->sqlite->blocks, id);
    bool has_row = is_of_block(*entry, id), knows = htw__blocks_know(&self->sqlite->blocks, id);
    *entry -= has_row && *entry % (1u << COUNT_BITS) > 0;
    if (knows || id >= self->ids_end) /* of no block */
        return 0;
    unsigned jobs;
    int error = count_jobs(self, id, has_row ? HTW__BLOCK_IDS : LOOK, &jobs);
    if (error != 0)
        return error;
    if (jobs == 0 && !add(&self->sqlite->blocks, id, place))
        return remove_block(self, place, id);
    if (jobs > 0 || has_row)
        *entry = number_of(id) << COUNT_BITS | jobs;
    return 0;
}

/* ---- transactions */

void htw__blocks_begin(struct htw__blocks *self) {
    self->begun = self->first;
}

/* Those that were swept are still in the ring: nothing was added after that. */
void htw__blocks_undo(struct htw__blocks *self) {
    memset(self->known, 0, sizeof(self->known));
    self->count += (self->first - self->begun) % HTW__BLOCKS_EMPTY;
    self->first = self->begun;
}
