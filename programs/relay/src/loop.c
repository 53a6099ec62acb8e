/* SPDX-License-Identifier: MIT */
/* loop.c - the relay over Kafka: start and end, the loop. */
#include "kafka.h"

#include "../../../src/base/clock.h"
#include "../../../src/base/random.h"
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* How much one round takes of each, so that none waits long for the others. */
#define RECORDS_AT_ONCE 1000

/* The same of buckets that are being demoted: they have time, and what is due meanwhile has not. */
#define DEMOTED_AT_ONCE 100

/* A transaction as large as this is committed before its time. */
#define RECORDS_MAX 50000
#define BYTES_MAX ((size_t)32 << 20)

/* Without transactions, a failure doubles what a channel has published since its last commit: no more
 * than this, however much there is to catch up with. */
#define UNCOMMITTED_MAX 2000

/* Filing is committed so often where nothing that was filed is due soon: each partition that a
 * transaction touches costs a marker, and filing touches many. */
#define FILE_MS 500

#define CLOSING_MS 15000 /* for acknowledgements of what is to be committed */

/* A broker that has just become the leader of a partition does not know at once how far that goes. */
#define PATIENCE_MS 10000

/* Positions are committed again so often: those of topics that a group does not subscribe to expire after
 * offsets.retention.minutes. */
#define TOUCH_MS 1200000

/* ---- start */

static int open_readers(struct htw__kafka *self) {
    for (int i = 0; i < 2; i++) {
        if (htw__client_consume(self, HTW__CLIENT_READER, NULL, &self->readers[i],
                                &self->reader_queues[i]) != 0)
            return -EIO;
        htw__topics_meet(self, self->readers[i]);
    }
    return 0;
}

static void name_owner(struct htw__kafka *self) {
    if (self->options.instance != NULL)
        snprintf(self->owner, sizeof(self->owner), "%s", self->options.instance);
    else
        snprintf(self->owner, sizeof(self->owner), "%016" PRIx64, htw__random_seed(self));
    self->options.relay.owner = self->options.at_least_once ? NULL : self->owner;
}

int htw__kafka_open(struct htw__kafka *self, const struct htw__kafka_options *options) {
    *self = (struct htw__kafka) {
        .transport = { htw__writer_publish, htw__writer_expect, htw__reader_open,
                       htw__reader_close },
        .options = *options,
        .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
    };
    htw__directory_init(&self->directory);
    if (self->event_fd < 0)
        return htw__kafka_fail(self, "cannot create a descriptor: %m");
    if (htw__topics_name_all(self) != 0)
        return -EIO;
    name_owner(self);
    if (self->options.patience_ms == 0)
        self->options.patience_ms = PATIENCE_MS;
    self->has_relay = true;
    htw__relay_init(&self->relay, &self->options.relay, &self->transport, htw__clock_realtime_ms());
    self->admin = htw__client_create(self, HTW__CLIENT_ADMIN, NULL);
    if (self->admin == NULL)
        return -EIO;
    self->trim.queue = rd_kafka_queue_new(self->admin);
    htw__directory_open(&self->directory, self->admin, self->event_fd);
    htw__commits_init(self);
    return 0;
}

int htw__kafka_start(struct htw__kafka *self) {
    int error;
    if (htw__setup_check(self) != 0 || open_readers(self) != 0)
        return -EIO;
    self->built_count = self->stripe_count;
    self->stripes = htw__memory(self->stripe_count * sizeof(*self->stripes));
    error = htw__writers_open(self);
    if (error == -EAGAIN && htw__kafka_is_stopping(self))
        return error;
    if (error != 0)
        return htw__kafka_fail(self, "the brokers have no coordinator of transactions: %s",
                               self->options.brokers);
    htw__topics_introduce(self);
    self->last_touch_ms = self->writers[0].done_ms = self->writers[1].done_ms =
        htw__clock_monotonic_ms();
    return htw__member_join(self);
}

/* ---- the loop */

