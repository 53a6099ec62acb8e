/* SPDX-License-Identifier: MIT */
/*
 * test_journal_command.c - each allocation of `htw journal`, and of SQLite below it, fails in turn.
 *
 * A run is one command line, of which one allocation fails, once or with all that follow. It must do all
 * that it should, or exit with 1 and a sentence. What it has printed by then must be right; and the
 * journal is as before, or as it is to be.
 *
 * usage: fault_journal_command [--all]: each allocation; otherwise the first ones, and fewer behind
 */
#include "../../programs/journal/journal.h"
#include "../support/failing_calls.h"
#include "../support/journal_structs.h"
#include "../support/test_folder.h"

#include <htw/journal.h>
#include <htw/scheduler.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sqlite3.h>

#define JOBS 60
#define FIRST_NS (INT64_C(70000000) * HTW_MINUTE) /* in 2103: none is overdue */
#define TEXT_SIZE (1 << 18)

static char folder[TEST_FOLDER_SIZE], path[64], output_path[64], error_path[64];
static char id[24]; /* of a job in the middle, as text */

/* ---- allocations that fail */

/* All are of one kind. */
FAILING_WRAP(0, NULL, void *, malloc, (size_t size), (size))
FAILING_WRAP(0, NULL, void *, calloc, (size_t count, size_t size), (count, size))
FAILING_WRAP(0, NULL, void *, realloc, (void *memory, size_t size), (memory, size))

static struct sqlite3_mem_methods memory;

static void *allocate(int size) {
    return failing_call(0) ? NULL : memory.xMalloc(size);
}

static void *resize(void *at, int size) {
    return failing_call(0) ? NULL : memory.xRealloc(at, size);
}

static bool take_over_memory_of_sqlite(void) {
    struct sqlite3_mem_methods own;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) != SQLITE_OK)
        return false;
    own = memory;
    own.xMalloc = allocate;
    own.xRealloc = resize;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &own) == SQLITE_OK;
}

/* ---- a run */

/* What becomes of the jobs. */
enum effect { READS, STAYS, LOSES, CHANGES, GAINS };

static const struct scenario {
    const char *name;
    const char *words[7]; /* after "htw journal"; ID and FILE stand for what they say */
    enum effect effect;
    bool is_guest;
} scenarios[] = {
    { "list", { "list", "FILE" }, READS, false },
    { "list --json", { "--json", "list", "FILE" }, READS, false },
    { "list --limit", { "--limit", "7", "list", "FILE" }, READS, false },
    { "list --queue", { "--queue", "mail", "--state", "ready", "list", "FILE" }, READS, false },
    { "show", { "show", "FILE" }, READS, false },
    { "show ID", { "show", "FILE", "ID" }, READS, false },
    { "stats", { "stats", "FILE" }, READS, false },
    { "check", { "check", "FILE" }, READS, false },
    { "check --json", { "--json", "check", "FILE" }, READS, false },
    { "put", { "--queue", "mail", "put", "FILE", "2150-01-01T00:00:00Z", "a job" }, GAINS, false },
    { "recur", { "recur", "FILE", "nightly", "0 3 * * *", "a job" }, STAYS, false },
    { "put as guest",
      { "--queue", "mail", "put", "FILE", "2150-01-01T00:00:00Z", "a job" },
      GAINS,
      true },
    { "recur as guest", { "recur", "FILE", "nightly", "0 3 * * *", "a job" }, STAYS, true },
    { "cancel ID", { "--json", "cancel", "FILE", "ID" }, LOSES, false },
    { "move ID", { "--json", "move", "FILE", "ID", "2150-01-01T00:00:00Z" }, CHANGES, false },
    { "bury ID", { "bury", "FILE", "ID" }, CHANGES, false },
    { "kick ID", { "kick", "FILE", "ID" }, CHANGES, false },
    { "compact", { "compact", "FILE" }, STAYS, false },
};

struct result {
    int status;
    char output[TEXT_SIZE], error[4096];
};

