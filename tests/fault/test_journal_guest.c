/* SPDX-License-Identifier: MIT */
/*
 * test_journal_guest.c - transactions of a program that change a table of its own and put a job, on a disk that fails
 * at each operation in turn: of the transactions, and of the journal that takes the jobs in, delivers and ends them.
 *
 * Afterwards the row and the job are there, or neither; a job whose end was durable is not delivered again, and all
 * others are. Also: a program that holds SQLite's lock for long, one in another process, and `htw journal`.
 *
 * usage: fault_journal_guest [HTW]: with the command
 */
/* holds: journal-20, journal-21 */
#include "../support/manual_time.h"
#include "../support/test_folder.h"
#include "faulty_vfs.h"

#include <htw/journal.h>

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define LOCKED_SECONDS 5

enum { NOTES = 3 };

/* What is known of a note and its job. */
struct note {
    bool is_committed; /* the COMMIT has answered 0 */
    bool is_delivered, is_end_tried, is_ended;
};

static struct {
    const char *mode;
    int fault;
    enum loss loss;
    long nth;
} at;

static char folder[TEST_FOLDER_SIZE], path[64];
static sqlite3 *program;
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static struct note notes[NOTES];
static bool is_judging;

static _Noreturn void fail(const char *what, int64_t result) {
    fprintf(stderr, "mode %s, fault %d, loss %d, operation %ld: %s: %lld: %s; %s\n", at.mode,
            at.fault, at.loss, at.nth, what, (long long)result, htw_journal_error(),
            program == NULL ? "" : sqlite3_errmsg(program));
    exit(1);
}

static int sql(const char *text) {
    return sqlite3_exec(program, text, NULL, NULL, NULL);
}

static int64_t number_of(const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(program, text, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        fail(text, -1);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    unsigned number = delivery->payload_size == 1 ? *(const unsigned char *)delivery->payload : 255;
    if (number >= NOTES)
        fail("another payload", number);
    struct note *note = &notes[number];
    if (note->is_delivered && (!is_judging || note->is_ended))
        fail("delivered twice", number);
    if (!is_judging && !note->is_committed)
        fail("delivered before its transaction was committed", number);
    note->is_delivered = true;
    if (is_judging)
        htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
}

/* ---- the program and its guest */

static bool open_program(void) {
    if (sqlite3_open(path, &program) != SQLITE_OK)
        return false;
    sqlite3_busy_timeout(program, 60000);
    return true;
}

static int open_guest(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.is_guest = true;
    options.inbox_ns = HTW_NEVER_NS;
    return htw_journal_open(&journal, scheduler, path, &options);
}

static void begin(void) {
    static const char *const suffixes[] = { "", "-wal", "-shm", "-lock", "-journal" };
    char text[96];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(text, sizeof(text), "%s%s", path, suffixes[i]);
        unlink(text);
    }
    faulty_vfs_reset(1 + (uint64_t)at.nth);
    memset(notes, 0, sizeof(notes));
    is_judging = false;
    scheduler = manual_scheduler(START_NS);
    snprintf(text, sizeof(text), "PRAGMA journal_mode = %s; CREATE TABLE note (number INTEGER)",
             at.mode);
    if (scheduler == NULL || !open_program() || sql(text) != SQLITE_OK || open_guest() != 0)
        fail("the first open", 0);
}

static void stop(void) {
    sqlite3_close(program);
    program = NULL;
    (void)htw_journal_close(journal);
    journal = NULL;
    htw_scheduler_destroy(scheduler);
}

/* A transaction of the program. */
static bool put_note(unsigned number) {
    unsigned char payload = (unsigned char)number;
    struct htw_job job = HTW_JOB_INIT;
    char text[64];
    job.deadline_ns = START_NS + HTW_SECOND;
    job.payload = &payload;
    job.payload_size = 1;
    snprintf(text, sizeof(text), "INSERT INTO note VALUES (%u)", number);
    bool is_made = sql("BEGIN") == SQLITE_OK && sql(text) == SQLITE_OK &&
                   htw_journal_put_in(program, &job) == 0 && sql("COMMIT") == SQLITE_OK;
    if (!sqlite3_get_autocommit(program))
        (void)sql("ROLLBACK");
    return is_made;
}

static int take_in(void) {
    int error = htw_journal_wake(journal);
    return error == 0 ? htw_journal_sync(journal) : error;
}

