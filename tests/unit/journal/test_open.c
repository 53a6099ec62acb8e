/* SPDX-License-Identifier: MIT */
/* test_open.c - what is opened, what is refused, and what a refusal says. */
#include "../../../src/base/clock.h"
#include "../../../src/journal/state.h"
#include "../../support/child.h"
#include "../../support/returning_child.h"
#include "journal_fixture.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

static void assert_refused(struct journal_fixture *f, int error, const char *part) {
    assert_int_equal(journal_try_open(f), error);
    assert_null(f->journal);
    if (strstr(htw_journal_error(), part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", htw_journal_error(), part);
    assert_int_equal(f->memory.live_blocks, 0);
}

static void write_file(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void beside(const struct journal_fixture *f, const char *suffix, char path[160]) {
    snprintf(path, 160, "%s%s", f->path, suffix);
}

/* holds: journal-13 */
JOURNAL_TEST(journal_file_is_for_its_owner_alone) {
    static const char *const suffixes[] = { "", "-wal", "-shm", "-lock" };
    struct stat status;
    char path[160];
    mode_t before = umask(0);
    journal_open(f);
    umask(before);
    journal_put(f, HTW_HOUR, "a");
    for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
        beside(f, suffixes[i], path);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
    }
    assert_int_equal(htw_journal_close(f->journal), 0);
    f->journal = NULL;
    beside(f, "-wal", path);
    assert_int_equal(access(path, F_OK), -1); /* one file can be copied now */
}

static off_t size_of_log(const struct journal_fixture *f) {
    struct stat status;
    char path[160];
    beside(f, "-wal", path);
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

/* It keeps its size while it is begun again and again. Only a change that is larger than all others, or
   a long reader, makes it longer for a while. */
/* holds: journal-19 */
JOURNAL_TEST(journal_log_that_was_made_longer_shrinks_when_it_begins_again) {
    const size_t size = 25 << 20;
    char *payload = calloc(1, size);
    assert_non_null(payload);
    f->options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    journal_open(f);
    assert_int_equal(htw_journal_put(f->journal, START_NS + HTW_HOUR, payload, size, NULL), 0);
    assert_true(journal_stats(f).log_bytes > size);
    assert_int_equal(journal_stats(f).log_bytes, size_of_log(f));
    journal_put(f, HTW_HOUR, "a"); /* the log is copied before */
    assert_int_equal(size_of_log(f), 20 << 20);
    free(payload);
}

static void copy_file(const struct journal_fixture *f, const char *suffix, const char *to) {
    char from[160], path[160];
    beside(f, suffix, from);
    snprintf(path, sizeof(path), "%s%s", to, suffix);
    FILE *in = fopen(from, "r"), *out = fopen(path, "w");
    assert_non_null(in);
    assert_non_null(out);
    for (int byte; (byte = fgetc(in)) != EOF;)
        fputc(byte, out);
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
}

/* What a crash of the system may leave: a log that ends in zeros. */
/* holds: journal-1 */
JOURNAL_TEST(journal_finds_all_jobs_in_a_log_that_ends_in_zeros) {
    char copy[160], copy_of_log[170];
    beside(f, "-copy", copy);
    snprintf(copy_of_log, sizeof(copy_of_log), "%s-wal", copy);
    journal_open(f);
    for (int i = 0; i < 50; i++)
        journal_put(f, HTW_HOUR, "a");
    copy_file(f, "", copy);
    copy_file(f, "-wal", copy);
    assert_int_equal(truncate(copy_of_log, size_of_log(f) + (1 << 20)), 0);
    journal_close(f);
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, copy, &f->options), 0);
    assert_int_equal(journal_stats(f).found, 50);
}

/* holds: journal-12 */
JOURNAL_TEST(journal_is_open_once_by_any_name) {
    struct htw_journal *second;
    char link[160], other[160];
    journal_open(f);
    assert_int_equal(htw_journal_open(&second, f->scheduler, f->path, &f->options), -EBUSY);
    assert_non_null(strstr(htw_journal_error(), "is open in process"));
    beside(f, "-link", link);
    assert_int_equal(symlink(f->path, link), 0);
    assert_int_equal(htw_journal_open(&second, f->scheduler, link, &f->options), -EBUSY);
    snprintf(other, sizeof(other), "%s/../%s/journal", f->folder, strrchr(f->folder, '/') + 1);
    assert_int_equal(htw_journal_open(&second, f->scheduler, other, &f->options), -EBUSY);
    journal_put(f, HTW_HOUR, "a"); /* the refusals have left the locks alone */
    journal_close(f);
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, link, &f->options), 0);
}

