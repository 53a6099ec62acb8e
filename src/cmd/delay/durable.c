/* SPDX-License-Identifier: MIT */
/*
 * durable.c - the loop of `htw delay --journal`: moves what the journal delivers to standard output,
 * and lines of the input into the journal. durable_state.h has an overview.
 */
#include "durable.h"

#include "durable_state.h"
#include "monitored.h"
#include "../../base/clock.h"
#include "../safe_file.h"
#include "../signals.h"
#include "../sleep.h"
#include "../status.h"
#include "../terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is due */

/* In the journal's thread. */
static void deliver(void *context, const struct htw_delivery *delivery) {
    struct htw__durable *self = context;
    struct htw__message *message = htw__message_create(delivery->payload, delivery->payload_size,
                                                       self->options->separator, NULL);
    if (message != NULL) {
        message->due = htw__time_of(0, delivery->deadline_ns);
        message->in.id = delivery->id;
    }
    htw__inbox_put(&self->inbox, message);
}

static void break_off(struct htw__durable *self, const char *what, int error) {
    htw__terminal_error("%s: %s", what, strerror(-error));
    self->has_failed = true;
    self->is_broken = true;
}

/* Room for the ids of all messages that may be released until there is more to deliver. */
static bool reserve(struct htw__durable *self, size_t count) {
    size_t wanted = self->released_count + self->output.count + count;
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

static void take_delivered(struct htw__durable *self) {
    struct htw__message *next;
    for (struct htw__message *message = htw__inbox_take(&self->inbox); message != NULL;
         message = next) {
        next = message->in.next;
        if (!reserve(self, 1)) {
            if (!self->is_broken)
                break_off(self, "no memory for what is due", -ENOMEM);
            htw__message_destroy(message);
            continue;
        }
        htw__output_push(&self->output, message);
        htw__report_accepted(&self->report, htw__message_memory(message),
                             (size_t)htw__durable_pending(self));
    }
    if (!self->is_broken && htw__inbox_has_no_memory(&self->inbox))
        break_off(self, "no memory for what is due", -ENOMEM);
}

static void note_released(void *context, const struct htw__message *message) {
    struct htw__durable *self = context;
    self->released[self->released_count++] = message->in.id;
    htw__inbox_released(&self->inbox, message);
}

static void write_due(struct htw__durable *self) {
    if (self->output.count == 0)
        return;
    if (self->stdout_is_terminal)
        htw__progress_erase(&self->progress);
    self->output_error = htw__output_write(&self->output);
}

/* ---- the loop */

static void tell(struct htw__durable *self) {
    int error = htw__acknowledge_write(&self->acknowledge);
    if (error == 0)
        return;
    htw__terminal_error("--acknowledge: %s", strerror(-error));
    self->has_failed = true;
}

static bool is_finished(const struct htw__durable *self) {
    if (self->output.count > 0 || self->change.is_under_way || htw__durable_is_reading(self))
        return false;
    /* Ends of jobs that the disk does not take wait for nothing else. */
    if (self->change_has_failed && self->jobs == self->released_count)
        return true;
    return self->jobs == 0 && !self->mark_has_moved;
}

/* How long to sleep, in nanoseconds; negative: until something happens. */
static int64_t choose_sleep(struct htw__durable *self) {
    int64_t now_ns = htw__clock_monotonic_ns(), until_ns = INT64_MAX;
    bool has_work = htw__durable_wants_input(self) && htw__durable_has_line(self);
    has_work = has_work || (self->released_count > 0 && !self->change_has_failed);
    if (has_work && !self->change.is_under_way)
        return 0;
    if (self->released_count > 0 && self->change_has_failed)
        until_ns = self->retry_ns;
    int64_t progress_ns = htw__progress_wait_ns(&self->progress);
    if (until_ns == INT64_MAX)
        return progress_ns == INT64_MAX ? -1 : progress_ns;
    int64_t sleep_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    return sleep_ns < progress_ns ? sleep_ns : progress_ns;
}

static void read_input(struct htw__durable *self) {
    int error = htw__input_read(&self->input);
    if (error == 0)
        return;
    htw__terminal_error("%s: no more is read: %s", self->input.name, strerror(-error));
    self->has_failed = true;
    self->has_stopped_reading = true;
}

static void sleep_until_something_happens(struct htw__durable *self) {
    int64_t sleep_ns = choose_sleep(self);
    bool has_output = self->output.count > 0;
    bool reads = htw__durable_wants_input(self) && !htw__durable_has_line(self);
    struct pollfd wanted[] = {
        { .fd = htw__signals_fd(), .events = POLLIN },
        { .fd = self->inbox.fd, .events = POLLIN },
        { .fd = reads ? htw__input_fd(&self->input) : -1, .events = POLLIN },
        { .fd = has_output || self->output.is_pipe ? self->output.fd : -1,
          .events = has_output ? POLLOUT : 0 },
        { .fd = htw__acknowledge_waits(&self->acknowledge) ? self->acknowledge.fd : -1,
          .events = POLLOUT },
    };
    int ready = htw__sleep(wanted, sizeof(wanted) / sizeof(wanted[0]), sleep_ns);
    if (ready < 0 && errno != EINTR)
        break_off(self, "cannot wait", -errno);
    if (ready <= 0)
        return;
    if (wanted[0].revents != 0)
        htw__signals_clear();
    if (wanted[2].revents != 0 && htw__signals_stop() == 0)
        read_input(self);
    if (!has_output && wanted[3].revents != 0)
        self->output_error = -EPIPE; /* no pending message can be released any more */
}

static void show_progress(struct htw__durable *self) {
    struct htw__progress_numbers numbers = {
        .read = self->report.read,
        .released = self->report.released,
        .pending = (size_t)htw__durable_pending(self),
        .next_in_ns = -1,
    };
    htw__progress_update(&self->progress, &numbers);
    if (!htw__signals_take_dump())
        return;
    htw__progress_erase(&self->progress);
    htw__durable_print_stats(self);
}

static void loop(struct htw__durable *self) {
    while (htw__signals_stop() == 0 && self->output_error == 0 && !self->is_broken) {
        take_delivered(self);
        write_due(self);
        if (self->output_error != 0)
            break;
        if (!self->has_stopped_reading)
            htw__input_advance(&self->input);
        htw__durable_change_ended(self);
        htw__durable_change(self, false);
        tell(self);
        htw__durable_look_after_journal(self);
        show_progress(self);
        if (is_finished(self))
            break;
        if (!self->is_broken)
            sleep_until_something_happens(self);
    }
}

/* ---- the start */

static bool open_input(void *context, int fd, const char *name, struct htw__input_place *place) {
    struct htw__durable *self = context;
    const char *why = htw__mark_begin(&self->mark, fd, self->options->reread, place);
    if (why != NULL)
        htw__terminal_error("%s: %s", name, why);
    return why == NULL;
}

/* What SQLite locks must not be opened and closed by others: that would release its locks. */
static const char *other_use(const struct htw__options *options) {
    const char *path = options->journal_path;
    for (int i = 0; i < options->name_count; i++) {
        const char *name = options->names[i];
        if (htw__safe_file_is_same(path, strcmp(name, "-") == 0 ? "/dev/stdin" : name))
            return "is to be read, and so cannot be the --journal file";
    }
    return htw__safe_file_is_same(path, "/dev/stdout")
               ? "is standard output, and so cannot be the --journal file"
               : NULL;
}

static const char *contradiction(const struct htw__options *options) {
    if (options->tick_ns < HTW_TICK_NS_MIN || options->tick_ns > HTW_TICK_NS_MAX)
        return "with --journal, a --tick lasts from 1us to 1h";
    if (options->name_count > HTW__MARK_FILES)
        return "too many files: how far they were read is kept of 48";
    return other_use(options);
}

/* Whether the journal is one of this program; a new one becomes one. */
static bool claim(struct htw__durable *self) {
    char text[HTW__MARK_SIZE];
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    int64_t size = htw_journal_get_mark(self->journal, text, sizeof(text));
    if (size < 0 || htw_journal_get_stats(self->journal, &stats) != 0) {
        htw__durable_fail(self);
        return false;
    }
    self->jobs = stats.found;
    if ((size == 0 && self->jobs > 0) || !htw__mark_init(&self->mark, text, (size_t)size)) {
        htw__terminal_error("%s: the journal of another program", self->options->journal_path);
        return false;
    }
    if (size > 0)
        return true;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.mark = text;
    change.mark_size = htw__mark_format(&self->mark, text);
    if (htw_journal_apply(self->journal, &change) == 0)
        return true;
    htw__durable_fail(self);
    return false;
}

static int open_journal(struct htw__durable *self) {
    struct htw_scheduler_options scheduler = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_journal_options journal = HTW_JOURNAL_OPTIONS_INIT;
    scheduler.clock = HTW_CLOCK_REALTIME;
    scheduler.tick_ns = self->options->tick_ns;
    scheduler.wheel_size = self->options->wheel_size;
    scheduler.shards = 1;
    scheduler.workers = 0; /* a delivery may wait, and then all others must */
    journal.deliver = deliver;
    journal.stopped = htw__durable_stopped;
    journal.context = self;
    journal.gather_ns = 1; /* the loop gathers */
    int error = htw_scheduler_create(&self->scheduler, &scheduler);
    if (error != 0) {
        break_off(self, "cannot start", error);
        return error;
    }
    error =
        htw_journal_open(&self->journal, self->scheduler, self->options->journal_path, &journal);
    if (error != 0)
        htw__durable_fail(self);
    return error;
}

/*
 * A run that was killed may have written a part of a message to a file. This ends that line, so that
 * the message, which is written again, begins a new one.
 */
static void end_last_line(const struct htw__durable *self) {
    struct stat status;
    char last = self->options->separator;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    off_t end = (flags & O_APPEND) != 0 ? status.st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR);
    int fd = end > 0 ? open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    bool is_cut = pread(fd, &last, 1, end - 1) == 1 && last != self->options->separator;
    close(fd);
    if (is_cut && write(STDOUT_FILENO, &self->options->separator, 1) == 1)
        htw__terminal_error("standard output: ended its last line, which was incomplete");
}