static void read_file(const char *name, char *text, size_t size) {
    FILE *file = fopen(name, "r");
    size_t length = file == NULL ? 0 : fread(text, 1, size - 1, file);
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
}

static void redirect(FILE *stream, const char *name) {
    fflush(stream);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, fileno(stream)) < 0)
        abort();
    close(fd);
}

/* What it prints goes to files. */
static void run(const struct scenario *scenario, unsigned from, bool on, struct result *result) {
    char *words[10] = { (char *)(uintptr_t) "htw journal" };
    int count = 1;
    for (; scenario->words[count - 1] != NULL; count++) {
        const char *word = scenario->words[count - 1];
        words[count] = strcmp(word, "FILE") == 0 ? path
                       : strcmp(word, "ID") == 0 ? id
                                                 : (char *)(uintptr_t)word;
    }
    int streams[2] = { dup(STDOUT_FILENO), dup(STDERR_FILENO) };
    redirect(stdout, output_path);
    redirect(stderr, error_path);
    optind = 0; /* getopt begins anew */
    failing_calls_plan(0, from, ENOMEM, on);
    result->status = htw__journal_command(count, words);
    failing_calls_relent();
    fflush(stdout);
    fflush(stderr);
    if (dup2(streams[0], STDOUT_FILENO) < 0 || dup2(streams[1], STDERR_FILENO) < 0)
        abort();
    close(streams[0]);
    close(streams[1]);
    read_file(output_path, result->output, sizeof(result->output));
    read_file(error_path, result->error, sizeof(result->error));
}

/* ---- the judge */

/* The journal anew. */
static bool fill(bool is_guest) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    static char payload[6000]; /* more than a page */
    char suffixed[80];
    struct htw_journal *journal;
    for (size_t i = 0; i < 4; i++) {
        static const char *const suffixes[] = { "", "-wal", "-shm", "-lock" };
        snprintf(suffixed, sizeof(suffixed), "%s%s", path, suffixes[i]);
        unlink(suffixed);
    }
    options.is_guest = is_guest;
    if (htw_journal_open(&journal, NULL, path, &options) != 0)
        return false;
    struct htw_job jobs[JOBS];
    memset(payload, 'p', sizeof(payload));
    for (int i = 0; i < JOBS; i++) {
        bool is_ready = i == 5 || i == 7;
        jobs[i] = JOB(.deadline_ns = (is_ready ? 0 : FIRST_NS) + i * 7 * HTW_SECOND,
                      .payload = payload, .payload_size = i % 20 == 3 ? sizeof(payload) : (size_t)i,
                      .key = &jobs[i].deadline_ns,
                      .key_size = i % 3 == 0 ? sizeof(jobs[i].deadline_ns) : 0,
                      .queue = i % 4 == 1 ? "mail" : NULL);
    }
    bool is_filled = htw_journal_apply(journal, &CHANGE(.jobs = jobs, .job_count = JOBS,
                                                        .mark = "a mark", .mark_size = 6)) == 0;
    snprintf(id, sizeof(id), "%" PRIu64, jobs[JOBS / 2].id);
    return htw_journal_close(journal) == 0 && is_filled;
}

static struct result before, after; /* `list`, and the inbox */

static int add_line(void *context, int columns, char **values, char **names) {
    char *text = context;
    (void)columns, (void)names;
    snprintf(text + strlen(text), 200, "%s %s %s\n", values[0], values[1], values[2]);
    return 0;
}

static void look(bool is_guest, struct result *result) {
    static const struct scenario list = { "list", { "--json", "list", "FILE" }, READS, false };
    struct sqlite3 *connection;
    run(&list, 0, false, result);
    if (is_guest && (sqlite3_open(path, &connection) != SQLITE_OK ||
                     sqlite3_exec(connection, "SELECT id, queue, payload FROM htw_inbox", add_line,
                                  result->output, NULL) != SQLITE_OK ||
                     sqlite3_close(connection) != SQLITE_OK))
        abort();
}

