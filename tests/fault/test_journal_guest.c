/* SPDX-License-Identifier: MIT */
/*
 * test_journal_guest.c - a journal in the database of a program beside another process, and `htw journal`. (Each operation
 * of the disk fails in test_journal_disk.c.)
 *
 * usage: fault_journal_guest [HTW]: with the command
 */
/* holds: journal-20 */
#include "journal_round.h"

#include <sys/wait.h>

#define DEADLINE_NS (ROUND_START_NS + HTW_SECOND)

static const char *mode;

void round_fail(const char *what, uint64_t id, int result) {
    fprintf(stderr, "mode %s: %s: job %llu, result %d: %s\n", mode, what, (unsigned long long)id,
            result, htw_journal_error());
    exit(1);
}

static void require(bool holds, const char *what) {
    if (!holds)
        round_fail(what, 0, 0);
}

static void begin(void) {
    round_use_guest(mode);
    round_begin(1);
    require(round_open() == 0, "the first open");
}

static void end(void) {
    round_stop(CLOSES);
    round_judge();
}

/* All that was committed is delivered. */
static void deliver_all(void) {
    uint64_t lost;
    require(round_take_in() == 0, "taking in");
    round_advance(HTW_SECOND);
    require(ledger_close(&journal_round->ledger, &lost) == NULL, "a job is lost");
}

/* A process that has the library, and nothing open of this one. */
static void put_in_another_process(const char *program) {
    char command[400];
    begin();
    snprintf(command, sizeof(command), "%s put %s", program, journal_round->path);
    require(system(command) == 0, "the other process");
    require(ledger_put(&journal_round->ledger, (UINT64_C(1) << 52) + 1, MUST) == NULL, "its id");
    deliver_all();
    end();
}

static int put_here(const char *path) {
    struct htw_job job = HTW_JOB_INIT;
    sqlite3 *program;
    job.payload = "payload of another process";
    job.payload_size = strlen(job.payload);
    job.deadline_ns = DEADLINE_NS;
    return sqlite3_open(path, &program) != SQLITE_OK || htw_journal_put_in(program, &job) != 0 ||
           sqlite3_close(program) != SQLITE_OK;
}

/* ---- the command */

static void expect_status(const char *htw, const char *action, const char *rest, int status) {
    const char *path = journal_round->path;
    char command[400];
    snprintf(command, sizeof(command), "%s journal %s %s %s >%s.out 2>&1", htw, action, path, rest,
             path);
    int result = system(command);
    if (!WIFEXITED(result) || WEXITSTATUS(result) != status)
        round_fail(action, 0, result);
}

static bool has_printed(const char *text) {
    char name[80], content[4096];
    snprintf(name, sizeof(name), "%s.out", journal_round->path);
    FILE *file = fopen(name, "r");
    size_t size = file == NULL ? 0 : fread(content, 1, sizeof(content) - 1, file);
    content[size] = '\0';
    if (file != NULL)
        (void)fclose(file);
    return strstr(content, text) != NULL;
}

static void use_command(const char *htw) {
    begin();
    require(round_put_in(NULL, DEADLINE_NS) && round_take_in() == 0, "a transaction");
    require(round_put_in(NULL, DEADLINE_NS), "another transaction");
    expect_status(htw, "list", "", 0);
    require(has_printed("4503599627370497") && !has_printed("4503599627370498"),
            "a list"); /* a job in the inbox is in no list */
    expect_status(htw, "show", "4503599627370497", 0);
    expect_status(htw, "stats", "", 0);
    expect_status(htw, "check", "", 0);
    expect_status(htw, "cancel", "4503599627370497", 1); /* it is open */
    round_stop(CLOSES);
    expect_status(htw, "cancel", "4503599627370497", 0);
    journal_round->ledger.facts[0].expected = MUST_NOT;
    expect_status(htw, "compact", "", 1);
    expect_status(htw, "check", "", 0);
    round_judge();
}

int main(int argc, char **argv) {
    static const char *const modes[] = { "DELETE", "WAL" };
    char folder[TEST_FOLDER_SIZE];
    if (argc == 3 && strcmp(argv[1], "put") == 0)
        return put_here(argv[2]);
    if (!test_folder_create(folder))
        return 1;
    round_init(folder, false);
    for (size_t i = 0; i < 2; i++) {
        mode = modes[i];
        put_in_another_process(argv[0]);
        if (argc == 2)
            use_command(argv[1]);
    }
    return !test_folder_remove(folder);
}