/* The ids are those of the inbox, in order, of the transactions that were made. */
static void run(void) {
    for (unsigned i = 0; i < NOTES; i++) {
        notes[i].is_committed = put_note(i);
        (void)take_in();
    }
    (void)htw_scheduler_advance(scheduler, HTW_SECOND);
    for (unsigned i = 0, id = 1; i < NOTES; i++) {
        if (!notes[i].is_committed)
            continue;
        uint64_t job = (UINT64_C(1) << 52) + id++;
        notes[i].is_end_tried = true;
        notes[i].is_ended = htw_journal_done(journal, job) == 0;
    }
}

/* ---- the judgement, on a disk that works */

static void judge_note(unsigned number) {
    char text[64];
    struct note *note = &notes[number];
    snprintf(text, sizeof(text), "SELECT count(*) FROM note WHERE number = %u", number);
    int64_t rows = number_of(text);
    if (note->is_committed && rows != 1)
        fail("a committed row is lost", number);
    if (note->is_delivered && rows != 1)
        fail("a job without its row", number);
    if (rows == 1 && !note->is_end_tried && !note->is_delivered)
        fail("a row without its job", number);
}

static void judge(void) {
    is_judging = true;
    for (unsigned i = 0; i < NOTES; i++)
        notes[i].is_delivered = false;
    scheduler = manual_scheduler(START_NS + HTW_SECOND);
    if (scheduler == NULL || !open_program())
        fail("the program cannot open its file again", 0);
    int error = open_guest();
    for (int i = 0; i < 3 && error == 0; i++)
        error = take_in() + htw_scheduler_advance(scheduler, HTW_SECOND);
    if (error != 0)
        fail("the guest cannot be opened again", error);
    for (unsigned i = 0; i < NOTES; i++) {
        if (notes[i].is_ended && notes[i].is_delivered)
            fail("a job is delivered after its end", i);
        judge_note(i);
    }
    if (number_of("SELECT (SELECT count(*) FROM htw_job) + (SELECT count(*) FROM htw_inbox) + "
                  "(SELECT count(*) FROM htw_moved)") != 0 ||
        number_of("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") != 1)
        fail("the file is wrong at the end", 0);
    stop();
}

/* Each operation in turn. */
static void fail_everywhere(const char *mode, enum fault fault, long times, enum loss loss) {
    bool has_failed = true;
    at.mode = mode;
    at.fault = (int)fault;
    at.loss = loss;
    for (at.nth = 0; has_failed; at.nth++) {
        begin();
        faulty_vfs_lose(loss);
        faulty_vfs_plan(fault, faulty_vfs_operations() + at.nth, times);
        run();
        has_failed = faulty_vfs_failures() > 0;
        if (fault == FAULT_POWER)
            faulty_vfs_power_off();
        else
            faulty_vfs_relent();
        stop();
        if (fault == FAULT_POWER)
            faulty_vfs_cut();
        judge();
    }
    if (at.nth < 20)
        fail("too few operations", at.nth);
}

/* The disk is full for a time; then all goes on, without another open. */
static void recover_from_full_disk(const char *mode) {
    at.mode = mode;
    at.fault = FAULT_FULL;
    for (at.nth = 0; at.nth < 40; at.nth++) {
        begin();
        faulty_vfs_plan(FAULT_FULL, faulty_vfs_operations() + at.nth, 1000000);
        notes[0].is_committed = put_note(0);
        (void)take_in();
        faulty_vfs_relent();
        notes[1].is_committed = put_note(1);
        if (!notes[1].is_committed || take_in() != 0 ||
            htw_scheduler_advance(scheduler, HTW_SECOND) != 0)
            fail("after a full disk", 0);
        if (!notes[1].is_delivered || notes[0].is_delivered != notes[0].is_committed)
            fail("a job is lost by a full disk", notes[0].is_committed);
        stop();
        judge();
    }
}

/* ---- other programs */