static bool is_committing(const struct htw__kafka *self) {
    return self->writers[0].committer.is_in_flight || self->writers[1].committer.is_in_flight;
}

/* One that comes again and again would otherwise not be seen. */
static void say_recovery(struct htw__kafka *self, const char *why) {
    struct htw__failure *failure = &self->relay.failure;
    self->relay.stats.recoveries++;
    if (failure->times == 0)
        htw__kafka_say(self, HTW__LOG_WARNING, "all is taken over again: %s", why);
    else
        htw__kafka_say(self, HTW__LOG_WARNING,
                       "all is taken over again: %s: offset %" PRId64 " of partition %d of %s, for "
                       "the %u. time; at the %u. it is a dead letter",
                       why, failure->offset, (int)htw__topics_partition(self, failure->from),
                       self->topics.names[failure->from.level], failure->times, HTW__FAILURES_MAX);
    failure->times = 0;
}

/* Back to what was committed, as soon as that is known. */
static int recover(struct htw__kafka *self) {
    if (is_committing(self))
        return 0;
    int error = htw__writers_abort(self);
    htw__group_forget(self);
    if (error == 0) {
        /* order: As `htw__kafka_recover`. [acquire: not played, and kept; release: not played, and
           kept] */
        say_recovery(self, atomic_exchange_explicit(&self->recovery, NULL, memory_order_acq_rel));
    }
    return error == -EAGAIN ? 0 : error;
}

/* How many records of a channel may be taken in one go. */
static size_t room_of(struct htw__kafka *self, enum htw__channel channel) {
    const struct htw__writer *writer = htw__writer_of(self, channel);
    if (writer->closing_ms != 0 || writer->committer.is_in_flight)
        return 0;
    if (htw__trust_is_careful(self))
        return writer->has_unproven ? 0 : 1;
    size_t room = writer->count < UNCOMMITTED_MAX ? UNCOMMITTED_MAX - writer->count : 0;
    return self->options.at_least_once && room < RECORDS_AT_ONCE ? room : RECORDS_AT_ONCE;
}

/* Reads some of everything; returns how much there was. */
static size_t read_some(struct htw__kafka *self) {
    size_t count =
        htw__reader_poll(self, self->reader_queues[0], room_of(self, HTW__CHANNEL_DELIVER));
    htw__reader_resume(self->readers[0], self->reader_queues[0], &self->was_full);
    size_t room = room_of(self, HTW__CHANNEL_FILE);
    count += htw__reader_poll(self, self->reader_queues[1],
                              room < DEMOTED_AT_ONCE ? room : DEMOTED_AT_ONCE);
    return count + htw__reader_poll(self, self->group_queue, room_of(self, HTW__CHANNEL_FILE));
}

static bool is_large(const struct htw__kafka *self, const struct htw__writer *writer) {
    size_t records_max = self->options.at_least_once ? UNCOMMITTED_MAX : RECORDS_MAX;
    return writer->count >= records_max || writer->bytes >= BYTES_MAX;
}

/* When the channel is to be committed, by the monotonic clock. */
static int64_t commit_time(struct htw__kafka *self, enum htw__channel channel) {
    const struct htw__writer *writer = htw__writer_of(self, channel);
    int64_t delay_ms = self->options.commit_ms;
    if (writer->committer.is_in_flight) /* its end wakes the loop */
        return INT64_MAX;
    if (is_large(self, writer) || (writer->has_unproven && htw__trust_is_careful(self)))
        return 0;
    if (self->options.at_least_once) /* no markers, and what is not committed comes twice */
        return writer->last_commit_ms + delay_ms;
    int64_t half_ms = self->options.relay.levels.width_ms / 2;
    int64_t file_ms = half_ms < FILE_MS ? half_ms : FILE_MS;
    if (channel == HTW__CHANNEL_FILE && delay_ms < file_ms && !self->relay.files_first) {
        /* What was filed must be readable, and read, before it is due. */
        int64_t left_ms = self->relay.soonest_ms == INT64_MAX
                              ? file_ms
                              : self->relay.soonest_ms - self->relay.now_ms - FILE_MS / 2;
        if (left_ms > delay_ms)
            delay_ms = left_ms < file_ms ? left_ms : file_ms;
    }
    return writer->last_commit_ms + delay_ms;
}