static void open_in_child(void *arg) {
    struct htw_journal *second;
    const struct journal_fixture *f = arg;
    EXPECT(htw_journal_open(&second, NULL, f->path, NULL) == -EBUSY);
    EXPECT(strstr(htw_journal_error(), "process") != NULL);
}

/* A child process asks; the parent has the file open. Then the other way round. */
/* holds: journal-12 */
JOURNAL_TEST(journal_is_open_in_one_process) {
    int ready[2], end[2];
    char byte;
    journal_open(f);
    assert_int_equal(child_run(open_in_child, f, NULL, 0), 0);
    journal_close(f);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        struct htw_journal *own;
        EXPECT(htw_journal_open(&own, NULL, f->path, NULL) == 0);
        EXPECT(write(ready[1], "x", 1) == 1 && read(end[0], &byte, 1) >= 0);
        _exit(0); /* without closing it */
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    char text[64];
    snprintf(text, sizeof(text), "is open in process %ld", (long)child);
    assert_refused(f, -EBUSY, text);
    assert_int_equal(write(end[1], "x", 1), 1);
    assert_int_equal(child_end(child), 0);
    journal_open(f);
    close(ready[0]), close(ready[1]), close(end[0]), close(end[1]);
}

/* As long as nothing is written, neither knows of the other. */
/* holds: journal-12 */
JOURNAL_TEST(journal_whose_lock_file_was_removed_stops_when_another_has_written) {
    struct htw_journal *second;
    char lock[160];
    journal_open(f);
    journal_put(f, HTW_HOUR, "a");
    beside(f, "-lock", lock);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(htw_journal_open(&second, NULL, f->path, NULL), 0);
    assert_int_equal(htw_journal_put(second, START_NS + HTW_HOUR, "b", 1, NULL), 0);
    assert_int_equal(htw_journal_put(f->journal, START_NS + HTW_HOUR, "c", 1, NULL), -EIO);
    assert_non_null(strstr(htw_journal_error(), "another journal has written to the file"));
    assert_int_equal(htw_journal_sync(f->journal), -EIO);
    assert_int_equal(htw_journal_put(second, START_NS + HTW_HOUR, "d", 1, NULL), 0);
    (void)htw_journal_close(f->journal);
    assert_int_equal(htw_journal_close(second), 0);
    journal_open(f);
    journal_advance_to(f, HTW_HOUR);
    assert_string_equal(journal_texts(f), "a b d");
}

/* It is found by a change 10 ms later. */
static int put_until_it_fails(struct journal_fixture *f) {
    int result = 0;
    for (int i = 0; i < 100000 && result == 0; i++)
        result = htw_journal_put(f->journal, START_NS + HTW_HOUR, "b", 1, NULL);
    return result;
}

/* holds: journal-5 */
JOURNAL_TEST(journal_whose_file_was_removed_or_replaced_stops) {
    static const char *const suffixes[] = { "", "-wal" };
    for (int i = 0; i < 4; i++) {
        char path[160], other[160];
        journal_open(f);
        journal_put(f, HTW_HOUR, "a");
        beside(f, suffixes[i % 2], path);
        beside(f, "-other", other);
        write_file(other, "x", 1);
        assert_int_equal(i < 2 ? unlink(path) : rename(other, path), 0);
        assert_int_equal(put_until_it_fails(f), -EIO);
        journal_expect_stopped(f, "was removed or replaced");
        unlink(f->path);
        beside(f, "-wal", path);
        unlink(path);
    }
}

