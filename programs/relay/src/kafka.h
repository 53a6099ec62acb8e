/* SPDX-License-Identifier: MIT */
/*
 * kafka.h - the relay over Kafka, by librdkafka: an overview, and what its files share. The manual lists them;
 * loop.c is where to start.
 *
 * HANDLES. `group` is the member of the consumer group, and reads the input. `readers` read buckets
 * (level 0, and the others), without being members. `admin` asks for offsets with open transactions
 * included, and deletes records. Of `writers` there is one for each channel of the relay.
 *
 * FENCING. Each commit names the member and the generation of the group, as they were at the last
 * rebalance: Kafka refuses it if another generation has begun since. (Fresh data, taken just before a
 * commit, would name no member if the membership has been lost meanwhile, and Kafka lets that pass.)
 *
 * One thread uses all this, except that the directory asks by `admin` in a thread of its own, that commits are done by a thread
 * for each writer (commit.c), and that librdkafka tells errors and log lines by these and by its own threads.
 */
#ifndef HTW_RELAY_KAFKA_H
#define HTW_RELAY_KAFKA_H

#include "background.h"
#include "directory.h"
#include "relay.h"

#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdatomic.h>

/* How long anything waits for a broker when the relay is to stop. */
#define HTW__STOP_MS 3000

enum htw__severity { HTW__LOG_INFO, HTW__LOG_WARNING, HTW__LOG_ERROR };

struct htw__property {
    char *name, *value;
};

struct htw__kafka_options {
    const char *brokers;
    const char *input;    /* the topic; those of the levels are INPUT.l0, ... */
    const char *group;    /* of consumers */
    const char *instance; /* an owner's name (progress.h); NULL: each start is a new member */
    const struct htw__property *properties; /* for librdkafka */
    size_t property_count;
    int64_t commit_ms;   /* the interval of delivery */
    int64_t patience_ms; /* how long a position may be beyond the end of its partition; 0: chosen */
    bool at_least_once;
    struct htw__relay_options relay;
    void (*say)(enum htw__severity level, const char *text); /* of one line; by any thread */
    bool (*must_stop)(void); /* whether the relay is to leave soon: nothing is begun then that takes
                              * long. NULL: it is told by htw__kafka_close() alone */
};

/* A record that was produced, and not acknowledged. */
struct htw__unacknowledged {
    bool is_bucket, is_letter;
    struct htw__source bucket, from;
    int64_t from_offset;
    size_t size;                          /* in memory */
    struct htw__destination *destination; /* NULL: without transactions, or to a bucket */
};

struct htw__writer {
    rd_kafka_t *producer;
    struct htw__unacknowledged *records;
    size_t count, room;  /* since the last commit */
    size_t acknowledged; /* of these */
    size_t bytes;        /* since the last commit */
    size_t in_flight;    /* bytes of those that are not acknowledged */
    bool in_transaction;
    bool has_unproven; /* that is for a destination that has not proven to accept it (trust.c) */
    int64_t last_commit_ms; /* by the monotonic clock */
    int64_t done_ms;        /* when the last commit succeeded, by the same */
    int64_t closing_ms;     /* since when a commit waits for acknowledgements; 0: none does */
    /* The commit that is in flight. */
    struct htw__background committer;
    struct htw__kafka *kafka;
    rd_kafka_topic_partition_list_t *list; /* of the positions */
    /* The first record that failed, if one did. */
    rd_kafka_resp_err_t failure;
    struct htw__unacknowledged failed;
};

enum htw__stripe_state {
    HTW__STRIPE_NONE,
    HTW__STRIPE_WAITING, /* assigned, and its buckets do not exist yet */
    HTW__STRIPE_STOPPED, /* assigned, and its index has lost entries */
    HTW__STRIPE_ASSIGNED,
    HTW__STRIPE_TAKEN, /* its index is being read */
    HTW__STRIPE_READ   /* its input is */
};

