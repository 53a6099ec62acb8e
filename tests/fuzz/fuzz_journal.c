/* SPDX-License-Identifier: MIT */
/*
 * fuzz_journal.c - the file of a journal: any bytes, or a good file with bytes changed. `htw journal` looks
 * at it, and the library opens it, changes it and delivers what it holds.
 *
 * An input begins with 'r', and the file follows; or with any other byte, and edits follow. An edit is a
 * byte L, the number of a page, a place in it (two bytes), and L % 32 + 1 bytes to be put there.
 */
/* holds: delay-17 */
#include "fuzz.h"

#include "../../programs/journal/actions.h"
#include "../support/journal_structs.h"
#include "../support/manual_time.h"
#include "../support/test_folder.h"

#include <htw/journal_inspect.h>

#include <fcntl.h>
#include <sys/stat.h>

enum { PAGE = 4096, JOBS = 100, HEAD = 4 };

#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define END_NS (INT64_MAX / 2)

static char folder[TEST_FOLDER_SIZE], path[TEST_FOLDER_SIZE + 16];
static uint8_t *good;
static size_t good_size;
static uint64_t delivered;

/* ---- a good file */

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    delivered++;
    (void)htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
}

static struct htw_scheduler *create_scheduler(void) {
    struct htw_scheduler *scheduler = manual_scheduler(START_NS);
    if (scheduler == NULL)
        fuzz_fail("no scheduler");
    return scheduler;
}

static int open_journal(struct htw_journal **ret_journal, struct htw_scheduler *scheduler) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    options.max_memory = 1 << 20;
    return htw_journal_open(ret_journal, scheduler, path, &options);
}

/* Jobs of some minutes, a third of them with a key, some of several pages; and free pages. */
static void put_jobs(struct htw_journal *journal) {
    static char payload[3 * PAGE];
    uint64_t ids[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        char key[16];
        int key_size = snprintf(key, sizeof(key), "key %u", i);
        struct htw_job job =
            JOB(.deadline_ns = START_NS + HTW_SECOND * (i * 37 % 600), .payload = payload,
                .payload_size = i % 49 == 0 ? sizeof(payload) : i % 60,
                .key = i % 3 == 0 ? key : NULL, .key_size = i % 3 == 0 ? (size_t)key_size : 0);
        if (htw_journal_apply(journal, &CHANGE(.jobs = &job, .job_count = 1)) != 0)
            fuzz_fail("%s", htw_journal_error());
        ids[i] = job.id;
    }
    for (unsigned i = 0; i < JOBS; i += 7)
        if (htw_journal_done(journal, ids[i]) != 0)
            fuzz_fail("%s", htw_journal_error());
}

static void make_good_file(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    struct htw_journal *journal;
    if (!test_folder_create(folder))
        fuzz_fail("no folder");
    snprintf(path, sizeof(path), "%s/journal", folder);
    if (open_journal(&journal, scheduler) != 0)
        fuzz_fail("%s", htw_journal_error());
    put_jobs(journal);
    if (htw_journal_close(journal) != 0)
        fuzz_fail("%s", htw_journal_error());
    htw_scheduler_destroy(scheduler);
    FILE *file = fopen(path, "rb");
    good = malloc(JOBS * PAGE);
    if (file == NULL || good == NULL)
        fuzz_fail("no file");
    good_size = fread(good, 1, JOBS * PAGE, file);
    fclose(file);
}

static void remove_folder(void) {
    (void)test_folder_remove(folder);
}

/* ---- an input */

static void edit(uint8_t *file, const uint8_t *data, size_t size) {
    while (size > HEAD) {
        size_t length = data[0] % 32 + 1u;
        size_t at = (size_t)data[1] * PAGE + (((size_t)data[2] << 8 | data[3]) % PAGE);
        data += HEAD, size -= HEAD;
        for (size_t i = 0; i < length && size > 0; i++, data++, size--)
            file[(at + i) % good_size] = *data;
    }
}

static void write_file(const void *bytes, size_t size) {
    static const char *const suffixes[] = { "-wal", "-shm", "-journal" };
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char name[sizeof(path) + 8];
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        unlink(name);
    }
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        fuzz_fail("the file cannot be written");
    close(fd);
}

