/* SPDX-License-Identifier: MIT */
/*
 * durable.c - the store of `htw delay --journal`: opens the journal, and moves what it delivers to the
 * output queue. durable_state.h has an overview.
 */
#include "delay.h"

#include "durable_state.h"
#include "../../base/clock.h"
#include "../duration.h"
#include "../monitored.h"
#include "../safe_file.h"
#include "../signals.h"
#include "../status.h"
#include "../terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Prints what the journal says of its last failure. */
static void fail(struct htw__durable *self) {
    htw__terminal_error("%s", htw_journal_error());
    self->delay.has_failed = true;
}

/* ---- what is due */

/* In the journal's thread. */
static void deliver(void *context, const struct htw_delivery *delivery) {
    struct htw__durable *self = context;
    struct htw__message *message = htw__message_create(delivery->payload, delivery->payload_size,
                                                       self->delay.options->separator, NULL);
    if (message != NULL) {
        message->due = htw__time_of(0, delivery->deadline_ns);
        message->in.id = delivery->id;
    }
    htw__inbox_put(&self->inbox, message);
}

static void end_for_memory(struct htw__durable *self) {
    if (!self->delay.is_broken)
        htw__delay_fail(&self->delay, "no memory for what is due", -ENOMEM);
    self->delay.is_broken = true;
}

/* Room for the ids of all messages that may be released until there is more to deliver. */
static bool reserve(struct htw__durable *self, size_t count) {
    size_t wanted = self->released_count + self->delay.output.count + count;
    if (wanted <= self->released_capacity)
        return true;
    wanted += wanted / 2;
    uint64_t *ids = realloc(self->released, wanted * sizeof(*ids));
    if (ids == NULL)
        return false;
    self->released = ids;
    self->released_capacity = wanted;
    return true;
}

static bool collect_due(struct htw__delay *delay) {
    struct htw__durable *self = htw__durable_of(delay);
    htw__durable_change_ended(self);
    if (htw__signals_stop() != 0) /* the next run releases what comes now */
        return false;
    struct htw__message *next;
    for (struct htw__message *message = htw__inbox_take(&self->inbox); message != NULL;
         message = next) {
        next = message->in.next;
        if (!reserve(self, 1)) {
            end_for_memory(self);
            htw__message_destroy(message);
            continue;
        }
        htw__output_push(&delay->output, message);
        htw__report_accepted(&delay->report, htw__message_memory(message),
                             (size_t)htw__durable_pending(self));
    }
    if (htw__inbox_has_no_memory(&self->inbox))
        end_for_memory(self);
    return false;
}

static void note_released(void *context, const struct htw__message *message) {
    struct htw__durable *self = context;
    self->released[self->released_count++] = message->in.id;
    htw__inbox_released(&self->inbox, message);
}

static enum htw__delay_next next(struct htw__delay *delay, int64_t *ret_ns) {
    struct htw__durable *self = htw__durable_of(delay);
    int64_t now_ns = htw__clock_monotonic_ns();
    delay->awaited[1].fd = htw__acknowledge_waits(&self->acknowledge) ? self->acknowledge.fd : -1;
    *ret_ns = INT64_MAX;
    if (self->released_count > 0 && self->change_has_failed)
        *ret_ns = self->retry_ns > now_ns ? self->retry_ns - now_ns : 0;
    else if (self->released_count > 0 && !delay->is_busy)
        *ret_ns = 0;
    if (delay->is_busy || htw__delay_is_reading(delay))
        return HTW__DELAY_SLEEPS;
    /* Ends of jobs that the disk does not take wait for nothing else. */
    bool has_only_ends = self->change_has_failed && self->jobs == self->released_count;
    return has_only_ends || self->jobs == 0 ? HTW__DELAY_IS_FINISHED : HTW__DELAY_SLEEPS;
}

/* ---- the start */

static bool open_input(void *context, int fd, const char *name, struct htw__input_place *place) {
    struct htw__durable *self = context;
    htw__mark_move(&self->mark, self->delay.place);
    const char *why = htw__mark_begin(&self->mark, fd, self->delay.options->reread, place);
    if (why != NULL)
        htw__terminal_error("%s: %s", name, why);
    self->delay.place = *place;
    return why == NULL;
}