/* The other channel goes on while what was published is being acknowledged, as it does during the commit. */
static bool must_wait(struct htw__kafka *self, enum htw__channel channel, int64_t now_ms) {
    struct htw__writer *writer = htw__writer_of(self, channel);
    if (writer->closing_ms == 0)
        writer->closing_ms = now_ms;
    return now_ms - writer->closing_ms < CLOSING_MS && !htw__acknowledge_is_complete(self, channel);
}

/* Whether a commit was tried: then there may be room again for what could not be read before it. */
static bool commit_channel(struct htw__kafka *self, enum htw__channel channel, int64_t now_ms) {
    struct htw__writer *writer = htw__writer_of(self, channel);
    bool is_time = commit_time(self, channel) <= now_ms;
    /* What is closed already has met nothing that FILE accepts from then on. */
    if (is_time && channel == HTW__CHANNEL_DELIVER && self->relay.files_first &&
        writer->closing_ms == 0)
        return false;
    if (is_time && must_wait(self, channel, now_ms))
        return false;
    writer->closing_ms = 0;
    if (is_time)
        htw__commit_begin(self, channel);
    return is_time;
}

static bool commit_some(struct htw__kafka *self) {
    int64_t now_ms = htw__clock_monotonic_ms();
    if (now_ms - self->last_touch_ms >= TOUCH_MS) {
        self->last_touch_ms = now_ms;
        htw__relay_touch(&self->relay);
    }
    bool has_room = commit_channel(self, HTW__CHANNEL_DELIVER, now_ms);
    return commit_channel(self, HTW__CHANNEL_FILE, now_ms) || has_room;
}

/* How long nothing needs to be done, unless something arrives. */
static int sleep_ms(struct htw__kafka *self, int wait_ms) {
    int64_t due_ms = room_of(self, HTW__CHANNEL_DELIVER) == 0
                         ? INT64_MAX
                         : htw__relay_next(&self->relay) - htw__clock_realtime_ms();
    int64_t now_ms = htw__clock_monotonic_ms();
    int64_t commit_ms = commit_time(self, HTW__CHANNEL_DELIVER) - now_ms;
    int64_t file_ms = commit_time(self, HTW__CHANNEL_FILE) - now_ms;
    int64_t width_ms = self->options.relay.levels.width_ms / 4 + 1;
    int64_t limits[] = { due_ms, commit_ms, file_ms, width_ms };
    int64_t sleep = wait_ms;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (limits[i] < sleep)
            sleep = limits[i];
    return sleep > 0 ? (int)sleep : 0;
}

static void wait(struct htw__kafka *self, int other, int timeout_ms) {
    struct pollfd wanted[] = { { .fd = self->event_fd, .events = POLLIN },
                               { .fd = other, .events = POLLIN } };
    uint64_t number;
    if (poll(wanted, 2, timeout_ms) > 0 && wanted[0].revents != 0)
        (void)!read(self->event_fd, &number, sizeof(number));
}