static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

/* Whether each line is among the others, but for that of the job in the middle. */
static bool has_others(char *text, const char *others) {
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strstr(line, id) == NULL && strstr(others, line) == NULL)
            return false;
    return true;
}

static const char *judge_jobs(const struct scenario *scenario, int status) {
    static struct result copy;
    size_t lines = count_lines(before.output);
    bool is_same = strcmp(before.output, after.output) == 0;
    if (is_same && status == 0 && scenario->effect >= LOSES)
        return "success, and nothing has changed";
    if (is_same)
        return NULL;
    if (scenario->effect < LOSES)
        return "the jobs have changed";
    if (count_lines(after.output) != lines + (size_t)scenario->effect - CHANGES)
        return "more or fewer jobs";
    copy = before;
    return has_others(copy.output, after.output) ? NULL : "another job has changed";
}

static const char *judge(const struct scenario *scenario, const struct result *good,
                         const struct result *got) {
    bool is_fixed = scenario->effect != GAINS; /* ids differ */
    if (got->status != 0 && got->status != 1)
        return "the exit status";
    if (got->status == 1 && got->error[0] == '\0')
        return "no sentence";
    if (is_fixed && got->status == 0 && strcmp(got->output, good->output) != 0)
        return "success, and another output";
    if (is_fixed && strncmp(good->output, got->output, strlen(got->output)) != 0 &&
        strcmp(scenario->words[0], "--json") != 0)
        return "a wrong line";
    look(scenario->is_guest, &after);
    return after.status != 0 ? "the journal cannot be read any more"
                             : judge_jobs(scenario, got->status);
}

/* A put goes into the inbox, so it works while the program has its journal open. */
static bool put_while_it_is_open(const struct scenario *scenario) {
    static struct result got;
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    struct htw_journal *journal;
    options.is_guest = true;
    if (!fill(true) || htw_journal_open(&journal, NULL, path, &options) != 0)
        return false;
    run(scenario, 0, false, &got);
    while (got.status == 0 && stats.put == 0)
        if (htw_journal_wake(journal) != 0 || htw_journal_get_stats(journal, &stats) != 0)
            return false;
    return htw_journal_close(journal) == 0 && got.status == 0 && stats.put == 1;
}

int main(int count, char *words[]) {
    static struct result good, got;
    unsigned runs = 0, failed_runs = 0;
    bool all = count > 1 && strcmp(words[1], "--all") == 0;
    if (!take_over_memory_of_sqlite() || !test_folder_create(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/journal", folder);
    snprintf(output_path, sizeof(output_path), "%s/output", folder);
    snprintf(error_path, sizeof(error_path), "%s/error", folder);
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        const struct scenario *scenario = &scenarios[i];
        if (!fill(scenario->is_guest))
            return 1;
        look(scenario->is_guest, &before);
        run(scenario, 0, false, &good);
        unsigned last = failing_calls->kinds[0].made;
        if (good.status != 0 ||
            (scenario->is_guest && scenario->effect == GAINS && !put_while_it_is_open(scenario))) {
            printf("%s: status %d, %s\n", scenario->name, good.status, good.error);
            return 1;
        }
        for (unsigned from = 1; from <= last; from = failing_next(from, all ? 0 : 30)) {
            for (int on = 0; on < 2; on++) {
                if (scenario->effect != READS && !fill(scenario->is_guest))
                    return 1;
                if (scenario->effect != READS)
                    look(scenario->is_guest, &before);
                run(scenario, from, on == 1, &got);
                const char *why = judge(scenario, &good, &got);
                runs++;
                failed_runs += got.status != 0;
                if (why != NULL) {
                    printf("%s, allocation %u%s: %s: status %d, %s\n", scenario->name, from,
                           on == 1 ? " and the next" : "", why, got.status, got.error);
                    return 1;
                }
            }
        }
    }
    printf("%u runs, %u of which failed\n", runs, failed_runs);
    return !test_folder_remove(folder) || failed_runs < 100;
}