static void ask_in_child(void *journal) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    EXPECT(htw_journal_put(journal, 0, "", 0, NULL) == -EOWNERDEAD);
    EXPECT(htw_journal_done_later(journal, 1, NULL, NULL) == -EOWNERDEAD);
    EXPECT(htw_journal_sync(journal) == -EOWNERDEAD);
    EXPECT(htw_journal_get_stats(journal, &stats) == -EOWNERDEAD);
    EXPECT(htw_journal_close(journal) == -EOWNERDEAD);
}

/* holds: journal-16 */
JOURNAL_TEST(journal_in_a_child_process_answers_and_does_nothing) {
    journal_open(f);
    journal_put(f, HTW_HOUR, "a");
    assert_int_equal(child_run(ask_in_child, f->journal, NULL, 0), 0);
    journal_put(f, HTW_HOUR, "b");
    journal_advance_to(f, HTW_HOUR);
    assert_string_equal(journal_texts(f), "a b");
}

static struct returning_child returning;

static void fork_in_deliver(struct journal_fixture *f, const struct htw_delivery *delivery) {
    (void)f, (void)delivery;
    returning_child_fork(&returning);
}

static void fork_in_notice(void *arg, int result) {
    (void)arg, (void)result;
    returning_child_fork(&returning);
}

/* holds: journal-16 */
JOURNAL_TEST(journal_child_that_returns_from_deliver_or_a_notice_ends) {
    journal_open(f);
    f->act = fork_in_deliver;
    journal_put(f, HTW_HOUR, "a");
    journal_advance_to(f, HTW_HOUR);
    returning_child_assert_ended(&returning, "deliver");
    assert_int_equal(
        htw_journal_put_later(f->journal, START_NS, "b", 1, fork_in_notice, NULL, NULL), 0);
    journal_sync(f);
    returning_child_assert_ended(&returning, "a notice");
}

static bool has_lock_file(const struct journal_fixture *f) {
    char path[160];
    beside(f, "-lock", path);
    return access(path, F_OK) == 0;
}

/* What another process does while this one locks: between open() and fcntl(). */
static const char *removed_meanwhile;

/* The name that fcntl() has where offsets have 64 bits. */
#ifdef __GLIBC__
#define REAL_FCNTL __real_fcntl64
#define WRAP_FCNTL __wrap_fcntl64
#else
#define REAL_FCNTL __real_fcntl
#define WRAP_FCNTL __wrap_fcntl
#endif

int REAL_FCNTL(int fd, int command, ...);
int WRAP_FCNTL(int fd, int command, ...);
int WRAP_FCNTL(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    struct flock *request = va_arg(arguments, struct flock *);
    va_end(arguments);
    if (command == F_SETLK && removed_meanwhile != NULL) {
        unlink(removed_meanwhile);
        removed_meanwhile = NULL;
    }
    return REAL_FCNTL(fd, command, request);
}

static void find_lock_in_child(void *path) {
    struct flock request = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    EXPECT(fcntl(open(path, O_RDWR), F_GETLK, &request) == 0 && request.l_type == F_WRLCK);
}

/* holds: journal-12 */
JOURNAL_TEST(journal_lock_file_that_was_removed_meanwhile_locks_nothing) {
    char path[160];
    beside(f, "-lock", path);
    write_file(path, "", 0);
    removed_meanwhile = path;
    journal_open(f);
    assert_null(removed_meanwhile);
    assert_true(has_lock_file(f));
    assert_int_equal(child_run(find_lock_in_child, path, NULL, 0),
                     0); /* it does not inherit the lock */
}

