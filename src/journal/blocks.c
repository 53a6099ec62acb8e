/* SPDX-License-Identifier: MIT */
/* blocks.c - which blocks of ids are in the file. */
#include "blocks.h"

#include "../base/random.h"
#include "ids.h"

#include <string.h>

/* So many jobs of a block a look counts: few, unless others of it have ended before. */
#define LOOK 16u
#define LOOK_AGAIN HTW__BLOCK_IDS
#define LEFT_BITS 9u
_Static_assert(LOOK_AGAIN < 1u << LEFT_BITS, "they fit below the number of the block");

/* 0 is that of no id. */
static uint64_t number_of(uint64_t id) {
    return id / HTW__BLOCK_IDS + 1;
}

static uint64_t *stored_entry(struct htw__blocks *self, uint64_t id) {
    return &self->stored[htw__random_mix(number_of(id)) % HTW__BLOCKS_STORED];
}

static uint64_t *left_entry(struct htw__blocks *self, uint64_t id) {
    return &self->left[htw__random_mix(number_of(id)) % HTW__BLOCKS_LEFT];
}

static bool is_of_block(uint64_t left, uint64_t id) {
    return left >> LEFT_BITS == number_of(id);
}

/* ---- rows */

int64_t htw__blocks_read(struct htw__database *self, uint64_t *next, uint64_t last,
                         struct htw__scan_row *rows, size_t capacity, bool *ret_more) {
    enum htw__statement which = htw__database_has_moved(self) ? HTW__SCAN_UNMOVED : HTW__SCAN;
    struct sqlite3_stmt *statement = self->statements[which];
    sqlite3_bind_int64(statement, 1, (int64_t)*next);
    sqlite3_bind_int64(statement, 2, (int64_t)last);
    sqlite3_bind_int64(statement, 3, (int64_t)capacity);
    int64_t count = 0;
    size_t read = 0;
    int result;
    while ((result = htw__statement_step(self, which)) == SQLITE_ROW) {
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
    return result == SQLITE_DONE ? count : htw__database_fail(self, result);
}

int htw__blocks_use(struct htw__database *self, uint64_t id, uint64_t place) {
    uint64_t first = id - id % HTW__BLOCK_IDS, *entry = stored_entry(&self->blocks, id);
    uint64_t *left = left_entry(&self->blocks, id);
    *left = is_of_block(*left, id) ? *left + 1 : number_of(id) << LEFT_BITS | 1;
    if (*entry == number_of(id))
        return 0;
    struct sqlite3_stmt *statement = self->statements[HTW__STORE_BLOCK];
    sqlite3_bind_int64(statement, 1, (int64_t)place);
    sqlite3_bind_int64(statement, 2, (int64_t)first);
    sqlite3_bind_int64(statement, 3, (int64_t)(first + HTW__BLOCK_IDS - 1));
    int error = htw__statement_run(self, HTW__STORE_BLOCK);
    if (error == 0)
        *entry = number_of(id);
    return error;
}

static int remove_block(struct htw__database *self, uint64_t place, uint64_t first) {
    struct sqlite3_stmt *statement = self->statements[HTW__DELETE_BLOCK];
    uint64_t *entry = stored_entry(&self->blocks, first);
    if (*entry == number_of(first))
        *entry = 0;
    sqlite3_bind_int64(statement, 1, (int64_t)place);
    sqlite3_bind_int64(statement, 2, (int64_t)first);
    return htw__statement_run(self, HTW__DELETE_BLOCK);
}

/* What a look at a block has found. */
struct look {
    bool exists; /* its row */
    uint64_t first, last;
    unsigned jobs; /* at least */
};

/* Jobs that were moved do not count. A block of format 1 may have very many of them: then it may have others. */
static int count_jobs(struct htw__database *self, struct look *look, unsigned most) {
    enum htw__statement which =
        htw__database_has_moved(self) ? HTW__COUNT_UNMOVED : HTW__COUNT_JOBS;
    struct sqlite3_stmt *statement = self->statements[which];
    sqlite3_bind_int64(statement, 1, (int64_t)look->first);
    sqlite3_bind_int64(statement, 2, (int64_t)look->last);
    sqlite3_bind_int64(statement, 3, most);
    int result = htw__statement_step(self, which);
    if (result != SQLITE_ROW)
        return htw__database_fail(self, result);
    unsigned rows = (unsigned)sqlite3_column_int64(statement, 0);
    look->jobs = rows - (unsigned)sqlite3_column_int64(statement, 1);
    sqlite3_reset(statement);
    bool is_sure = look->jobs > 0 || rows < most || look->last - look->first < most;
    if (!is_sure && most < LOOK_AGAIN)
        return count_jobs(self, look, LOOK_AGAIN);
    look->jobs += !is_sure;
    return 0;
}

static int look_at(struct htw__database *self, uint64_t id, uint64_t place, unsigned most,
                   struct look *look) {
    struct sqlite3_stmt *statement = self->statements[HTW__BLOCK_OF];
    sqlite3_bind_int64(statement, 1, (int64_t)place);
    sqlite3_bind_int64(statement, 2, (int64_t)id);
    int result = htw__statement_step(self, HTW__BLOCK_OF);
    *look = (struct look) { .exists = result == SQLITE_ROW };
    if (result != SQLITE_ROW)
        return result == SQLITE_DONE ? 0 : htw__database_fail(self, result);
    look->first = (uint64_t)sqlite3_column_int64(statement, 0);
    look->last = (uint64_t)sqlite3_column_int64(statement, 1);
    sqlite3_reset(statement);
    return count_jobs(self, look, most);
}

/* ---- the ring */

static bool add(struct htw__blocks *self, uint64_t id, uint64_t place) {
    if (self->count == HTW__BLOCKS_EMPTY)
        return false;
    const struct htw__empty_block *newest =
        &self->empty[(self->first + self->count - 1) % HTW__BLOCKS_EMPTY];
    if (self->count == 0 || number_of(newest->id) != number_of(id))
        self->empty[(self->first + self->count++) % HTW__BLOCKS_EMPTY] =
            (struct htw__empty_block) { place, id };
    return true;
}

void htw__blocks_found_empty(struct htw__blocks *self, uint64_t first, uint64_t place) {
    (void)add(self, first, place);
}

int htw__blocks_sweep(struct htw__database *self, size_t rest) {
    struct htw__blocks *blocks = &self->blocks;
    int error = 0;
    while (blocks->count > rest && error == 0) {
        struct htw__empty_block block = blocks->empty[blocks->first];
        struct look look;
        blocks->first = (blocks->first + 1) % HTW__BLOCKS_EMPTY;
        blocks->count--;
        error = look_at(self, block.id, block.place, HTW__BLOCK_IDS, &look);
        if (error == 0 && look.exists && look.jobs == 0)
            error = remove_block(self, block.place, look.first);
    }
    return error;
}

/* ---- ends */

bool htw__blocks_have_more(struct htw__blocks *self, uint64_t id) {
    uint64_t left = *left_entry(self, id);
    return is_of_block(left, id) && left % (1u << LEFT_BITS) > 1;
}

/* Blocks of format 1 have other numbers, and are looked at each time. */
int htw__blocks_leave(struct htw__database *self, uint64_t id, uint64_t place) {
    uint64_t *left = left_entry(&self->blocks, id);
    if (htw__blocks_have_more(&self->blocks, id)) {
        --*left;
        return 0;
    }
    struct look look;
    int error = look_at(self, id, place, is_of_block(*left, id) ? LOOK_AGAIN : LOOK, &look);
    *left = 0;
    if (error != 0 || !look.exists)
        return error;
    if (look.jobs == 0)
        return add(&self->blocks, id, place) ? 0 : remove_block(self, place, look.first);
    if (look.last - look.first < HTW__BLOCK_IDS)
        *left = number_of(id) << LEFT_BITS | look.jobs;
    return 0;
}

/* ---- transactions */

void htw__blocks_begin(struct htw__blocks *self) {
    self->begun = self->first;
}

/* Those that were swept are still in the ring: nothing was added after that. */
void htw__blocks_undo(struct htw__blocks *self, bool is_whole) {
    memset(self->stored, 0, sizeof(self->stored));
    memset(self->left, 0, sizeof(self->left));
    if (!is_whole)
        return;
    self->count += (self->first - self->begun) % HTW__BLOCKS_EMPTY;
    self->first = self->begun;
}