/* What SQLite locks must not be opened and closed by others: that would release its locks. */
static bool is_used_otherwise(const struct htw__delay *delay) {
    const char *path = delay->options->journal_path;
    if (htw__delay_reads(delay, path, "--journal"))
        return true;
    if (!htw__safe_file_is_same(path, "/dev/stdout"))
        return false;
    htw__terminal_error("%s: is standard output, and so cannot be the --journal file", path);
    return true;
}

/* What this program can do only without a journal. */
static const char *limit(const struct htw__options *options) {
    if (options->tick_ns < HTW_TICK_NS_MIN || options->tick_ns > HTW_TICK_NS_MAX)
        return "with --journal, a --tick lasts from 1us to 1h";
    return options->name_count > HTW__MARK_FILES
               ? "too many files: how far they were read is kept of 48"
               : NULL;
}

/* Whether the journal is one of this program; a new one becomes one. */
static bool claim(struct htw__durable *self) {
    char text[HTW__MARK_SIZE];
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    int64_t size = htw_journal_get_mark(self->journal, text, sizeof(text));
    if (size < 0 || htw_journal_get_stats(self->journal, &stats) != 0) {
        fail(self);
        return false;
    }
    self->jobs = stats.found;
    if ((size == 0 && self->jobs > 0) || !htw__mark_init(&self->mark, text, (size_t)size)) {
        htw__terminal_error("%s: the journal of another program",
                            self->delay.options->journal_path);
        return false;
    }
    if (size > 0)
        return true;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.mark = text;
    change.mark_size = htw__mark_format(&self->mark, text);
    if (htw_journal_apply(self->journal, &change) == 0)
        return true;
    fail(self);
    return false;
}

static int open_journal(struct htw__durable *self) {
    struct htw_scheduler_options scheduler = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_journal_options journal = HTW_JOURNAL_OPTIONS_INIT;
    scheduler.clock = HTW_CLOCK_REALTIME;
    scheduler.tick_ns = self->delay.options->tick_ns;
    scheduler.wheel_size = self->delay.options->wheel_size;
    scheduler.shards = 1;
    scheduler.workers = 0; /* a delivery may wait, and then all others must */
    journal.deliver = deliver;
    journal.stopped = htw__durable_stopped;
    journal.context = self;
    journal.gather_ns = 1; /* the loop gathers */
    int error = htw_scheduler_create(&self->scheduler, &scheduler);
    if (error != 0) {
        htw__delay_fail(&self->delay, "cannot start", error);
        return error;
    }
    error = htw_journal_open(&self->journal, self->scheduler, self->delay.options->journal_path,
                             &journal);
    if (error != 0)
        fail(self);
    return error;
}

/*
 * A run that was killed may have written a part of a message to a file. This ends that line, so that
 * the message, which is written again, begins a new one.
 */
static void end_last_line(const struct htw__delay *delay) {
    struct stat status;
    char last = delay->options->separator;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    off_t end = (flags & O_APPEND) != 0 ? status.st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR);
    int fd = end > 0 ? open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    bool is_cut = pread(fd, &last, 1, end - 1) == 1 && last != delay->options->separator;
    close(fd);
    if (is_cut && write(STDOUT_FILENO, &delay->options->separator, 1) == 1)
        htw__terminal_error("standard output: ended its last line, which was incomplete");
}

static bool open_store(struct htw__delay *delay) {
    struct htw__durable *self = htw__durable_of(delay);
    const struct htw__options *options = delay->options;
    const char *why = limit(options);
    if (why != NULL)
        htw__terminal_error("%s: %s", options->journal_path, why);
    if (why != NULL || is_used_otherwise(delay))
        return false;
    htw__timeline_init_wall(&delay->timeline, options->tick_ns);
    delay->output.has_ids = options->ids;
    delay->output.released = note_released;
    delay->output.context = self;
    delay->input.opened = open_input;
    delay->input.context = self;
    delay->awaited[0] = (struct pollfd) { .fd = self->inbox.fd, .events = POLLIN };
    delay->awaited[1].events = POLLOUT;
    if (open_journal(self) != 0 || !claim(self))
        return false;
    htw__acknowledge_init(&self->acknowledge, options->acknowledge_fd);
    end_last_line(delay);
    struct htw__monitored shown = {
        .name = "delay",
        .scheduler = self->scheduler,
        .journal = { self->journal, htw_journal_get_stats, htw_journal_list_queues },
    };
    return !options->monitor || htw__monitored_begin(options->monitor_path, &shown);
}

