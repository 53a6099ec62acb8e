/* SPDX-License-Identifier: MIT */
/* journal_round.c - changes, their answers, and the judgement. */
#include "journal_round.h"

#include "../../src/journal/database/database.h"
#include "../support/journal_structs.h"
#include "../support/manual_time.h"
#include "faulty_vfs.h"

#include <unistd.h>

#define RULE_NS (5 * HTW_MINUTE)

enum { PAYLOAD_MAX = 400000, LATE_WRITE = 90 };

static struct journal_round own;

struct journal_round *journal_round = &own;

static char path[64];
static bool is_on_faulty_disk;
static const char *guest_mode; /* NULL: it is no guest */

const char *const round_queue = "queue";
static const char rule_key[] = "each five minutes";

static void require(const char *wrong, uint64_t id, int result) {
    if (wrong != NULL)
        round_fail(wrong, id, result);
}

/* Of the journal alone. */
static long operations(void) {
    return is_on_faulty_disk && guest_mode == NULL ? faulty_vfs_operations() : 0;
}

/* ---- deliveries */

static struct htw_job rule_job(int64_t deadline_ns) {
    return JOB(.deadline_ns = deadline_ns, .key = rule_key, .key_size = sizeof(rule_key));
}

static void end_instant(void *instant, int result) {
    ((struct instant *)instant)->is_over = result == 0;
    ((struct instant *)instant)->is_in_doubt = result == -EIO;
}

/* Its end and the job of the next instant are one change. Until that is made, the instant comes again in each run. */
static void follow_rule(const struct htw_delivery *delivery) {
    int64_t past_ns = delivery->deadline_ns - ROUND_START_NS, number = past_ns / RULE_NS;
    if (past_ns % RULE_NS != 0 || number < 0 || number >= ROUND_INSTANTS)
        round_fail("an instant that is none of the rule", (uint64_t)number, 0);
    struct instant *instant = &journal_round->instants[number];
    if (instant->run == journal_round->runs || instant->is_over)
        round_fail("an instant comes twice", (uint64_t)number, instant->is_over);
    instant->run = journal_round->runs;
    struct htw_job next = rule_job(delivery->deadline_ns + RULE_NS);
    (void)!htw_journal_apply_later(
        delivery->journal,
        &CHANGE(.done = &delivery->id, .done_count = 1, .jobs = &next, .job_count = 1), end_instant,
        instant);
}

static bool is_of_rule(const struct htw_delivery *delivery) {
    return delivery->key_size == sizeof(rule_key) &&
           memcmp(delivery->key, rule_key, sizeof(rule_key)) == 0;
}

static void judge_delivery(const struct htw_delivery *delivery) {
    if (delivery->deadline_ns > htw_scheduler_now(journal_round->scheduler))
        round_fail("early", delivery->id, 0);
    if (journal_round->has_stopped)
        round_fail("delivered by a journal that has stopped", delivery->id, 0);
    if (!is_of_rule(delivery) &&
        (delivery->payload_size < 8 || memcmp(delivery->payload, "payload ", 8) != 0))
        round_fail("another payload", delivery->id, 0);
    if (is_of_rule(delivery))
        follow_rule(delivery);
    else
        require(ledger_deliver(&journal_round->ledger, delivery->id, journal_round->is_judging),
                delivery->id, 0);
    journal_round->deliveries++;
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    judge_delivery(delivery);
}

/* ---- opening and stopping */

void round_start(void) {
    journal_round->scheduler = manual_scheduler(journal_round->now_ns);
    if (journal_round->scheduler == NULL)
        round_fail("htw_scheduler_create", 0, 0);
}

void round_init(const char *folder, bool is_faulty) {
    snprintf(path, sizeof(path), "%s/journal", folder);
    is_on_faulty_disk = is_faulty;
    if (is_on_faulty_disk)
        faulty_vfs_register();
    htw__log_checkpoint_pages = 30;
}

static const char *const suffixes[] = { "", "-wal", "-shm", "-lock", "-journal" };

static void remove_files(size_t from) {
    for (size_t i = from; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        if (unlink(name) != 0 && errno != ENOENT)
            round_fail("a file cannot be removed", 0, errno);
    }
}

void round_use_guest(const char *mode) {
    guest_mode = mode;
}