int htw__kafka_run(struct htw__kafka *self, int other, int wait_ms) {
    size_t count = 0;
    bool has_more = false, has_room = false;
    htw__directory_learn(&self->directory);
    htw__commits_take(self, false);
    if (htw__member_check(self) != 0 || (htw__kafka_must_recover(self) && recover(self) != 0))
        return -EIO;
    if (htw__kafka_is_stopping(self))
        return 0;
    if (!htw__kafka_must_recover(self)) {
        /* Before FILE can accept more that DELIVER would have to wait for. */
        has_room = commit_channel(self, HTW__CHANNEL_DELIVER, htw__clock_monotonic_ms());
        size_t room = room_of(self, HTW__CHANNEL_DELIVER);
        int more = htw__relay_advance(&self->relay, htw__clock_realtime_ms(), room);
        if (more < 0)
            htw__kafka_recover(self, "the relay failed on a record");
        has_more = more > 0 && room > 0;
        count = read_some(self);
        htw__acknowledge_poll(self);
    }
    if (!htw__kafka_must_recover(self) && !self->has_failed && htw__group_take(self) == 0)
        has_room |= commit_some(self);
    htw__trim_run(self, htw__clock_monotonic_ms());
    htw__settings_run(self, htw__clock_monotonic_ms());
    htw__directory_send(&self->directory);
    if (self->has_failed)
        return -EIO;
    if (htw__kafka_must_recover(self))
        wait(self, other, 50);
    else if (count == 0 && !has_more && !has_room)
        wait(self, other, sleep_ms(self, wait_ms));
    return 0;
}

/* What the last fetch has told: librdkafka keeps it, and no broker is asked. */
static void measure_ends(struct htw__kafka *self) {
    int64_t start, end;
    for (uint32_t i = 0; i < self->stripe_count; i++)
        if (self->stripes[i] == HTW__STRIPE_READ &&
            rd_kafka_get_watermark_offsets(self->group, self->options.input, (int32_t)i, &start,
                                           &end) == 0)
            htw__relay_input_end(&self->relay, i, end); /* negative: not known yet */
}

void htw__kafka_measure(struct htw__kafka *self) {
    measure_ends(self);
    htw__relay_measure(&self->relay);
    self->relay.stats.input_partitions = self->stripe_count;
    for (int i = 0; i < 2; i++)
        if (self->writers[i].done_ms != 0)
            self->relay.stats.since_commit_s[i] =
                (uint64_t)(htw__clock_monotonic_ms() - self->writers[i].done_ms) / 1000;
}

/* ---- the end */

/* Leaves the group. The stripes are released by a commit of their own: if that fails, which it does if
 * another relay has just ended our transactions, nothing needs to be done again. */
static int leave(struct htw__kafka *self) {
    int error = 0;
    /* order: The flag counts alone; a call of librdkafka costs far more than the order. [relaxed: not
       played, and kept: what the thread did before is visible to one that stops] */
    atomic_store_explicit(&self->is_stopping, true, memory_order_release);
    htw__commits_take(self, true);
    if (self->member != NULL && (htw__commit_now(self, HTW__CHANNEL_DELIVER) != 0 ||
                                 htw__commit_now(self, HTW__CHANNEL_FILE) != 0))
        error = -EIO;
    if (self->member != NULL && error == 0) {
        for (uint32_t i = 0; i < self->stripe_count; i++)
            htw__relay_release(&self->relay, i);
        htw__commit_now(self, HTW__CHANNEL_FILE);
    }
    self->is_leaving = true;
    if (self->has_relay)
        htw__relay_lose_all(&self->relay);
    htw__member_leave(self);
    return error;
}

int htw__kafka_close(struct htw__kafka *self) {
    int error = leave(self);
    for (int i = 0; i < 2; i++)
        htw__client_close(&self->readers[i], &self->reader_queues[i]);
    htw__commits_take(self, true);
    htw__writers_close(self);
    htw__directory_fini(&self->directory);
    if (self->trim.list != NULL)
        rd_kafka_topic_partition_list_destroy(self->trim.list);
    if (self->trim.queue != NULL)
        rd_kafka_queue_destroy(self->trim.queue);
    htw__settings_end(self);
    if (self->admin != NULL)
        rd_kafka_destroy(self->admin);
    if (self->member != NULL)
        rd_kafka_consumer_group_metadata_destroy(self->member);
    if (self->has_relay)
        htw__relay_fini(&self->relay);
    free(self->stripes);
    free(self->view.headers);
    if (self->event_fd >= 0)
        close(self->event_fd);
    return error;
}