/* holds: journal-12 */
JOURNAL_TEST(journal_foreign_file_is_refused_and_left_alone) {
    char bytes[4096], after[4096], path[160];
    memset(bytes, 'x', sizeof(bytes));
    write_file(f->path, bytes, sizeof(bytes));
    assert_refused(f, -EBADMSG, "not a database");
    assert_false(has_lock_file(f));
    FILE *file = fopen(f->path, "r");
    assert_non_null(file);
    assert_int_equal(fread(after, 1, sizeof(after), file), sizeof(after));
    assert_memory_equal(bytes, after, sizeof(after));
    fclose(file);
    unlink(f->path);
    journal_execute(f, "CREATE TABLE job (id INTEGER)");
    assert_refused(f, -EBADMSG, "not a journal");
    assert_false(has_lock_file(f));
    journal_execute(f, "SELECT count(*) FROM job");
    unlink(f->path);
    journal_execute(f, "PRAGMA application_id = 7");
    beside(f, "-lock", path);
    write_file(path, "", 0);
    assert_refused(f, -EBADMSG, "not a journal");
    assert_true(has_lock_file(f)); /* it was there before */
    write_file(f->path, "", 0);    /* an empty file is a new one */
    journal_open(f);
}

static bool take_info(void *context, const struct htw_job_info *info) {
    *(struct htw_job_info *)context = *info;
    return true;
}

JOURNAL_TEST(journal_without_a_scheduler_knows_the_time) {
    struct htw_job_info job;
    int64_t before_ns = htw__clock_realtime_ns() / HTW_MICROSECOND * HTW_MICROSECOND;
    assert_int_equal(htw_journal_open(&f->journal, NULL, f->path, NULL), 0);
    uint64_t id = journal_put_struct(f, JOB(.queue = "mail", .deadline_ns = before_ns));
    assert_int_equal(htw_journal_peek(f->journal, id, take_info, &job), 0);
    assert_int_equal(job.state, HTW_JOB_READY);
    assert_in_range(job.put_ns, before_ns, htw__clock_realtime_ns());
}

JOURNAL_TEST(journal_without_a_scheduler_leaves_jobs_that_are_delivered) {
    assert_int_equal(htw_journal_open(&f->journal, NULL, f->path, NULL), 0);
    journal_put(f, 0, "put");
    uint64_t moved = journal_put(f, HTW_MINUTE, "moved");
    assert_int_equal(journal_update(f, moved, HTW_JOB_MOVE, START_NS), 0);
    uint64_t kicked = journal_put(f, HTW_MINUTE, "kicked");
    assert_int_equal(journal_update(f, kicked, HTW_JOB_BURY, 0), 0);
    assert_int_equal(htw_journal_kick(f->journal, NULL, 5), 1);
    journal_close(f);
    journal_open(f);
    journal_advance_to(f, htw__clock_realtime_ns() - START_NS); /* they are due since then */
    assert_string_equal(journal_texts(f), "put moved kicked");
}

/* holds: journal-12 */
JOURNAL_TEST(journal_path_that_cannot_be_used_is_refused) {
    char other[160];
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, f->folder, &f->options), -EISDIR);
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, "", &f->options), -ENOENT);
    beside(f, "/none", other);
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, other, &f->options), -ENOENT);
    assert_non_null(strstr(htw_journal_error(), other));
    beside(f, "-dangling", other);
    assert_int_equal(symlink("/none/none", other), 0);
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, other, &f->options), -ENOENT);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    assert_refused(f, -EBADMSG, "not a regular file");
    unlink(f->path);
    journal_open(f);
    journal_close(f);
    beside(f, "-second", other);
    assert_int_equal(link(f->path, other), 0);
    assert_refused(f, -EINVAL, "hard links");
    unlink(other);
    char *longest = malloc(5000);
    assert_non_null(longest);
    memset(longest, 'x', 4999);
    longest[4999] = '\0';
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, longest, &f->options),
                     -ENAMETOOLONG);
    free(longest);
}

/* Root may write everything. */
static void open_as_another_user(void *arg) {
    struct htw_journal *journal;
    const struct journal_fixture *f = arg;
    EXPECT(chmod(f->path, 0444) == 0 && chmod(f->folder, 0755) == 0);
    if (geteuid() == 0 && seteuid(65534) != 0)
        return; /* cannot be tested here */
    EXPECT(htw_journal_open(&journal, NULL, f->path, NULL) == -EACCES);
    EXPECT(strstr(htw_journal_error(), "Permission denied") != NULL);
}

