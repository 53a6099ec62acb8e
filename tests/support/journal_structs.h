/* SPDX-License-Identifier: MIT */
/*
 * journal_structs.h - the structs of a journal as expressions, and changes and leases of one job.
 *
 * What is not named is 0: a job is due at once, an update ends a job, a lease waits for nothing.
 */
#ifndef TESTS_JOURNAL_STRUCTS_H
#define TESTS_JOURNAL_STRUCTS_H

#include <htw/journal_inspect.h>

#include <stdio.h>
#include <string.h>

#define JOB(...) ((struct htw_job) { .struct_size = sizeof(struct htw_job), __VA_ARGS__ })
#define CHANGE(...) \
    ((struct htw_journal_change) { .struct_size = sizeof(struct htw_journal_change), __VA_ARGS__ })
#define UPDATE(...) \
    ((struct htw_job_update) { .struct_size = sizeof(struct htw_job_update), __VA_ARGS__ })
#define LEASE(...) ((struct htw_lease) { .struct_size = sizeof(struct htw_lease), __VA_ARGS__ })

/** Members of a job. */
#define TEXT(text) .payload = (text), .payload_size = strlen(text)
#define KEY(text) .key = (text), .key_size = strlen(text)

/** Puts a job, and waits; sets its id. */
static inline int journal_put_job(struct htw_journal *journal, struct htw_job *job) {
    return htw_journal_apply(journal, &CHANGE(.jobs = job, .job_count = 1));
}

/** Makes a step of a job, and waits. */
static inline int journal_step(struct htw_journal *journal, uint64_t id, enum htw_job_step step,
                               uint32_t attempt, int64_t deadline_ns) {
    return htw_journal_update(
        journal, &UPDATE(.id = id, .step = step, .attempt = attempt, .deadline_ns = deadline_ns));
}

/** Leases the first job of a queue, if there is one now. */
static inline int journal_lease_one(struct htw_journal *journal, const char *queue, bool is_durable,
                                    htw_leased *leased, void *arg) {
    return htw_journal_lease(
        journal, &LEASE(.queues = &queue, .queue_count = 1, .is_durable = is_durable), leased, arg);
}

static inline void journal_note_problem(void *context, const char *problem) {
    snprintf(context, 256, "%s", problem);
}

/** What htw_journal_check() finds in a file, or NULL. */
static inline const char *journal_problem_of(const char *path) {
    static char problem[256];
    struct htw_journal *journal;
    problem[0] = '\0';
    if (htw_journal_open_to_read(&journal, path, NULL) != 0)
        return htw_journal_error();
    if (htw_journal_check(journal, journal_note_problem, problem) != 0)
        journal_note_problem(problem, htw_journal_error());
    (void)htw_journal_close(journal);
    return problem[0] == '\0' ? NULL : problem;
}

#endif /* TESTS_JOURNAL_STRUCTS_H */
