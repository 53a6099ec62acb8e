/* SPDX-License-Identifier: MIT */
/* actions.h - what `htw journal` can do. Each returns the exit status. */
#ifndef HTW_JOURNAL_ACTIONS_H
#define HTW_JOURNAL_ACTIONS_H

#include <htw/journal_inspect.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTW__STATE_ANY UINT32_MAX

struct htw__journal_request {
    const char *path;
    bool json;
    bool payload;      /* show: the bytes of the payload alone */
    const char *queue; /* NULL: of list all, otherwise the default one, as the empty name */
    uint32_t state;    /* list: enum htw_job_state; HTW__STATE_ANY: in any */
    uint64_t limit;    /* list, kick: the most jobs; UINT64_MAX: not said */
    const uint64_t *ids;
    size_t id_count;
    /* Of put, move and the other steps: */
    enum htw_job_step step;
    const char *done;    /* what JSON calls it */
    const char *key;     /* NULL: none */
    const char *content; /* the payload; NULL: standard input */
    int64_t deadline_ns;
    bool has_priority;
    uint32_t priority;
    /* Of lease: */
    const char *command; /* NULL: what is taken is printed */
    uint32_t attempts;   /* after so many it is buried; UINT32_MAX: never */
};

/* These read the file, also while a program has it open. */
int htw__journal_list(const struct htw__journal_request *request);
int htw__journal_show(const struct htw__journal_request *request);
int htw__journal_stats(const struct htw__journal_request *request);
int htw__journal_check(const struct htw__journal_request *request);

/* These open the journal. `step` makes a step of each job. */
int htw__journal_put(const struct htw__journal_request *request);
int htw__journal_step(const struct htw__journal_request *request);
int htw__journal_kick(const struct htw__journal_request *request);
int htw__journal_compact(const struct htw__journal_request *request);
int htw__journal_lease(const struct htw__journal_request *request);

/* What these share. Prints the error of the library, if it is one. */
bool htw__journal_succeeds(int error);

/* The size of a file; 0: there is none. */
uint64_t htw__journal_file_bytes(const char *path);

/* The queue as the library names it. */
const char *htw__journal_queue_of(const struct htw__journal_request *request);

/* Whether the file is a journal, and of what kind; if not, why was printed. */
bool htw__journal_identify(const char *path, bool *ret_is_guest);

/* Opens a journal for what a server is not asked to do. NULL: why not was printed. */
struct htw_journal *htw__journal_open_unserved(const char *path, bool is_guest,
                                               struct htw_scheduler *scheduler);

/* Runs the command; the first argument is the prefix of error messages. Returns the exit status. */
int htw__journal_command(int argc, char *argv[]);

#endif /* HTW_JOURNAL_ACTIONS_H */