static void write_input(const uint8_t *data, size_t size) {
    if (size > 0 && data[0] == 'r') {
        write_file(data + 1, size - 1);
        return;
    }
    uint8_t *file = malloc(good_size);
    if (file == NULL)
        fuzz_fail("no memory");
    memcpy(file, good, good_size);
    if (size > 0)
        edit(file, data + 1, size - 1);
    write_file(file, good_size);
    free(file);
}

/* ---- what is done with it */

static bool count_job(void *context, const struct htw_job_info *job) {
    uint64_t *counts = context;
    counts[0]++;
    counts[1] += job->deadline_ns <= END_NS && job->queue == NULL && job->state != HTW_JOB_BURIED;
    return true;
}

static bool count_queue(void *context, const struct htw_queue_stats *stats) {
    char *name = context;
    snprintf(name, HTW_QUEUE_NAME_MAX + 1, "%s", stats->name == NULL ? "" : stats->name);
    return *name == '\0'; /* the default queue comes first: there is one more at most */
}

static bool count_jobs(struct htw_journal *journal, uint64_t counts[2]) {
    char name[HTW_QUEUE_NAME_MAX + 1] = "";
    int got = htw_journal_list_queues(journal, count_queue, name);
    for (int i = 0; i < 2 && got >= 0 && (i == 0 || *name != '\0'); i++)
        for (int state = HTW_JOB_DELAYED; state <= HTW_JOB_BURIED && got >= 0; state++) {
            struct htw_list_place place = { { 0 } };
            got = htw_journal_list(journal, i == 0 ? NULL : name, (enum htw_job_state)state, &place,
                                   INT32_MAX, count_job, counts);
        }
    return got >= 0;
}

/* Whether the file is good. `counts`: jobs, and those that come until END_NS. */
static bool look(uint64_t counts[2]) {
    struct htw_journal *journal = NULL;
    struct htw__journal_request request = {
        .path = path, .json = true, .state = HTW__STATE_ANY, .limit = UINT64_MAX
    };
    counts[0] = counts[1] = 0;
    (void)htw__journal_list(&request);
    (void)htw__journal_show(&request);
    (void)htw__journal_stats(&request);
    bool is_good = htw__journal_check(&request) == 0;
    bool is_read =
        htw_journal_open_to_read(&journal, path, NULL) == 0 && count_jobs(journal, counts);
    htw_journal_close(journal);
    FUZZ_CHECK(is_read || !is_good);
    return is_good;
}

static void use(bool is_good, const uint64_t counts[2]) {
    struct htw_scheduler *scheduler = create_scheduler();
    struct htw_journal *journal;
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    delivered = 0;
    int error = open_journal(&journal, scheduler);
    if (is_good && error != 0)
        fuzz_fail("check finds it good, and it is not opened: %s", htw_journal_error());
    if (error == 0) {
        (void)htw_journal_get_stats(journal, &stats);
        FUZZ_CHECK(!is_good || stats.found == counts[0]);
        (void)htw_scheduler_advance(scheduler, HTW_HOUR);
        (void)!htw_journal_sync(journal);
        (void)htw_scheduler_advance(scheduler, END_NS - START_NS - HTW_HOUR);
        error = htw_journal_sync(journal);
        if (is_good && (error != 0 || delivered != counts[1]))
            fuzz_fail("of %llu jobs %llu were delivered", (unsigned long long)counts[1],
                      (unsigned long long)delivered);
        (void)!htw_journal_put(journal, START_NS, "x", 1, NULL);
        (void)htw_journal_close(journal);
    }
    htw_scheduler_destroy(scheduler);
}

static void run(const uint8_t *data, size_t size) {
    uint64_t counts[2];
    if (good == NULL) {
        make_good_file();
        atexit(remove_folder);
    }
    write_input(data, size);
    bool is_good = look(counts);
    use(is_good, counts);
}

static const struct fuzz_attack attacks[] = {
    { "a file that is none", "r", "", { "no journal\n" } },
    { "edits", "e", "", { "\x05 %zu edit" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "journal",
    .run = run,
    .memory = { 64 << 20, 100 },
    .steps = { 200000000, 2000 }, /* a good file has some 60 KiB, and `list` writes what is in it */
    .kept = 4 << 20,              /* SQLite's */
    .attacks = attacks,
};