struct htw__kafka {
    struct htw__transport transport;
    struct htw__kafka_options options;
    struct htw__relay relay;
    bool has_relay;
    int event_fd;
    rd_kafka_t *group, *readers[2], *admin;
    rd_kafka_queue_t *group_queue, *reader_queues[2];
    struct htw__writer writers[2]; /* by channel */
    struct htw__directory directory;
    struct {
        char names[HTW__RELAY_SOURCES + 1][HTW__TOPIC_NAME_SIZE]; /* and that of dead letters */
        const char *own[HTW__RELAY_SOURCES + 1];
    } topics;
    /* The stripes. */
    uint32_t stripe_count; /* partitions of the input */
    int32_t replicas;      /* of the input's first partition */
    uint32_t built_count;  /* stripes below this have buckets */
    enum htw__stripe_state *stripes;
    struct {               /* group.c */
        int64_t asked_ms;  /* when the buckets of those that wait were asked for last */
        int64_t retry_ms;  /* stripes are not taken before this */
        int64_t beyond_ms; /* since when a position has been beyond its end; 0: none is */
        uint32_t next;
    } taking;
    /* The membership. */
    rd_kafka_consumer_group_metadata_t *member; /* NULL: not joined */
    char owner[HTW__RELAY_OWNER_MAX + 1];       /* the instance, or a random name */
    struct {
        int count; /* since stripes were assigned last */
        int64_t last_ms;
    } rejoin;
    int64_t careful_ms; /* until then records are taken one at a time (trust.c); 0: they are not */
    struct { /* whose transactions were ended last, and when; the owner that was found last */
        char owner[HTW__RELAY_OWNER_MAX + 1];
        int64_t ended_ms;
        char found[HTW__RELAY_OWNER_MAX + 1];
    } fence;
    /* Reading and committing. */
    bool was_full; /* the queue of the first reader, which reads indexes, too */
    struct {       /* room for the headers of a record that was read */
        struct htw__header *headers;
        size_t room;
    } view;
    int64_t last_touch_ms; /* when all positions were committed again */
    /* What is done from time to time. */
    struct {                     /* of our topics */
        rd_kafka_queue_t *queue; /* of answers; NULL: they were not asked for */
        bool were_checked;
        int64_t asked_ms;
    } settings;
    struct {
        rd_kafka_topic_partition_list_t *list; /* what may be deleted; NULL: nothing */
        rd_kafka_queue_t *queue;
        bool is_running, is_refused;
        int64_t last_ms;
    } trim;
    bool is_skewed; /* this machine's clock differs from the broker's */
    /* Failure and end. */
    /* Why everything is to be forgotten and taken over again: a transaction failed, the membership was lost, an offset is
     * gone, ... NULL: it is not. Errors of a producer come from any thread. */
    const char *_Atomic recovery;
    bool has_failed; /* for good: `error` says why */
    _Atomic bool is_stopping;
    bool is_leaving; /* what could be committed is: stripes only go */
    char error[1024];
};

/* ---- what all of its files ask and say of it */

/* Whether the relay is to stop, so that no more is begun, and less time is given to brokers. */
static inline bool htw__kafka_is_stopping(const struct htw__kafka *kafka) {
    /* order: As its store. [relaxed: not played, and kept as its store] */
    return atomic_load_explicit(&kafka->is_stopping, memory_order_acquire) ||
           (kafka->options.must_stop != NULL && kafka->options.must_stop());
}

/* Whether everything is to be forgotten and taken over again. */
static inline bool htw__kafka_must_recover(const struct htw__kafka *kafka) {
    /* order: As its store. [relaxed: not played, and kept as its store] */
    return atomic_load_explicit(&kafka->recovery, memory_order_acquire) != NULL;
}

/* It is, because of `why`, a static phrase. The first reason counts. Any thread may say so. */
static inline void htw__kafka_recover(struct htw__kafka *kafka, const char *why) {
    const char *none = NULL;
    /* order: A thread that recovers sees what made the other one ask for it. [relaxed: not played, and
       kept: the reasons are in many places] */
    atomic_compare_exchange_strong_explicit(&kafka->recovery, &none, why, memory_order_release,
                                            memory_order_relaxed);
}

/* How long a step waits for a broker: less when the relay is to stop. */
static inline int htw__kafka_limit_ms(const struct htw__kafka *kafka, int usual_ms) {
    return htw__kafka_is_stopping(kafka) ? HTW__STOP_MS : usual_ms;
}

