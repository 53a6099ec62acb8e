/* SPDX-License-Identifier: MIT */
/* readers.c - the parts of the journal that read the file, or move rows within it: each takes a step in turn. */
#include "../base/clock.h"
#include "reader.h"

#include <errno.h>

/* Of all, where there is no memory, or another program has locked the file. */
#define PAUSE_NS (100 * HTW_MILLISECOND)

bool htw__readers_have_work(const struct htw_journal *journal) {
    if (journal->slot_count == 0 || journal->is_closing || journal->has_failed ||
        (journal->reader.paused_ns != 0 && htw__clock_monotonic_ns() < journal->reader.paused_ns))
        return false;
    return htw__reader_has_work(journal) || htw__window_has_work(journal);
}

static void pause_or_stop(struct htw_journal *journal, int error) {
    if (error == -ENOMEM || error == -EBUSY)
        journal->reader.paused_ns = htw__clock_monotonic_ns() + PAUSE_NS;
    else if (error != 0)
        htw__journal_stop(journal);
}

void htw__readers_step(struct htw_journal *journal) {
    journal->reader.paused_ns = 0;
    if (htw__reader_has_work(journal))
        pause_or_stop(journal, htw__reader_step(journal));
    if (!journal->has_failed && htw__window_has_work(journal))
        pause_or_stop(journal, htw__window_step(journal));
    pthread_cond_broadcast(&journal->read);
}