static sqlite3 *open_program(void) {
    sqlite3 *program;
    if (sqlite3_open(path, &program) == SQLITE_OK &&
        sqlite3_busy_timeout(program, 60000) == SQLITE_OK)
        return program;
    sqlite3_close(program);
    return NULL;
}

static bool execute(sqlite3 *program, const char *text) {
    return sqlite3_exec(program, text, NULL, NULL, NULL) == SQLITE_OK;
}

static void make_program(void) {
    char text[100];
    sqlite3 *program = open_program();
    snprintf(text, sizeof(text), "PRAGMA journal_mode = %s; CREATE TABLE note (job INTEGER)",
             guest_mode);
    if (program == NULL || !execute(program, text))
        round_fail("a program cannot make its file", 0, 0);
    sqlite3_close(program);
}

void round_begin(uint64_t seed) {
    remove_files(0);
    memset(journal_round, 0, sizeof(*journal_round));
    strcpy(journal_round->path, path);
    journal_round->now_ns = ROUND_START_NS;
    if (is_on_faulty_disk)
        faulty_vfs_reset(seed);
    if (guest_mode != NULL)
        make_program();
    round_start();
}

int round_open(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.near_ns = 2 * HTW_MINUTE;
    options.gather_ns = 1;
    options.max_memory = 256 * 1024;
    options.is_guest = guest_mode != NULL;
    options.inbox_ns = guest_mode != NULL ? HTW_NEVER_NS : 0;
    ledger_open(&journal_round->ledger);
    journal_round->runs++;
    journal_round->has_stopped = false;
    return htw_journal_open(&journal_round->journal, journal_round->scheduler, path, &options);
}

static void copy_file(const char *from, const char *to) {
    static char bytes[1 << 16];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    if (in == NULL || out == NULL)
        round_fail("a file cannot be copied", 0, errno);
    for (size_t size; (size = fread(bytes, 1, sizeof(bytes), in)) > 0;)
        (void)fwrite(bytes, 1, size, out);
    if (fclose(in) != 0 || fclose(out) != 0)
        round_fail("a file cannot be copied", 0, errno);
}

static void close_journal(void) {
    int result = journal_round->journal == NULL ? 0 : htw_journal_close(journal_round->journal);
    journal_round->journal = NULL;
    if (result != 0 && result != -EIO && result != -ENOSPC && result != -ENOMEM)
        round_fail("an unexpected answer of the close", 0, result);
    if (journal_round->has_stopped && operations() != journal_round->operations)
        round_fail("a journal that has stopped has written", 0, 0);
    htw_scheduler_destroy(journal_round->scheduler);
}

/* What is there before the close is what a kill leaves. */
static void kill_journal(void) {
    char log[96], copy[96], copied_log[96];
    snprintf(log, sizeof(log), "%s-wal", path);
    snprintf(copy, sizeof(copy), "%s-copy", path);
    snprintf(copied_log, sizeof(copied_log), "%s-copied-wal", path);
    bool has_log = access(log, F_OK) == 0;
    copy_file(path, copy);
    if (has_log)
        copy_file(log, copied_log);
    close_journal();
    remove_files(1);
    if (rename(copy, path) != 0 || (has_log && rename(copied_log, log) != 0))
        round_fail("a file cannot be renamed", 0, errno);
    if (is_on_faulty_disk)
        faulty_vfs_reset(1);
}

void round_stop(enum stop stop) {
    if (stop == IS_KILLED) {
        kill_journal();
    } else {
        if (stop == IS_CUT)
            faulty_vfs_power_off();
        close_journal();
        if (stop == IS_CUT)
            faulty_vfs_cut();
    }
    round_start();
}

/* ---- changes */

/* Of a change that has answered this. */
static bool has_stopped(int result) {
    if (result == -EIO && !journal_round->has_stopped &&
        htw_journal_sync(journal_round->journal) == -EIO) {
        journal_round->has_stopped = true;
        journal_round->operations = operations();
        journal_round->stops++;
    }
    return journal_round->has_stopped;
}

/* What an answer says about a change. */
static enum expected outcome_of(int result) {
    if (result != 0 && result != -EIO && result != -ENOSPC && result != -EAGAIN &&
        result != -ENOMEM && result != -EBUSY)
        round_fail("an unexpected answer", 0, result);
    if (journal_round->has_stopped && result != -EIO)
        round_fail("a journal that has stopped goes on", 0, result);
    if (result != 0 && htw_journal_error()[0] == '\0')
        round_fail("no sentence", 0, result);
    journal_round->refusals += result != 0;
    return ledger_outcome(result, has_stopped(result));
}