/* Without transactions the channels differ in nothing but what is flushed. */
static inline struct htw__writer *htw__writer_of(struct htw__kafka *kafka,
                                                 enum htw__channel channel) {
    return &kafka->writers[channel];
}

/* What stands beside a position. */
static inline struct htw__bytes htw__metadata_of(const rd_kafka_topic_partition_t *partition) {
    return (struct htw__bytes) { partition->metadata, partition->metadata_size };
}

/* ---- say.c */

/* Notes an error that ends the relay; the first one counts. Returns -EIO. */
int htw__kafka_fail(struct htw__kafka *kafka, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says something by options.say. */
void htw__kafka_say(const struct htw__kafka *kafka, enum htw__severity level, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));

/* ---- loop.c */

/* Makes what asks and creates topics. Returns 0, or -EIO: `error` says why. In both cases
 * htw__kafka_close() ends its use. */
int htw__kafka_open(struct htw__kafka *kafka, const struct htw__kafka_options *options);

/* Checks the topics, waits up to a minute for what transactions need, and joins the group. Returns 0, -EIO: `error` says
 * why, or -EAGAIN: the relay is to stop. */
int htw__kafka_start(struct htw__kafka *kafka);

/* One round: takes what has arrived, delivers what is due, commits. Then waits until something happens,
 * or another descriptor is readable (-1: none), or `wait_ms` have passed. Returns 0, or -EIO: `error` says why. */
int htw__kafka_run(struct htw__kafka *kafka, int other, int wait_ms);

/* Brings the statistics up to date. */
void htw__kafka_measure(struct htw__kafka *kafka);

/* Commits what is done, leaves the group, frees everything. Returns 0, or -EIO: not all was committed,
 * and a successor does the rest again. */
int htw__kafka_close(struct htw__kafka *kafka);

/* ---- client.c */

/* The last three are producers, of which the last two are those of the channels. */
enum htw__client {
    HTW__CLIENT_GROUP,
    HTW__CLIENT_READER,
    HTW__CLIENT_SCAN,
    HTW__CLIENT_ADMIN,
    HTW__CLIENT_CHANGE,
    HTW__CLIENT_FILE,
    HTW__CLIENT_DELIVER,
};

/* Makes a handle; a producer has the transactional id of that owner. NULL: `error` says why. */
rd_kafka_t *htw__client_create(struct htw__kafka *kafka, enum htw__client kind, const char *owner);

/* What librdkafka calls when the stripes of a member change. */
typedef void htw__rebalance(rd_kafka_t *group, rd_kafka_resp_err_t what,
                            rd_kafka_topic_partition_list_t *partitions, void *opaque);

/* Makes a consumer, whose queue wakes the loop. Only a member has a `rebalance`. Returns 0 or -EIO. */
int htw__client_consume(struct htw__kafka *kafka, enum htw__client kind, htw__rebalance *rebalance,
                        rd_kafka_t **ret_consumer, rd_kafka_queue_t **ret_queue);

/* Gives a record to a producer, which copies it. `opaque` comes back with its acknowledgement. */
rd_kafka_resp_err_t htw__client_produce(rd_kafka_t *producer, const char *topic, int32_t partition,
                                        const struct htw__relay_record *record, void *opaque);

/* Closes a consumer, if there is one. librdkafka calls `rebalance` meanwhile, unless the member has a fatal error. */
void htw__client_close(rd_kafka_t **consumer, rd_kafka_queue_t **queue);

/* Waits for the answer to a request of an administrator. NULL: none came. */
rd_kafka_event_t *htw__client_await(rd_kafka_queue_t *queue, int timeout_ms);

/* What became of records of HTW__CLIENT_CHANGE. They lead here by their opaque. */
struct htw__sent {
    int left;                  /* to be acknowledged */
    rd_kafka_resp_err_t error; /* the first one */
};

/* ---- setup.c */

/* Finds the topics and checks them. Returns 0 or -EIO. */
int htw__setup_check(struct htw__kafka *kafka);

/* Makes those that are missing, and adds partitions to those that have too few. Returns 0 or -EIO. */
int htw__setup_create(struct htw__kafka *kafka);

