/* SPDX-License-Identifier: MIT */
/* readers.c - the parts of the journal that read the file, or move rows within it: each takes a step in turn. */

#include "history.h"
#include "reader.h"
#include "recurring.h"

static const struct {
    bool (*has_work)(const struct htw_journal *journal);
    void (*step)(struct htw_journal *journal);
} readers[] = {
    { htw__reader_has_work, htw__reader_step },
    { htw__window_has_work, htw__window_step },
    { htw__history_has_work, htw__history_step },
    { htw__recurring_has_work, htw__recur_step },
};
enum { READERS = sizeof(readers) / sizeof(readers[0]) };

bool htw__readers_have_work(const struct htw_journal *journal) {
    bool have_work = false;
    for (size_t i = 0; i < READERS && !have_work; i++)
        have_work = readers[i].has_work(journal);
    return have_work;
}

void htw__readers_step(struct htw_journal *journal) {
    for (size_t i = 0; i < READERS; i++)
        if (readers[i].has_work(journal))
            readers[i].step(journal);
}
