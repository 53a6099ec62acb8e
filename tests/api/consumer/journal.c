/* SPDX-License-Identifier: MIT */
/* journal.c - a program outside htw's tree that uses libhtw-journal: puts a job into a new file. Prints the version. */
#include <htw/journal.h>

#include <stdio.h>

int main(void) {
    struct htw_scheduler *scheduler;
    struct htw_journal *journal;
    printf("%s\n", htw_version());
    remove("journal");
    if (htw_scheduler_create(&scheduler, NULL) != 0 ||
        htw_journal_open(&journal, scheduler, "journal", NULL) != 0 ||
        htw_journal_put(journal, HTW_NEVER_NS, "hello", 5, NULL) != 0 ||
        htw_journal_close(journal) != 0)
        return 1;
    htw_scheduler_destroy(scheduler);
    return 0;
}