/* ---- settings.c */

/* Sets what one of our topics is created with. */
void htw__settings_make(const struct htw__kafka *kafka, rd_kafka_NewTopic_t *request,
                        const char *name);

/* Checks the settings of our topics; one with which records would be lost is an error: `error` says which. Where the relay may
 * not ask for them, or the broker does not tell them, it says so and goes on. */
void htw__settings_check(struct htw__kafka *kafka);

/* Does the same each minute, without waiting. */
void htw__settings_run(struct htw__kafka *kafka, int64_t now_ms);
void htw__settings_end(struct htw__kafka *kafka);

/* ---- topics.c */

/* Whether the buckets of a stripe exist, as far as is known now. All clients know them then, too. */
bool htw__topics_have_buckets(struct htw__kafka *kafka, uint32_t stripe);

/* Names the topics of the relay, to which it delivers nothing. Returns 0 or -EIO. */
int htw__topics_name_all(struct htw__kafka *kafka);

/* Asks for the destinations that are allowed by name, and for the topic of dead letters, before the first record. */
void htw__topics_introduce(struct htw__kafka *kafka);

/* Lets a new client know the topics of levels and index, so that what is filed or read first does not wait. */
void htw__topics_meet(struct htw__kafka *kafka, rd_kafka_t *client);

/* Adds a partition to a list, or makes a list of it alone. Its topic is topics.names[source.level]. */
rd_kafka_topic_partition_t *htw__topics_add(const struct htw__kafka *kafka,
                                            rd_kafka_topic_partition_list_t *list,
                                            struct htw__source source, int64_t offset);
rd_kafka_topic_partition_list_t *htw__topics_list(const struct htw__kafka *kafka,
                                                  struct htw__source source, int64_t offset);

/* The partition of a source, and back (false: it is none of ours). */
int32_t htw__topics_partition(const struct htw__kafka *kafka, struct htw__source source);
bool htw__topics_source(const struct htw__kafka *kafka, const char *topic, int32_t partition,
                        struct htw__source *ret_source);

/* How many partitions a topic has, for a command. The client that will read or write asks: so it knows the leaders when it
 * begins, and does not look for them only once a second. Returns that, or -EIO: `error` says why. */
int32_t htw__topics_count(struct htw__kafka *kafka, rd_kafka_t *client, uint32_t level);

/* Lists so many partitions, and asks for offsets of all. NULL: `error` says why, or `count` is an error. */
rd_kafka_topic_partition_list_t *htw__topics_offsets(struct htw__kafka *kafka,
                                                     enum htw__lookup_offsets which, uint32_t level,
                                                     int32_t count);

/* ---- member.c */

/* Joins. Returns 0 or -EIO. */
int htw__member_join(struct htw__kafka *kafka);

/* Joins again, if the membership has ended in a way that librdkafka does not mend. Returns 0 or -EIO. */
int htw__member_check(struct htw__kafka *kafka);

/* Leaves, and gives the place in the group away, unless it is kept for a restart under the same --instance. */
void htw__member_leave(struct htw__kafka *kafka);

/* ---- group.c */

htw__rebalance htw__group_rebalance;

/* Takes over the stripes that were assigned. Returns 0 or -EIO. */
int htw__group_take(struct htw__kafka *kafka);

/* Tries those that stand still again, since their index may have been given back. */
void htw__group_retry(struct htw__kafka *kafka);

/* Forgets all stripes: they are taken over again, as far as they are still ours. */
void htw__group_forget(struct htw__kafka *kafka);

/* The membership has ended: nothing is ours any more. */
void htw__group_lose(struct htw__kafka *kafka);

/* ---- fence.c */

/* Ends the transactions of the last owner of a stripe, if that is another one and did not give it away.
 * Takes about a second then. */
void htw__fence(struct htw__kafka *kafka, uint32_t stripe);

/* Whether htw__fence() knew the owner that stands beside the position of the input. If not, it is to be called again. */
bool htw__fence_covers(const struct htw__kafka *kafka, struct htw__bytes metadata);

/* ---- reader.c */

void htw__reader_open(struct htw__transport *transport, struct htw__source bucket, int64_t offset);
void htw__reader_close(struct htw__transport *transport, struct htw__source bucket);