static const char *payload_of(size_t size) {
    static char payload[PAYLOAD_MAX];
    if (size > sizeof(payload))
        abort();
    if (payload[0] == '\0') {
        memset(payload, 'x', sizeof(payload)); /* a page of zeros is there before it is written */
        memcpy(payload, "payload ", 8);
    }
    return payload;
}

static void add_fact(uint64_t id, enum expected outcome) {
    require(ledger_put(&journal_round->ledger, id, outcome), id, 0);
}

static void end_fact(struct fact *fact, int result) {
    require(ledger_end(fact, result, has_stopped(result)), fact == NULL ? 0 : fact->id, result);
}

int round_put(int64_t deadline_ns, size_t size) {
    uint64_t id = 0;
    int result = htw_journal_put(journal_round->journal, deadline_ns, payload_of(size), size, &id);
    add_fact(id, outcome_of(result));
    return result;
}

static void store(void *arg, int result) {
    *(int *)arg = result;
}

void round_put_later(int64_t deadline_ns, size_t size) {
    uint64_t id = 0;
    int noticed = 1;
    int result = htw_journal_put_later(journal_round->journal, deadline_ns, payload_of(size), size,
                                       store, &noticed, &id);
    if (result != 0 && outcome_of(result) != MAY)
        return;
    (void)!htw_journal_sync(journal_round->journal);
    if (result == 0 && noticed == 1)
        round_fail("a sync returned before a notice", id, 0);
    add_fact(id, result != 0 ? MAY : ledger_outcome(noticed, has_stopped(noticed)));
}

int round_end(struct fact *fact, bool is_cancel) {
    int result = is_cancel ? htw_journal_cancel(journal_round->journal, fact->id)
                           : htw_journal_done(journal_round->journal, fact->id);
    if (result != -ENOENT && !(result == -EALREADY && is_cancel))
        (void)outcome_of(result);
    end_fact(fact, result);
    return result;
}

void round_replace(struct fact *old, int64_t deadline_ns, size_t size) {
    struct htw_job job =
        JOB(.deadline_ns = deadline_ns, .payload = payload_of(size), .payload_size = size);
    const struct htw_journal_change change =
        CHANGE(.jobs = &job, .job_count = 1, .done = old == NULL ? NULL : &old->id,
               .done_count = old != NULL);
    int result = htw_journal_apply(journal_round->journal, &change);
    enum expected outcome = outcome_of(result);
    end_fact(old, result);
    add_fact(job.id, outcome);
}

/* The job of the key may be replaced only by a put that is known. */
void round_put_under_key(int64_t deadline_ns, size_t size) {
    struct htw_job job = JOB(.deadline_ns = deadline_ns, .payload = payload_of(size),
                             .payload_size = size, KEY("key"));
    struct fact *holder = ledger_find(&journal_round->ledger, journal_round->holder);
    int result = journal_put_job(journal_round->journal, &job);
    enum expected outcome = outcome_of(result);
    if (holder != NULL && holder->expected != MUST_NOT) /* it may have ended since */
        end_fact(holder, result);
    add_fact(job.id, outcome);
    if (outcome == MUST)
        journal_round->holder = job.id;
}

void round_set_rule(void) {
    int64_t past_ns = journal_round->now_ns - ROUND_START_NS;
    journal_round->rule_ns = journal_round->now_ns - past_ns % RULE_NS + RULE_NS;
    struct htw_job first = rule_job(journal_round->rule_ns);
    journal_round->rule = outcome_of(journal_put_job(journal_round->journal, &first));
}

/* ---- a queue */

int round_put_in_queue(size_t size) {
    struct htw_job job = JOB(.queue = round_queue, .deadline_ns = ROUND_START_NS,
                             .payload = payload_of(size), .payload_size = size);
    int result = journal_put_job(journal_round->journal, &job);
    add_fact(job.id, outcome_of(result));
    return result;
}

static void note_lease(void *arg, int result, const struct htw_delivery *delivery) {
    if (result == 0) {
        judge_delivery(delivery);
        *(struct htw_delivery *)arg = *delivery;
    }
}

int round_lease(bool is_durable, struct htw_delivery *ret_delivery) {
    int result = journal_lease_one(journal_round->journal, round_queue, is_durable, note_lease,
                                   ret_delivery);
    if (result != -ETIMEDOUT)
        (void)outcome_of(result);
    return result;
}

