/* SPDX-License-Identifier: MIT */
/* writer_waits.h - for tests that see the inside of a journal. */
#ifndef TESTS_JOURNAL_WRITER_WAITS_H
#define TESTS_JOURNAL_WRITER_WAITS_H

#include "../../../src/journal/state.h"

#include <unistd.h>

/* Whether the writer comes to wait for the database, which another thread has, within 10 s. */
static inline bool writer_waits(struct htw_journal *journal) {
    bool waits = false;
    for (int i = 0; i < 10000 && !waits; i++) {
        usleep(1000);
        pthread_mutex_lock(&journal->mutex.mutex);
        waits = journal->writer_waits;
        pthread_mutex_unlock(&journal->mutex.mutex);
    }
    return waits;
}

#endif /* TESTS_JOURNAL_WRITER_WAITS_H */
