/* SPDX-License-Identifier: MIT */
/* recurring.c - the rules by which jobs come again. */
#include "recurring.h"

#include "snapshot.h"

#include "../base/user_code.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

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

/* Of a statement of one row, which is valid until htw__recurring_read_end(). 1, 0: no row; or an error. */
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

void htw__recurring_read_end(struct htw__database *database) {
    sqlite3_reset(database->statements[HTW__READ_RECURRING]);
    sqlite3_reset(database->statements[HTW__LIST_RECURRING]);
    sqlite3_reset(database->statements[HTW__NEXT_RECURRING]);
}

int htw__recurring_read_due(struct htw__database *database, int64_t now, int64_t after_ns,
                            const char *name, struct htw_recurring *ret_rule) {
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
    htw__recurring_read_end(database);
    if (rule->schedule != NULL)
        return store_row(database, rule, next_ns);
    bind_text(database->statements[HTW__DELETE_RECURRING], 1, rule->name);
    return result == 1 ? htw__statement_step(database, HTW__DELETE_RECURRING) : -ENOENT;
}

/* ---- instants */

int htw__recurring_after(const struct htw_journal *journal, const struct htw_recurring *rule,
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
    int error = htw__recurring_after(journal, wanted, after_ns, &ret_rule->next_ns);
    return error == 0 ? 0
                      : htw__journal_fail(error, "the schedule or zone of %s is not valid: %s",
                                          wanted->name, htw_strerror(error));
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
        htw__recurring_read_end(database);
    }
    return htw__snapshot_end(journal, database, result < 0 ? result : (int)visited);
}