int round_step(const struct htw_delivery *lease, enum htw_job_step step, int64_t deadline_ns) {
    struct fact *fact = ledger_find(&journal_round->ledger, lease->id);
    int result = journal_step(journal_round->journal, lease->id, step,
                              step == HTW_JOB_END ? lease->attempt : 0, deadline_ns);
    if (result == -ESTALE || fact == NULL)
        return result;
    if (result != -ENOENT)
        (void)outcome_of(result);
    if (step == HTW_JOB_END || step == HTW_JOB_CANCEL)
        end_fact(fact, result);
    else
        fact->is_delivered = fact->is_delivered && result != 0; /* it can be leased again */
    return result;
}

/* ---- transactions of a program */

/* An id that was rolled back is given again. */
static void add_note(uint64_t id, bool is_committed) {
    struct fact *fact = ledger_find(&journal_round->ledger, id);
    if (fact == NULL)
        add_fact(id, is_committed ? MUST : MAY);
    else if (fact->expected == MAY)
        fact->expected = is_committed ? MUST : MAY;
    else
        round_fail("an id of a committed transaction is given twice", id, 0);
    if (journal_round->note_count == ROUND_NOTES)
        abort();
    journal_round->notes[journal_round->note_count++] = (struct note) { id, is_committed };
}

bool round_put_in(sqlite3 *connection, int64_t deadline_ns) {
    struct htw_job job =
        JOB(.deadline_ns = deadline_ns, .payload = payload_of(10), .payload_size = 10);
    sqlite3 *program = connection == NULL ? open_program() : connection;
    bool is_committed = program != NULL && execute(program, "BEGIN") &&
                        htw_journal_put_in(program, &job) == 0 &&
                        execute(program, "INSERT INTO note VALUES (last_insert_rowid())") &&
                        execute(program, "COMMIT");
    if (program != NULL && !sqlite3_get_autocommit(program))
        (void)execute(program, "ROLLBACK");
    if (connection == NULL)
        sqlite3_close(program);
    if (job.id != 0)
        add_note(job.id, is_committed);
    return is_committed;
}

int round_take_in(void) {
    int error = htw_journal_wake(journal_round->journal);
    return error == 0 ? htw_journal_sync(journal_round->journal) : error;
}

static int count_rows(sqlite3 *program, uint64_t job) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(program, "SELECT count(*) FROM note WHERE job = ?", -1, &statement,
                           NULL) != SQLITE_OK ||
        sqlite3_bind_int64(statement, 1, (int64_t)job) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        round_fail(sqlite3_errmsg(program), job, 0);
    int count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static void judge_notes(void) {
    sqlite3 *program = open_program();
    if (program == NULL)
        round_fail("the program cannot open its file again", 0, 0);
    for (size_t i = 0; i < journal_round->note_count; i++) {
        const struct note *note = &journal_round->notes[i];
        const struct fact *fact = ledger_find(&journal_round->ledger, note->job);
        int rows = count_rows(program, note->job);
        bool may_be_over = note->is_committed && fact->expected == MAY;
        if (note->is_committed && rows != 1)
            round_fail("a committed row is lost", note->job, rows);
        if (fact->expected != MUST_NOT && rows != fact->is_delivered && !may_be_over)
            round_fail("a row without its job, or a job without its row", note->job, rows);
    }
    sqlite3_close(program);
}

void round_advance(int64_t delta_ns) {
    journal_round->now_ns += delta_ns;
    if (htw_scheduler_advance(journal_round->scheduler, delta_ns) != 0)
        round_fail("htw_scheduler_advance", 0, 0);
}

/* ---- a history */

static struct fact *fact_at(size_t i) {
    return i < journal_round->ledger.count ? &journal_round->ledger.facts[i] : NULL;
}

void round_change(void) {
    struct fact *first = fact_at(0), *second = fact_at(1);
    struct htw_delivery lease;
    int64_t later_ns = ROUND_START_NS + HTW_HOUR;
    round_set_rule();
    round_put(later_ns, 10);
    round_replace(first != NULL && first->expected == MUST ? first : NULL, later_ns, 10);
    round_put_under_key(later_ns, 100000);
    round_put_later(ROUND_START_NS + HTW_SECOND, 10);
    round_advance(7 * HTW_MINUTE);
    if (second != NULL)
        round_end(second, false);
    round_put_in_queue(10);
    round_put_in_queue(10);
    if (round_lease(true, &lease) == 0)
        (void)round_step(&lease, HTW_JOB_END, 0);
    round_put_under_key(later_ns, 20000);
}

