/* SPDX-License-Identifier: MIT */
/* recurring.c - the rules by which jobs come again, and putting these. */
#include "change.h"
#include "reader.h"
#include "snapshot.h"

#include "../base/user_code.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

/* Until a rule that could not be obeyed is tried again. */
#define RETRY_NS HTW_SECOND

/* Rules whose changes wait to be written. */
#define UNDER_WAY_MAX 64u

/* ---- rows */

static const char *text_of(struct sqlite3_stmt *row, int column) {
    return (const char *)sqlite3_column_text(row, column);
}

static bool is_name(const char *text, size_t most) {
    return text != NULL && *text != '\0' && memchr(text, 0, most + 1) != NULL;
}

static bool is_valid(const struct htw_recurring *rule) {
    return is_name(rule->name, HTW_RECURRING_NAME_MAX) &&
           is_name(rule->schedule, HTW_RECURRING_SCHEDULE_MAX) &&
           (rule->zone == NULL || is_name(rule->zone, HTW_RECURRING_NAME_MAX)) &&
           rule->grace_ns >= 0 && rule->catch_up <= HTW_RECURRING_CATCH_UP_MAX;
}

/* Of a statement of one row, which is valid until end_reading(). 1, 0: no row; or an error. */
static int read_rule(struct htw__database *database, enum htw__statement which, const char *name,
                     struct htw_recurring *rule) {
    struct sqlite3_stmt *row = database->statements[which];
    htw__statement_bind_blob(row, 1, name, strlen(name));
    int result = htw__statement_step(database, which);
    if (result != 1)
        return result;
    *rule = (struct htw_recurring)HTW_RECURRING_INIT;
    rule->name = text_of(row, 0);
    rule->next_ns = sqlite3_column_int64(row, 1);
    rule->schedule = text_of(row, 2);
    rule->zone = text_of(row, 3);
    rule->grace_ns = sqlite3_column_int64(row, 4);
    rule->catch_up = (uint32_t)sqlite3_column_int64(row, 5);
    rule->job.queue = text_of(row, 6);
    rule->job.priority = (uint32_t)sqlite3_column_int64(row, 7);
    rule->job.flags = (uint32_t)sqlite3_column_int64(row, 8);
    rule->job.lease_ns = sqlite3_column_int64(row, 9);
    bool has_key = sqlite3_column_type(row, 10) != SQLITE_NULL;
    rule->job.key = sqlite3_column_blob(row, 10);
    rule->job.key_size = (size_t)sqlite3_column_bytes(row, 10);
    rule->job.payload = sqlite3_column_blob(row, 11);
    rule->job.payload_size = (size_t)sqlite3_column_bytes(row, 11);
    if ((sqlite3_errcode(database->connection) & 0xff) == SQLITE_NOMEM)
        return htw__database_fail(database, SQLITE_NOMEM);
    if (has_key && rule->job.key == NULL)
        rule->job.key = "";
    return is_valid(rule) ? 1 : htw__database_distrust(database, "a recurring job is damaged");
}

static void end_reading(struct htw__database *database) {
    sqlite3_reset(database->statements[HTW__READ_RECURRING]);
    sqlite3_reset(database->statements[HTW__LIST_RECURRING]);
    sqlite3_reset(database->statements[HTW__NEXT_RECURRING]);
}

static int read_due(struct htw__database *database, int64_t now, int64_t after_ns, const char *name,
                    struct htw_recurring *ret_rule) {
    sqlite3_bind_int64(database->statements[HTW__NEXT_RECURRING], 2, now);
    sqlite3_bind_int64(database->statements[HTW__NEXT_RECURRING], 3, after_ns);
    return read_rule(database, HTW__NEXT_RECURRING, name, ret_rule);
}

/* ---- changes of the rules */

static void bind_text(struct sqlite3_stmt *statement, int index, const char *text) {
    htw__statement_bind_optional(statement, index, text, text == NULL ? 0 : strlen(text));
}

