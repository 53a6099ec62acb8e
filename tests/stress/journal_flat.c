/* SPDX-License-Identifier: MIT */
/*
 * journal_flat - all that a journal offers, again and again, with 40 000 different keys: memory,
 * descriptors and the size of the files do not grow.
 *
 *     stress_journal_flat SECONDS
 *
 * A round makes each call some times. All jobs of a round end in it, those under keys after an epoch of
 * rounds, and then the journal is closed and opened again. What the first epoch has left is compared
 * with what each later one leaves.
 */
/* holds: journal-8 */
#include "../support/process.h"
#include "../support/test_folder.h"
#include "stress.h"

#include <htw/journal_inspect.h>

#include <inttypes.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>

enum {
    KEYS = 40000,
    EPOCH = 400,
    KEYS_OF_ROUND = KEYS / EPOCH,
    LOG_MAX = 24 << 20,
    MEMORY_MAX = 4 << 20
};

static _Atomic int64_t bytes; /* that the journal has allocated */
static _Atomic uint64_t delivered, notices;
static char folder[TEST_FOLDER_SIZE], path[TEST_FOLDER_SIZE + 16], log_path[TEST_FOLDER_SIZE + 20];
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static uint64_t calls;

static void *count_new(void *context, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    bytes += (int64_t)size;
    return malloc(size);
}

static void count_old(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)alignment;
    bytes -= (int64_t)size;
    free(memory);
}

static const struct htw_allocator allocator = { count_new, count_old, NULL };

static void must(int result, const char *what) {
    calls++;
    if (result != 0)
        fprintf(stderr, "%s: %d: %s\n", what, result, htw_journal_error());
    REQUIRE(result == 0);
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    delivered++;
    must(htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL), "done_later");
}

static void note(void *arg, int result) {
    (void)arg;
    notices += result == 0;
}

static void open_journal(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    options.allocator = &allocator;
    must(htw_journal_open(&journal, scheduler, path, &options), "open");
}

/* ---- what must not grow */

struct use {
    int64_t sqlite_bytes, descriptors, file_bytes;
};

static int64_t size_of(const char *name) {
    struct stat status;
    return stat(name, &status) == 0 ? (int64_t)status.st_size : 0;
}

static struct use measure(void) {
    return (struct use) { sqlite3_memory_used(), entries_of("/proc/self/fd"), size_of(path) };
}

static void compare(const char *what, int64_t first, int64_t now, int64_t slack) {
    if (now > first + slack)
        fprintf(stderr, "%s: %" PRId64 " after the first epoch, and now %" PRId64 "\n", what, first,
                now);
    REQUIRE(now <= first + slack);
}

/* ---- a round */

/* Puts that are cancelled or done at once, by the calls that wait and by those that do not. */
static void put_and_end(int64_t at_ns) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    uint64_t id;
    update.step = HTW_JOB_CANCEL;
    must(htw_journal_put(journal, at_ns, "waits", 5, &id), "put");
    must(htw_journal_cancel(journal, id), "cancel");
    must(htw_journal_put_later(journal, at_ns, "later", 5, note, NULL, &id), "put_later");
    update.id = id;
    must(htw_journal_update_later(journal, &update, note, NULL), "update_later");
    must(htw_journal_put_later(journal, at_ns, "done", 4, NULL, NULL, &id), "put_later");
    must(htw_journal_done(journal, id), "done");
}

static struct htw_journal_change change_of(struct htw_job *job, unsigned number, char key[16],
                                           int64_t at_ns) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    htw_job_init(job);
    job->deadline_ns = at_ns;
    job->key = key;
    job->key_size = (size_t)snprintf(key, 16, "key %u", number);
    job->payload = key;
    job->payload_size = job->key_size;
    change.jobs = job;
    change.job_count = 1;
    return change;
}

/* Keys of this epoch, each twice: the second job replaces the first. */
static void put_under_keys(unsigned round, int64_t at_ns) {
    for (unsigned i = 0; i < KEYS_OF_ROUND; i++) {
        char key[16];
        struct htw_job job;
        struct htw_journal_change change =
            change_of(&job, round % EPOCH * KEYS_OF_ROUND + i, key, at_ns);
        must(htw_journal_apply_later(journal, &change, note, NULL), "apply_later");
        must(htw_journal_apply(journal, &change), "apply");
    }
}

static void look(void) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    FILE *nowhere = fopen("/dev/null", "w");
    REQUIRE(nowhere != NULL);
    must(htw_journal_get_stats(journal, &stats), "get_stats");
    must(htw_journal_prometheus(journal, nowhere), "prometheus");
    fclose(nowhere);
    REQUIRE(stats.failed + stats.refused == 0);
    compare("memory of the journal", 0, bytes, MEMORY_MAX);
    compare("the log", 0, size_of(log_path), LOG_MAX);
}

static void run_epoch(void) {
    int64_t now_ns = htw_scheduler_now(scheduler);
    int64_t end_ns = now_ns + HTW_DAY;
    for (unsigned round = 0; round < EPOCH; round++) {
        put_and_end(end_ns);
        put_under_keys(round, end_ns);
        must(htw_journal_put(journal, now_ns, "due", 3, NULL), "put");
        must(htw_scheduler_advance(scheduler, HTW_SECOND), "advance");
        must(htw_journal_sync(journal), "sync");
        look();
    }
    delivered = 0;
    must(htw_scheduler_advance(scheduler, 2 * HTW_DAY), "advance");
    must(htw_journal_sync(journal), "sync");
    REQUIRE(delivered == KEYS);
    must(htw_journal_close(journal), "close");
}

int main(int argc, char *argv[]) {
    stress_begin(argc, argv, 1);
    stress_part("flat");
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct use first = { 0, 0, 0 };
    unsigned epochs = 0;
    options.clock = HTW_CLOCK_MANUAL;
    options.manual_start_ns = 1700000000 * HTW_SECOND;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1;
    REQUIRE(test_folder_create(folder) && htw_scheduler_create(&scheduler, &options) == 0);
    snprintf(path, sizeof(path), "%s/journal", folder);
    snprintf(log_path, sizeof(log_path), "%s-wal", path);
    for (; epochs < 2 || stress_goes_on(); epochs++) {
        open_journal();
        run_epoch();
        struct use now = measure();
        if (epochs == 0)
            first = now;
        compare("memory of a closed journal", 0, bytes, 0);
        compare("memory of SQLite", first.sqlite_bytes, now.sqlite_bytes, 16 << 10);
        compare("descriptors", first.descriptors, now.descriptors, 0);
        compare("the file", first.file_bytes, now.file_bytes, first.file_bytes / 10);
    }
    htw_scheduler_destroy(scheduler);
    (void)test_folder_remove(folder);
    printf("stress_journal_flat: %" PRIu64 " calls, %u epochs: ok\n", calls, epochs);
    return 0;
}