void round_leave(enum stop stop, enum fault fault) {
    if (round_open() != 0)
        round_fail("the first open", 0, 0);
    round_put(ROUND_START_NS + HTW_HOUR, 10);
    round_put(ROUND_START_NS + 30 * HTW_SECOND, 10);
    if (fault == FAULT_SYNC)
        faulty_vfs_plan(fault, operations(), 1);
    if (fault == FAULT_LATE) /* a page in the log, and the log that begins again */
        faulty_vfs_plan(fault, operations() + LATE_WRITE, 2);
    round_put(ROUND_START_NS + HTW_HOUR, fault == FAULT_LATE ? 200000 : 10);
    if (fault == FAULT_SYNC && !journal_round->has_stopped)
        round_fail("a failed fsync is ignored", 0, 0);
    round_stop(stop);
    if (fault != FAULT_NONE)
        faulty_vfs_relent();
}

/* ---- the judgement */

/* All instants have come since it was set, or none. */
static void judge_rule(void) {
    int64_t set_ns = journal_round->rule_ns == 0 ? ROUND_START_NS : journal_round->rule_ns;
    int64_t first = (set_ns - ROUND_START_NS) / RULE_NS,
            last = (journal_round->now_ns - ROUND_START_NS) / RULE_NS;
    bool is_set = journal_round->instants[first].run != 0;
    if (journal_round->rule != MAY && is_set != (journal_round->rule == MUST))
        round_fail("a rule is lost, or was not set", 0, is_set);
    for (int64_t number = 0; number < ROUND_INSTANTS; number++) {
        const struct instant *instant = &journal_round->instants[number];
        bool is_due = is_set && number >= first && number <= last;
        bool may_be_over = instant->is_in_doubt && journal_round->stops > 0;
        if (instant->is_over != is_due && !(is_due && may_be_over))
            round_fail("an instant is lost, or comes too much", (uint64_t)number, is_set);
    }
    struct htw_job_update end =
        UPDATE(.step = HTW_JOB_CANCEL, .key = rule_key, .key_size = sizeof(rule_key));
    if (htw_journal_update(journal_round->journal, &end) != (is_set ? 0 : -ENOENT))
        round_fail("the next instant cannot be cancelled", 0, is_set);
}

static void judge_jobs(void) {
    struct htw_delivery lease;
    uint64_t id = 0;
    while (round_lease(false, &lease) == 0)
        if (round_step(&lease, HTW_JOB_END, 0) != 0)
            round_fail("a lease cannot be ended", lease.id, 0);
    const char *wrong = ledger_close(&journal_round->ledger, &id);
    require(wrong, id, 0);
    for (size_t i = 0; i < journal_round->ledger.count; i++) {
        struct fact *fact = &journal_round->ledger.facts[i];
        int result = fact->is_delivered ? htw_journal_done(journal_round->journal, fact->id) : 0;
        if (result != 0 && result != -ENOENT) /* a lease that has ended, too */
            round_fail("a job cannot be ended", fact->id, result);
    }
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    if (htw_journal_get_stats(journal_round->journal, &stats) != 0 || stats.jobs != 0)
        round_fail("the count of jobs is wrong", 0, (int)stats.jobs);
}

void round_judge(void) {
    journal_round->is_judging = true;
    int error = round_open();
    if (error != 0)
        round_fail("the journal cannot be opened again", 0, error);
    if (guest_mode != NULL && (error = round_take_in()) != 0)
        round_fail("what is in the inbox cannot be taken in", 0, error);
    for (int i = 0; i < ROUND_INSTANTS; i++) {
        round_advance(i == 0 ? ROUND_LAST_NS : 0);
        error = htw_journal_sync(journal_round->journal);
        if (error != 0)
            round_fail("htw_journal_sync", 0, error);
    }
    judge_rule();
    if (guest_mode != NULL)
        judge_notes();
    judge_jobs();
    error = htw_journal_close(journal_round->journal);
    if (error != 0)
        round_fail("htw_journal_close", 0, error);
    journal_round->journal = NULL;
    require(journal_problem_of(path), 0, 0);
    htw_scheduler_destroy(journal_round->scheduler);
}