static void *hold_lock(void *arg) {
    sqlite3 *connection = arg;
    sleep(LOCKED_SECONDS);
    return sqlite3_exec(connection, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? NULL : arg;
}

/* Only delays. */
static void wait_for_lock(const char *mode) {
    pthread_t holder;
    sqlite3 *connection;
    void *result;
    at.mode = mode;
    at.fault = FAULT_NONE;
    begin();
    notes[0].is_committed = put_note(0);
    if (sqlite3_open(path, &connection) != SQLITE_OK ||
        sqlite3_busy_timeout(connection, 10000) != SQLITE_OK || /* the journal may just take in */
        sqlite3_exec(connection, "BEGIN EXCLUSIVE; INSERT INTO note VALUES (9)", NULL, NULL,
                     NULL) != SQLITE_OK ||
        pthread_create(&holder, NULL, hold_lock, connection) != 0)
        fail("no lock", 0);
    uint64_t id;
    int error = take_in();
    if (error == 0)
        error = htw_journal_put(journal, START_NS + HTW_DAY, "", 0, &id);
    if (error == 0)
        error = htw_journal_done(journal, id);
    pthread_join(holder, &result);
    sqlite3_close(connection);
    if (error != 0 || result != NULL)
        fail("a lock is in the way", error);
    notes[1].is_committed = put_note(1);
    if (take_in() != 0 || htw_scheduler_advance(scheduler, HTW_SECOND) != 0 ||
        !notes[0].is_delivered || !notes[1].is_delivered)
        fail("a job is lost by a lock", 0);
    stop();
    judge();
}

/* A process that has the library, and nothing open of this one. */
static void put_in_another_process(const char *program_path) {
    char command[400];
    at.mode = "WAL";
    begin();
    snprintf(command, sizeof(command), "%s put %s", program_path, path);
    if (system(command) != 0)
        fail("the other process", 0);
    notes[2].is_committed = true;
    if (take_in() != 0 || htw_scheduler_advance(scheduler, HTW_SECOND) != 0 ||
        !notes[2].is_delivered)
        fail("the job of another process is not there", 0);
    stop();
    judge();
}

/* ---- the command */

static void expect_status(const char *htw, const char *action, const char *rest, int status) {
    char command[400];
    snprintf(command, sizeof(command), "%s journal %s %s %s >%s.out 2>&1", htw, action, path, rest,
             path);
    int result = system(command);
    if (!WIFEXITED(result) || WEXITSTATUS(result) != status)
        fail(action, result);
}

static bool has_printed(const char *text) {
    char name[80], content[4096];
    snprintf(name, sizeof(name), "%s.out", path);
    FILE *file = fopen(name, "r");
    size_t size = file == NULL ? 0 : fread(content, 1, sizeof(content) - 1, file);
    content[size] = '\0';
    if (file != NULL)
        (void)fclose(file);
    return strstr(content, text) != NULL;
}

static void use_command(const char *htw) {
    at.mode = "DELETE";
    begin();
    notes[0].is_committed = put_note(0);
    if (take_in() != 0)
        fail("taking in", 0);
    notes[1].is_committed = put_note(1);
    expect_status(htw, "list", "", 0);
    if (!has_printed("4503599627370497") || has_printed("4503599627370498"))
        fail("a list", 0); /* a job in the inbox is in no list */
    expect_status(htw, "show", "4503599627370497", 0);
    expect_status(htw, "stats", "", 0);
    expect_status(htw, "check", "", 0);
    expect_status(htw, "cancel", "4503599627370497", 1); /* it is open */
    stop();
    expect_status(htw, "cancel", "4503599627370497", 0);
    notes[0].is_end_tried = notes[0].is_ended = true;
    expect_status(htw, "compact", "", 1);
    expect_status(htw, "check", "", 0);
    judge();
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "put") == 0) {
        snprintf(path, sizeof(path), "%s", argv[2]);
        return open_program() && put_note(2) && sqlite3_close(program) == SQLITE_OK ? 0 : 1;
    }
    static const char *const modes[] = { "DELETE", "WAL" };
    if (!test_folder_create(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/program", folder);
    faulty_vfs_register();
    for (size_t i = 0; i < 2; i++) {
        wait_for_lock(modes[i]);
        recover_from_full_disk(modes[i]);
        for (int loss = LOSE_NOTHING; loss <= LOSE_ALL; loss++)
            fail_everywhere(modes[i], FAULT_POWER, 1, (enum loss)loss);
        fail_everywhere(modes[i], FAULT_REFUSED, 1, LOSE_NOTHING);
        fail_everywhere(modes[i], FAULT_TORN, 1, LOSE_NOTHING);
        fail_everywhere(modes[i], FAULT_FULL, 1, LOSE_NOTHING);
    }
    put_in_another_process(argv[0]);
    if (argc == 2)
        use_command(argv[1]);
    return test_folder_remove(folder) ? 0 : 1;
}