/* holds: journal-12 */
JOURNAL_TEST(journal_that_cannot_be_written_is_refused) {
    journal_open(f);
    journal_close(f);
    assert_int_equal(child_run(open_as_another_user, f, NULL, 0), 0);
}

static bool see_payload(void *context, const struct htw_job_info *info) {
    assert_memory_equal(info->payload, "b", info->payload_size);
    ++*(int *)context;
    return true;
}

JOURNAL_TEST(journal_without_a_path_is_in_memory) {
    char name[64];
    int seen = 0;
    f->options.deliver = NULL;
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, NULL, &f->options), 0);
    uint64_t first = journal_put(f, HTW_HOUR, "a"), second = journal_put(f, HTW_HOUR, "b");
    assert_int_equal(htw_journal_done(f->journal, first), 0);
    assert_int_equal(htw_journal_peek(f->journal, second, see_payload, &seen), 0);
    assert_int_equal(seen, 1);
    assert_int_equal(journal_stats(f).jobs, 1);
    assert_int_equal(journal_stats(f).failed, 0);
    assert_int_equal(sscanf(htw_journal_cancel(f->journal, first) == 0 ? "" : htw_journal_error(),
                            "%63[^:]", name),
                     1);
    assert_string_not_equal(name, f->path);
    assert_int_equal(access(name, F_OK), -1); /* it has no name */
    journal_close(f);
    assert_int_equal(htw_journal_open(&f->journal, f->scheduler, NULL, &f->options), 0);
    assert_int_equal(journal_stats(f).found, 0);
}

/* A closed journal with so many jobs, whose pages from `begin` to `end` are overwritten. */
static void write_damaged(struct journal_fixture *f, int jobs, off_t begin, off_t end) {
    journal_open(f);
    for (int i = 0; i < jobs; i++)
        assert_int_equal(htw_journal_put_later(f->journal, START_NS + HTW_HOUR, "0123456789", 10,
                                               NULL, NULL, NULL),
                         0);
    journal_sync(f);
    journal_close(f);
    int fd = open(f->path, O_RDWR);
    char rubbish[4096];
    memset(rubbish, 0xee, sizeof(rubbish));
    for (off_t page = begin; page < end; page++)
        assert_int_equal(pwrite(fd, rubbish, sizeof(rubbish), page * 4096), sizeof(rubbish));
    close(fd);
}

/* holds: journal-12 */
JOURNAL_TEST(journal_damaged_file_is_refused) {
    write_damaged(f, 300, 1, 5);
    assert_refused(f, -EBADMSG, "malformed");
}

static struct htw_journal *_Atomic stopped_journal;
static _Atomic int notices, refusals;
static char why_stopped[512];

static void note_stopped(void *context, const char *why) {
    (void)context;
    snprintf(why_stopped, sizeof(why_stopped), "%s", why);
    refusals += htw_journal_sync(stopped_journal) == -EDEADLK;
    returning_child_fork(&returning);
    notices++;
}

/* Damage that the open cannot see is found when a job is read, and stops the journal. */
/* holds: journal-5 */
JOURNAL_TEST(journal_that_finds_damage_stops) {
    write_damaged(f, 3000, 12, 20);
    f->options.stopped = note_stopped;
    journal_open(f);
    stopped_journal = f->journal;
    assert_int_equal(htw_scheduler_advance(f->scheduler, 2 * HTW_HOUR), 0);
    for (int i = 0; i < 3000 && notices == 0; i++) /* no call is needed for the notice */
        usleep(10000);
    assert_int_equal(notices, 1);
    assert_int_equal(refusals, 1);
    returning_child_assert_ended(&returning, "a notice");
    assert_non_null(strstr(why_stopped, "malformed"));
    assert_non_null(strstr(why_stopped, "has stopped"));
    assert_int_equal(htw_journal_put(f->journal, START_NS, "a", 1, NULL), -EIO);
    assert_non_null(strstr(htw_journal_error(), "malformed"));
    assert_non_null(strstr(htw_journal_error(), "has stopped"));
    journal_expect_stopped(f, "");
    assert_int_equal(notices, 1);
}