static int store_row(struct htw__database *database, const struct htw_recurring *rule,
                     int64_t next_ns) {
    struct sqlite3_stmt *statement = database->statements[HTW__STORE_RECURRING];
    const struct htw_job *job = &rule->job;
    bind_text(statement, 1, rule->name);
    sqlite3_bind_int64(statement, 2, next_ns);
    bind_text(statement, 3, rule->schedule);
    bind_text(statement, 4, rule->zone);
    sqlite3_bind_int64(statement, 5, rule->grace_ns);
    sqlite3_bind_int64(statement, 6, rule->catch_up);
    bind_text(statement, 7, job->queue);
    sqlite3_bind_int64(statement, 8, job->priority);
    sqlite3_bind_int64(statement, 9, job->flags);
    sqlite3_bind_int64(statement, 10, job->lease_ns);
    htw__statement_bind_optional(statement, 11, job->key, job->key_size);
    htw__statement_bind_blob(statement, 12, job->payload, job->payload_size);
    int error = htw__statement_step(database, HTW__STORE_RECURRING);
    sqlite3_clear_bindings(statement);
    return error;
}

static bool is_same(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

int htw__recurring_write(struct htw_journal *journal, const struct htw_recurring *rule) {
    struct htw__database *database = &journal->database;
    struct htw_recurring before;
    int64_t next_ns = rule->next_ns;
    int result = read_rule(database, HTW__READ_RECURRING, rule->name, &before);
    if (result < 0)
        return result;
    if (result == 1 && rule->after_ns == 0 && before.next_ns != INT64_MIN &&
        is_same(before.schedule, rule->schedule) && is_same(before.zone, rule->zone))
        next_ns = before.next_ns;
    end_reading(database);
    if (rule->schedule != NULL)
        return store_row(database, rule, next_ns);
    bind_text(database->statements[HTW__DELETE_RECURRING], 1, rule->name);
    return result == 1 ? htw__statement_step(database, HTW__DELETE_RECURRING) : -ENOENT;
}

/* ---- instants */

static int instant_after(const struct htw_journal *journal, const struct htw_recurring *rule,
                         int64_t after_ns, int64_t *ret_next_ns) {
    int error;
    HTW__CALL_USER("next_instant", journal, journal->next_instant,
                   error =
                       journal->next_instant(rule->schedule, rule->zone, after_ns, ret_next_ns));
    return error == 0 && *ret_next_ns <= after_ns ? -EINVAL : error;
}

int htw__recurring_prepare(const struct htw_journal *journal, const struct htw_recurring *wanted,
                           struct htw_recurring *ret_rule) {
    if (wanted->struct_size != sizeof(*wanted) || !is_valid(wanted))
        return htw__journal_fail_as(-EINVAL, "a recurring job is not valid");
    *ret_rule = *wanted;
    ret_rule->next_ns = INT64_MIN;
    if (journal->next_instant == NULL)
        return 0;
    int64_t after_ns = wanted->after_ns == 0 ? htw__journal_now(journal) : wanted->after_ns;
    int error = instant_after(journal, wanted, after_ns, &ret_rule->next_ns);
    return error == 0 ? 0
                      : htw__journal_fail(error, "the schedule or zone of %s is not valid: %s",
                                          wanted->name, htw_strerror(error));
}

/* ---- which instants are put */

/* The last instant up to `end_ns`, from the next one of the rule on. By halves: instants of later times are later, or the
   same. */
static int last_instant(const struct htw_journal *journal, const struct htw_recurring *rule,
                        int64_t end_ns, int64_t *ret_last_ns) {
    int64_t late_ns = end_ns, next_ns, middle_ns = rule->next_ns;
    int error = 0;
    *ret_last_ns = rule->next_ns;
    while (error == 0 && *ret_last_ns < late_ns) {
        error = instant_after(journal, rule, middle_ns, &next_ns);
        if (error == 0 && next_ns <= end_ns)
            *ret_last_ns = next_ns;
        else
            late_ns = middle_ns;
        middle_ns = *ret_last_ns + (int64_t)(((uint64_t)late_ns - (uint64_t)*ret_last_ns) / 2);
    }
    return error;
}

/* The instants that are to come, the last one first: those that are late by more than the grace, or that others have
   followed, are missed. */
struct instants {
    int64_t at_ns[HTW_RECURRING_CATCH_UP_MAX];
    size_t count;
    int64_t next_ns; /* of the rule, after them */
};

/* Of jobs with a key, of which each replaces the one before, only the last. */
static int choose(const struct htw_journal *journal, const struct htw_recurring *rule, int64_t now,
                  struct instants *instants) {
    int64_t last_ns, grace_ns = rule->grace_ns == 0 ? HTW_MINUTE : rule->grace_ns;
    size_t most = rule->job.key != NULL || rule->catch_up == 0 ? 1 : rule->catch_up;
    instants->count = 0;
    if (rule->next_ns == INT64_MIN) /* it begins now */
        return instant_after(journal, rule, now, &instants->next_ns);
    int error = last_instant(journal, rule, now, &last_ns);
    if (error == 0)
        error = instant_after(journal, rule, last_ns, &instants->next_ns);
    bool is_missed = rule->catch_up == 0 && now - last_ns > grace_ns;
    while (error == 0 && !is_missed && instants->count < most) {
        instants->at_ns[instants->count++] = last_ns;
        if (last_ns == rule->next_ns)
            break;
        error = last_instant(journal, rule, last_ns - 1, &last_ns);
    }
    return error;
}

/* ---- a rule */

/* Whether the job of the rule is not put: another one has its key, and stays. */
static int is_kept_out(struct htw_journal *journal, const struct htw_job *job, bool *ret_is) {
    uint64_t id = 0;
    bool asks = job->key != NULL && (job->flags & HTW_JOB_IF_ABSENT) != 0;
    int error = asks ? htw__database_find_key(&journal->database, job->key, job->key_size, &id) : 0;
    if (asks && error == 0 && id == 0)
        error = htw__inbox_find_key(&journal->database, job->key, job->key_size, &id);
    *ret_is = id != 0;
    return error;
}

/* The step of a change that gives a rule its next instant. `key`: the name of the rule, `id`: its instant before. */
static int advance(struct htw_journal *journal, struct htw__step *step) {
    struct htw__database *database = &journal->database;
    struct sqlite3_stmt *statement = database->statements[HTW__ADVANCE_RECURRING];
    htw__statement_bind_blob(statement, 1, step->key, step->key_size);
    sqlite3_bind_int64(statement, 2, step->deadline_ns);
    sqlite3_bind_int64(statement, 3, (int64_t)step->id);
    int error = htw__statement_step(database, HTW__ADVANCE_RECURRING);
    return error == 0 && sqlite3_changes(database->connection) == 0 ? -ENOENT
                                                                    : error; /* changed since */
}

static void end_advancing(struct htw_journal *journal, int result) {
    journal->recurring.has_failed |= result != 0 && result != -ENOENT;
}

static const struct htw__work advancing = { HTW__OWN_ADVANCE, advance, end_advancing };

/* With the lock. The jobs of these instants, and the step of the rule. */
static int submit(struct htw_journal *journal, const struct htw_recurring *rule,
                  const struct instants *instants, struct htw_job *jobs) {
    struct htw_journal_change wanted = HTW_JOURNAL_CHANGE_INIT;
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    int error = 0;
    for (size_t i = 0; i < instants->count; i++) {
        jobs[i] = rule->job;
        jobs[i].deadline_ns = instants->at_ns[instants->count - 1 - i];
    }
    update.step = HTW_JOB_CANCEL; /* the one with a key, which is copied */
    update.key = rule->name;
    update.key_size = strlen(rule->name);
    wanted.updates = &update;
    wanted.update_count = 1;
    wanted.jobs = jobs;
    wanted.job_count = instants->count;
    struct htw__change *change = htw__change_create(journal, &wanted, NULL, &error);
    if (change == NULL)
        return error;
    change->work = &advancing;
    change->steps->kind = HTW__STEP_NONE;
    change->steps->id = (uint64_t)rule->next_ns;
    change->steps->deadline_ns = instants->next_ns;
    error = htw__change_admit(journal, change, &wanted);
    if (error != 0) {
        htw__change_destroy(journal, change);
        return error;
    }
    if (htw__change_append(journal, change))
        htw__journal_call_writer(journal);
    return 0;
}

/* Submits what a rule that is due is to put now. `jobs`: room for them. */
static int obey(struct htw_journal *journal, const struct htw_recurring *rule, int64_t now,
                struct instants *instants, struct htw_job *jobs) {
    bool is_out = false;
    int error = choose(journal, rule, now, instants);
    if (error == 0)
        error = is_kept_out(journal, &rule->job, &is_out);
    if (error != 0)
        return error;
    if (is_out)
        instants->count = 0;
    htw__mutex_lock(&journal->mutex);
    error = submit(journal, rule, instants, jobs);
    htw__mutex_unlock(&journal->mutex);
    return error;
}

/* ---- rounds: without the lock */

/* The next rule that is due. 1, 0: there is none; or an error that stops the journal. */
static int obey_next(struct htw_journal *journal, int64_t now) {
    struct htw__recurring *recurring = &journal->recurring;
    struct htw_recurring rule;
    size_t size = sizeof(struct instants) + HTW_RECURRING_CATCH_UP_MAX * sizeof(struct htw_job);
    struct instants *instants = htw__journal_allocate(journal, size);
    if (instants == NULL)
        return -ENOMEM;
    int result = read_due(&journal->database, now, recurring->after_ns, recurring->after, &rule);
    if (result == 1) {
        if (obey(journal, &rule, now, instants, (struct htw_job *)(instants + 1)) != 0)
            recurring->has_failed = true;
        recurring->after_ns = rule.next_ns;
        memcpy(recurring->after, rule.name, strlen(rule.name) + 1);
    }
    end_reading(&journal->database);
    htw__journal_release(journal, instants, size);
    return result;
}

/* All changes are made. 0 or an error, and when the next round begins. */
static int end_round(struct htw_journal *journal, int64_t *ret_at_ns) {
    struct htw__recurring *recurring = &journal->recurring;
    struct htw_recurring first;
    int result = read_due(&journal->database, INT64_MAX, INT64_MIN, "", &first);
    if (!recurring->has_failed)
        *ret_at_ns = result == 1 ? first.next_ns : HTW_NEVER_NS;
    end_reading(&journal->database);
    recurring->is_read = recurring->has_failed = false;
    recurring->after_ns = INT64_MIN;
    recurring->after[0] = '\0';
    return result < 0 ? result : 0;
}

bool htw__recurring_has_work(const struct htw_journal *journal) {
    const struct htw__recurring *recurring = &journal->recurring;
    return recurring->at_ns != HTW_NEVER_NS &&
           journal->under_way[HTW__OWN_ADVANCE] < (recurring->is_read ? 1 : UNDER_WAY_MAX) &&
           recurring->at_ns <= htw__journal_now(journal);
}

int htw__recurring_step(struct htw_journal *journal) {
    struct htw__recurring *recurring = &journal->recurring;
    int64_t now = htw__journal_now(journal), at_ns = now + RETRY_NS;
    bool ends = recurring->is_read;
    htw__mutex_unlock(&journal->mutex);
    int result = ends ? end_round(journal, &at_ns) : obey_next(journal, now);
    htw__mutex_lock(&journal->mutex);
    if (result < 0)
        return result;
    recurring->at_ns = ends ? at_ns : INT64_MIN; /* the round goes on */
    recurring->is_read = !ends && result == 0;
    return 0;
}

/* ---- listing */

int htw_journal_list_recurring(struct htw_journal *journal, const char *after, uint32_t count,
                               htw_recurring_visit *visit, void *context) {
    char name[HTW_RECURRING_NAME_MAX + 1] = "";
    struct htw__database *database;
    bool goes_on = true;
    if (visit == NULL || count > INT32_MAX ||
        (after != NULL && memchr(after, 0, sizeof(name)) == NULL))
        return htw__journal_fail_as(-EINVAL, "a list is not valid");
    int error = htw__snapshot_begin(journal, &database);
    if (error != 0)
        return error;
    htw__mutex_unlock(&journal->mutex);
    if (after != NULL)
        strcpy(name, after);
    uint32_t visited = 0;
    int result = 1;
    while (visited < count && goes_on && result == 1) {
        struct htw_recurring rule;
        result = read_rule(database, HTW__LIST_RECURRING, name, &rule);
        if (result != 1)
            break;
        HTW__CALL_USER("a visit", journal, visit, goes_on = visit(context, &rule));
        visited++;
        strcpy(name, rule.name);
        end_reading(database);
    }
    return htw__snapshot_end(journal, database, result < 0 ? result : (int)visited);
}