static bool close_store(struct htw__delay *delay) {
    struct htw__durable *self = htw__durable_of(delay);
    struct htw__message *message;
    if (htw__signals_gives_up()) /* the disk does not answer, and closing would wait for it */
        return true;
    htw__inbox_close(&self->inbox);
    bool is_closed = htw_journal_close(self->journal) == 0;
    if (!is_closed)
        fail(self);
    htw_scheduler_destroy(self->scheduler);
    while ((message = htw__output_pop(&delay->output)) != NULL)
        htw__message_destroy(message);
    htw__mark_fini(&self->mark);
    htw__inbox_fini(&self->inbox);
    free(self->released);
    return is_closed;
}

/* ---- the end */

static void save(struct htw__delay *delay, struct htw__delay_left *left) {
    struct htw__durable *self = htw__durable_of(delay);
    bool may_have_fragment = self->mark.fd < 0 && htw__delay_is_reading(delay);
    if (delay->output_error != 0) /* what is read now would only wait */
        delay->has_stopped_reading = true;
    htw__signals_begin_saving();
    htw__durable_settle(self);
    left->count = htw__durable_pending(self);
    snprintf(left->where, sizeof(left->where), ", kept in %s", delay->options->journal_path);
    if (self->released_count > 0)
        snprintf(
            left->error, sizeof(left->error),
            "%zu were released, but that could not be recorded: the next run releases them again",
            self->released_count);
    if (may_have_fragment && htw__input_has_fragment(&delay->input))
        left->fragment_line = htw__input_line(&delay->input);
    left->is_told = self->released_count > 0 || left->fragment_line > 0;
}

/* ---- what is shown */

static void show_progress(const struct htw__delay *delay, struct htw__progress_numbers *numbers) {
    numbers->pending = (size_t)htw__durable_pending(htw__durable_of(delay));
}

static void print_time(const char *name, uint64_t ns) {
    char text[HTW__DURATION_FORMAT_SIZE];
    htw__duration_format(ns, text);
    fprintf(stderr, "%s %s", name, text);
}

static void print_stats(const struct htw__delay *delay) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    htw__report_print_messages(&delay->report, stderr);
    if (htw_journal_get_stats(htw__durable_of(delay)->journal, &stats) != 0)
        return;
    fprintf(stderr,
            "journal: found %" PRIu64 ", put %" PRIu64 ", done %" PRIu64 ", now %" PRIu64 "\n",
            stats.found, stats.put, stats.done, stats.jobs);
    fprintf(stderr, "commits %" PRIu64, stats.commits);
    if (stats.commit.count > 0) {
        print_time(", p50", stats.commit.p50_ns);
        print_time(", p99", stats.commit.p99_ns);
        print_time(", max", stats.commit.max_ns);
    }
    fputs("\n", stderr);
}

static const struct htw__store store = {
    .open = open_store,
    .close = close_store,
    .collect_due = collect_due,
    .room = htw__durable_room,
    .put = htw__durable_put,
    .commit = htw__durable_commit,
    .next = next,
    .save = save,
    .show_progress = show_progress,
    .draw = print_stats,
    .print_stats = print_stats,
};

int htw__durable_run(const struct htw__options *options) {
    static struct htw__durable self = { .delay.store = &store, .mark.fd = -1 };
    if (htw__inbox_init(&self.inbox) == 0)
        return htw__delay_run(&self.delay, options);
    htw__terminal_error("cannot start: %s", strerror(errno));
    return HTW__EXIT_FAILED;
}