/* A message as a record, which leads into it and is valid until the next call. */
struct htw__relay_record htw__reader_view(struct htw__kafka *kafka,
                                          const rd_kafka_message_t *message);

/* Passes on what has arrived, at most `max` of the queue. Returns how much there was. */
size_t htw__reader_poll(struct htw__kafka *kafka, rd_kafka_queue_t *queue, size_t max);

/* For who takes small records faster than they come: while its queue is full, librdkafka 2.0 does not fetch, and then looks
 * again only after up to a second. A seek to where it is makes it look at once. Is called after each time that records
 * were taken; `was_full` is false at first. */
void htw__reader_resume(rd_kafka_t *reader, rd_kafka_queue_t *queue, bool *was_full);

/* ---- writer.c */

void htw__writer_expect(struct htw__transport *transport, const char *topic);
int htw__writer_publish(struct htw__transport *transport, const struct htw__outgoing *outgoing);

/* Creates the producers. Returns as htw__writers_abort(). */
int htw__writers_open(struct htw__kafka *kafka);
void htw__writers_close(struct htw__kafka *kafka);

/* Aborts what is open, in all channels; no commit is in flight then. Returns 0; -EAGAIN: to be tried again; or
 * -EIO. */
int htw__writers_abort(struct htw__kafka *kafka);

/* Opens a transaction, if none is open. Returns 0, or -EAGAIN: all is to be forgotten. */
int htw__writer_begin(struct htw__kafka *kafka, struct htw__writer *writer);

/* Forgets the records that were produced: they are committed, or aborted. */
void htw__writer_forget(struct htw__writer *writer, bool is_committed);

/* ---- trust.c */

/* The last record of a transaction is for this destination. */
void htw__trust_note(struct htw__writer *writer, struct htw__destination *destination);

/* That transaction has ended. */
void htw__trust_end(struct htw__writer *writer, bool is_committed);

/* Kafka has refused to let it write to a topic: finds out to which, or fails if it can only be one of the levels. */
void htw__trust_refused(struct htw__kafka *kafka, const struct htw__writer *writer);

/* Whether records are to be taken one at a time, and committed at once if writer->has_unproven. */
bool htw__trust_is_careful(const struct htw__kafka *kafka);

/* ---- commit.c */

/* Makes the writers able to commit. */
void htw__commits_init(struct htw__kafka *kafka);

/* Begins to commit what a channel has published, with its positions, where all of it is acknowledged and no commit of the
 * channel is in flight. If it fails, now or later, the relay recovers (htw__kafka_must_recover()). */
void htw__commit_begin(struct htw__kafka *kafka, enum htw__channel channel);

/* Does what follows from the commits that have ended; with `wait`, from all that are in flight. */
void htw__commits_take(struct htw__kafka *kafka, bool wait);

/* Commits, and waits for acknowledgements and for the end. Returns 0, or -EAGAIN: all is to be forgotten;
 * the relay recovers (htw__kafka_must_recover()). */
int htw__commit_now(struct htw__kafka *kafka, enum htw__channel channel);

/* ---- acknowledge.c */

/* Called by librdkafka. */
void htw__acknowledge(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque);

/* Serves acknowledgements. */
void htw__acknowledge_poll(struct htw__kafka *kafka);

/* Whether all that a channel has published is acknowledged, or a record has failed. If not, it hurries librdkafka,
 * and waits for a millisecond. */
bool htw__acknowledge_is_complete(struct htw__kafka *kafka, enum htw__channel channel);

/* Waits until all that a channel has published is acknowledged. False: not within this time, or a record has failed,
 * and it has been decided what becomes of that. */
bool htw__acknowledge_await(struct htw__kafka *kafka, enum htw__channel channel, int limit_ms);

/* ---- trim.c */

/* Notes positions that were committed. */
void htw__trim_note(struct htw__kafka *kafka, const rd_kafka_topic_partition_list_t *positions);

/* Deletes, from time to time, what lies before them. */
void htw__trim_run(struct htw__kafka *kafka, int64_t now_ms);

#endif /* HTW_RELAY_KAFKA_H */