/* A page that stands for another one, too: its jobs come again, and so would pages in a circle. */
/* holds: journal-12 */
JOURNAL_TEST(journal_whose_pages_lead_back_stops) {
    char page[4096];
    write_damaged(f, 3000, 0, 0);
    int fd = open(f->path, O_RDWR);
    assert_int_equal(pread(fd, page, sizeof(page), 12 * 4096), sizeof(page));
    assert_int_equal(pwrite(fd, page, sizeof(page), 16 * 4096), sizeof(page));
    close(fd);
    journal_open(f);
    assert_int_equal(htw_scheduler_advance(f->scheduler, 2 * HTW_HOUR), 0);
    journal_expect_stopped(f, "the table of jobs is damaged");
}

/* ---- ids over many opens */

/* One for each of so many places, in a change that nobody waits for: the last id. */
static uint64_t put_apart(struct journal_fixture *f, size_t count) {
    struct htw_job *jobs = calloc(count, sizeof(*jobs));
    assert_non_null(jobs);
    for (size_t i = 0; i < count; i++)
        jobs[i] = JOB(.deadline_ns = START_NS + HTW_HOUR + (int64_t)i * HTW_MINUTE);
    const struct htw_journal_change change = CHANGE(.jobs = jobs, .job_count = count);
    assert_int_equal(htw_journal_apply_later(f->journal, &change, NULL, NULL), 0);
    uint64_t last = jobs[count - 1].id;
    free(jobs);
    return last;
}

/* A put by a caller that waits, or that does not. */
static uint64_t put_one(struct journal_fixture *f, bool waits) {
    return waits ? journal_put(f, HTW_HOUR, "a") : put_apart(f, 1);
}

JOURNAL_TEST(journal_that_is_closed_and_opened_very_often_loses_no_ids) {
    uint64_t last = 0;
    for (int i = 0; i < 100; i++) {
        journal_open(f);
        uint64_t id = put_one(f, i % 2 == 0);
        assert_true(id > last && id <= last + HTW__BLOCK_IDS);
        last = id;
        journal_close(f);
    }
}

/* What a kill leaves, right after changes that nobody has waited for. */
/* holds: journal-14 */
JOURNAL_TEST(journal_that_is_killed_loses_a_million_ids_at_most_and_gives_none_twice) {
    static const size_t counts[] = { 1, 4096, 4097, 70000 };
    char copy[160], path[160];
    f->options.allocator = NULL;
    snprintf(path, sizeof(path), "%s", f->path);
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        snprintf(f->path, sizeof(f->path), "%.90s%zu", path, i);
        beside(f, "-copy", copy);
        journal_open(f);
        uint64_t last = put_apart(f, counts[i]);
        copy_file(f, "", copy);
        copy_file(f, "-wal", copy);
        journal_close(f);
        assert_int_equal(htw_journal_open(&f->journal, f->scheduler, copy, &f->options), 0);
        uint64_t id = journal_put(f, HTW_HOUR, "b");
        assert_true(id > last && id <= last + (1 << 20) + HTW__BLOCK_IDS);
        journal_close(f);
    }
}

/* Jobs that are there can still be ended, and each refusal has a sentence. */
JOURNAL_TEST(journal_without_ids_refuses_puts_alone) {
    journal_open(f);
    uint64_t first = journal_put(f, HTW_HOUR, "a");
    f->journal->ids.end = f->journal->ids.next_block + HTW__BLOCK_IDS;
    f->journal->database.ids_end = f->journal->ids.end;
    journal_put(f, HTW_DAY, "b");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(htw_journal_put(f->journal, START_NS, "c", 1, NULL), -ENOSPC);
        assert_non_null(strstr(htw_journal_error(), "all ids"));
    }
    assert_int_equal(htw_journal_put_later(f->journal, START_NS, "c", 1, NULL, NULL, NULL),
                     -ENOSPC);
    assert_non_null(strstr(htw_journal_error(), "all ids"));
    assert_int_equal(htw_journal_cancel(f->journal, first), 0);
    journal_close(f);
    journal_open(f);
    assert_int_equal(journal_stats(f).jobs, 1);
}