/* Everything that can fail before the first line is read. */
static bool start(struct htw__durable *self, const struct htw__options *options) {
    self->options = options;
    self->mark.fd = -1;
    const char *why = contradiction(options);
    if (why != NULL) {
        htw__terminal_error("%s: %s", options->journal_path, why);
        return false;
    }
    htw__timeline_init_wall(&self->timeline, options->tick_ns);
    htw__report_init(&self->report);
    htw__output_init(&self->output, STDOUT_FILENO, options->timestamps, &self->timeline,
                     &self->report);
    self->output.has_ids = options->ids;
    self->output.released = note_released;
    self->output.context = self;
    htw__progress_init(&self->progress, options->progress && isatty(STDERR_FILENO));
    self->stdout_is_terminal = isatty(STDOUT_FILENO);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* or the kernel sleeps 50 us longer */
    int error = htw__signals_install();
    if (error == 0)
        error = htw__input_init(&self->input, options->names, options->name_count,
                                options->separator, options->max_line);
    self->input.opened = open_input;
    self->input.context = self;
    if (error != 0) {
        break_off(self, "cannot start", error);
        return false;
    }
    if (open_journal(self) != 0 || !claim(self))
        return false;
    htw__acknowledge_init(&self->acknowledge, options->acknowledge_fd);
    end_last_line(self);
    return htw__monitored_scheduler(options, self->scheduler) == 0;
}

static void drop_messages(struct htw__durable *self) {
    struct htw__message *message;
    while ((message = htw__output_pop(&self->output)) != NULL)
        htw__message_destroy(message);
}

int htw__durable_run(const struct htw__options *options) {
    static struct htw__durable self; /* too large for the stack, and there is one run */
    int status = HTW__EXIT_FAILED;
    if (htw__inbox_init(&self.inbox) != 0) {
        htw__terminal_error("cannot start: %s", strerror(errno));
        return status;
    }
    if (start(&self, options)) {
        loop(&self);
        htw__monitored_end();
        status = htw__durable_finish(&self);
    }
    if (htw__signals_gives_up()) /* the disk does not answer, and closing would wait for it */
        return status;
    htw__inbox_close(&self.inbox);
    if (htw_journal_close(self.journal) != 0) {
        htw__durable_fail(&self);
        status = status == 0 ? HTW__EXIT_FAILED : status;
    }
    htw_scheduler_destroy(self.scheduler);
    drop_messages(&self);
    htw__input_fini(&self.input);
    htw__mark_fini(&self.mark);
    htw__inbox_fini(&self.inbox);
    free(self.released);
    return status;
}
