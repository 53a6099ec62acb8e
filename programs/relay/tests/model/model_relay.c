/* SPDX-License-Identifier: MIT */
/*
 * model_relay.c - random histories of relays over a broker in memory, in virtual time. At the end of
 * each, everything that was sent is compared with everything that was delivered.
 *
 * Members are killed in the middle of transactions and of commits, of which each takes long while the other channel
 * goes on; they lose stripes with and without knowing it, have
 * clocks that differ and are set, fail to commit, have memory for few records; all are down for longer
 * than the windows. Each record is delivered once (with at-least-once: once or more), or is a dead
 * letter with cause, or was cancelled; none early by the clock of the member that delivered it. A record
 * for which a move was sent is delivered once, for the one time or for the other; none is delivered
 * whose cancel could be read when that member took the stripe over. Producers send in transactions, too.
 * Histories without faults also say how late. Usage: arguments.h.
 */
/* holds: relay-1, relay-2, relay-3, relay-4, relay-5, relay-6, relay-7, relay-8, relay-9, relay-15, relay-17,
   relay-18, relay-21 */
#include "support/random.h"
#include "model/arguments.h"
#include "memory_broker.h"
#include "../../src/index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS 3
#define RECORDS_MAX 2000
#define START_MS INT64_C(1700000000000)

enum fate { DELIVER, DEAD_BAD, DEAD_MISSING, DEAD_SMALL, CANCEL, NEVER };

struct sent {
    int64_t deadline_ms, sent_ms, offset;
    uint32_t stripe;
    enum fate fate;
    size_t victim;                    /* of a cancel or a replacement */
    bool has_cancel;                  /* such a one was sent for it, ... */
    size_t cancel;                    /* ... this one, ... */
    int64_t cancelled_ms;             /* ... and can be read since this time */
    size_t root;                      /* whose id it has */
    bool is_conditional;              /* it is for the place of `victim` alone */
    bool is_by_id;                    /* a cancel without a time */
    bool is_replacement, is_replaced; /* by `cancel` */
    bool is_open;                     /* the transaction in which it was sent is */
    bool asks;
    unsigned answers;
    unsigned delivered, dead;
    int64_t every_ms; /* it recurs, ...; 0: it does not */
    unsigned times;   /* ... so often ... */
    unsigned catch_up;
    uint32_t seen; /* ... and was delivered for these */
};

static struct model_arguments arguments;
static struct random_source source;
static uint64_t history, steps_done, records_done, replacements_done, occurrences_done,
    answers_done;
static struct broker broker;
static struct member members[MEMBERS];
static struct sent sent[RECORDS_MAX];
static size_t sent_count;
static struct htw__relay_options options;
static bool is_faulty, has_skews, was_silent, is_deaf;
static int64_t horizon_ms;
static const char *const patterns[] = { "out*", "missing", "small" };

static void fail(const char *what, size_t record) {
    fprintf(stderr, "--seed %llu --first %llu --histories 1, step %llu: %s: record %zu",
            (unsigned long long)arguments.seed, (unsigned long long)history,
            (unsigned long long)steps_done, what, record);
    if (record < sent_count)
        fprintf(stderr, ", fate %d, deadline %" PRId64 ", sent %" PRId64 ", delivered %u, dead %u",
                (int)sent[record].fate, sent[record].deadline_ms - START_MS,
                sent[record].sent_ms - START_MS, sent[record].delivered, sent[record].dead);
    fprintf(stderr, "\n");
    exit(1);
}

static uint64_t below(uint64_t bound) {
    return random_below(&source, bound);
}

static size_t size_below(size_t bound) {
    return (size_t)random_below(&source, bound);
}

/* ---- sending */

/* The headers of the record that is sent, and their texts. */
static struct htw__header headers[8];
static char texts[8][32];
static size_t header_count;

static void add_text(const char *name, const char *value) {
    headers[header_count++] = (struct htw__header) { htw__bytes_of(name), htw__bytes_of(value) };
}

static void add_number(const char *name, int64_t number, const char *unit) {
    snprintf(texts[header_count], sizeof(texts[0]), "%" PRId64 "%s", number, unit);
    add_text(name, texts[header_count]);
}

static void send(struct sent *record, size_t index) {
    int64_t delay_ms = record->deadline_ms - broker.now_ms;
    bool is_cancel = record->fate == CANCEL;
    bool is_relative = !is_cancel && !record->has_cancel && delay_ms >= 0 && below(2) == 0;
    header_count = 0;
    if (record->fate == DEAD_BAD)
        add_text("htw-delay", "soon");
    else if (!record->is_by_id)
        add_number(is_relative ? "htw-delay" : "htw-deliver-at",
                   is_relative ? delay_ms : record->deadline_ms, "");
    add_number(is_cancel ? "htw-cancel" : "htw-id", (int64_t)record->root, "");
    if (record->is_conditional)
        add_number("htw-if-offset", sent[record->victim].offset, "");
    if (record->asks)
        add_number("htw-ask", (int64_t)index, "");
    if (!is_cancel && (record->fate != DELIVER || below(2) == 0))
        add_text("htw-deliver-to", record->fate == DEAD_MISSING ? "missing"
                                   : record->fate == DEAD_SMALL ? "small"
                                                                : "out-2");
    if (record->every_ms != 0) {
        add_number("htw-every", record->every_ms, "ms");
        add_number("htw-until", record->deadline_ms + (record->times - 1) * record->every_ms + 1,
                   "");
        add_number("htw-catch-up", record->catch_up, "");
    }
    struct htw__relay_record view = { .timestamp_ms = broker.now_ms,
                                      .key = htw__bytes_of("key"),
                                      .value = { &index, sizeof(index) },
                                      .headers = headers,
                                      .header_count = header_count };
    record->offset = broker_produce(&broker, record->stripe, &view);
}

static int64_t choose_deadline(void) {
    switch (below(4)) {
    case 0:
        return broker.now_ms - (int64_t)below(1000);
    case 1:
        return broker.now_ms + (int64_t)below(4 * (uint64_t)options.levels.width_ms);
    default:
        return broker.now_ms + (int64_t)below((uint64_t)horizon_ms);
    }
}

/* Often one that is due about now. */
static size_t choose_victim(void) {
    size_t victim = sent_count > 0 ? size_below(sent_count) : 0;
    bool is_near = false;
    for (uint64_t i = sent_count > 0 ? below(2) * 50 : 0; i > 0 && !is_near; i--) {
        victim = size_below(sent_count);
        int64_t left_ms = sent[victim].deadline_ms - broker.now_ms;
        is_near = left_ms > -options.levels.width_ms && left_ms < 3 * options.levels.width_ms;
    }
    return victim;
}

/* With dead letters each occurrence is one. */
static void let_recur(struct sent *record) {
    static const unsigned catch_ups[] = { 0, 1, 3, 1000 };
    if (record->fate == DEAD_BAD || broker.at_least_once || below(4) != 0)
        return;
    record->every_ms = 1000 + (int64_t)below(2000);
    record->times = 1 + (unsigned)below(6);
    record->catch_up = record->fate == DELIVER ? catch_ups[below(4)] : 1000;
}

static void send_one(struct sent *record) {
    record->is_open = broker.sender_txn != 0;
    record->asks = record->fate != DEAD_BAD && below(2) == 0;
    if (record->is_open && record->fate == CANCEL)
        sent[record->victim].cancelled_ms = INT64_MAX;
    send(record, sent_count);
    sent_count++;
}

static void make_cancel(struct sent *record, size_t victim) {
    *record = sent[victim];
    record->is_conditional = record->is_replacement = false;
    record->fate = CANCEL;
    record->victim = victim;
    record->every_ms = 0;
    record->sent_ms = broker.now_ms;
    sent[victim].has_cancel = true;
    sent[victim].cancel = sent_count;
    sent[victim].cancelled_ms = broker.now_ms;
}

static void send_some(void) {
    uint64_t wanted = 1 + below(20);
    int64_t same_ms = choose_deadline();
    bool all_same = below(4) == 0; /* many records of one millisecond */
    for (uint64_t i = 0; i < wanted && sent_count < RECORDS_MAX; i++) {
        struct sent *record = &sent[sent_count];
        *record = (struct sent) { .deadline_ms = all_same ? same_ms : choose_deadline(),
                                  .sent_ms = broker.now_ms,
                                  .root = sent_count,
                                  .stripe = (uint32_t)below(BROKER_STRIPES) };
        if (below(12) == 0)
            record->fate = (enum fate)(1 + below(3));
        if (record->fate == DEAD_SMALL && !is_faulty)
            record->fate = DELIVER;
        let_recur(record);
        size_t victim = choose_victim();
        if (sent_count > 0 && below(5) == 0 && sent[victim].fate == DELIVER &&
            !sent[victim].has_cancel && !sent[victim].is_open) {
            bool by_id = broker.sender_txn == 0 && (below(2) == 0 || sent[victim].is_replacement);
            if (!by_id && sent[victim].is_replacement)
                goto sending;
            make_cancel(record, victim);
            if (by_id && below(3) != 0) {
                record->fate = DELIVER;
                record->is_replacement = sent[victim].is_replaced = true;
                record->is_conditional = below(2) == 0;
                record->deadline_ms = choose_deadline();
            } else if (by_id)
                record->is_by_id = true;
        } else if (record->fate == DELIVER && record->every_ms == 0 && below(20) == 0 &&
                   sent_count + 1 < RECORDS_MAX && broker.sender_txn == 0) {
            struct sent *late =
                &sent[sent_count + 1]; /* a cancel comes first: it has no later effect */
            *late = *record;
            record->fate = CANCEL;
            record->root = late->root = record->victim = sent_count + 1;
            record->is_by_id = below(2) == 0;
            send_one(record);
            record = late;
        }
    sending:
        send_one(record);
    }
}

/* What was sent in a transaction becomes readable, or never was. */
static void end_sending(bool is_committed) {
    broker_end(&broker, is_committed);
    for (size_t i = 0; i < sent_count; i++) {
        struct sent *record = &sent[i];
        if (!record->is_open)
            continue;
        record->is_open = false;
        if (record->fate == CANCEL && is_committed)
            sent[record->victim].cancelled_ms = broker.now_ms;
        if (!is_committed && record->fate == CANCEL)
            sent[record->victim].has_cancel = false;
        if (!is_committed)
            record->fate = NEVER;
    }
}

/* ---- members */

/* A zombie learns that it has lost everything; others begin again. */
static void recover(struct member *member) {
    (void)member_commit_end(member, HTW__CHANNEL_FILE,
                            false); /* in the name of the old generation */
    (void)member_commit_end(member, HTW__CHANNEL_DELIVER, false);
    if (member->generation != broker.generation)
        memset(member->owns, 0, sizeof(member->owns));
    member->generation = broker.generation;
    member_recover(member);
}

static void expect_gain(struct member *member, uint32_t stripe) {
    if (member_commit(member, HTW__CHANNEL_FILE, false) != 0 ||
        member_commit(member, HTW__CHANNEL_DELIVER, false) != 0)
        recover(member);
    enum htw__gain result = member_gain(member, stripe);
    if (result != HTW__GAIN_OK)
        fail("a stripe could not be taken over", (size_t)result);
    if (member_commit(member, HTW__CHANNEL_FILE, false) != 0)
        fail("the first commit of a stripe failed", stripe);
}

/* Each stripe gets one of the members that live. Those that lose one without committing abort. */
static void rebalance(bool is_gentle) {
    bool alive = false;
    for (size_t i = 0; i < MEMBERS; i++) {
        struct member *member = &members[i];
        if (!member->is_alive)
            continue;
        alive = true;
        if (!is_gentle || member_commit(member, HTW__CHANNEL_FILE, false) != 0 ||
            member_commit(member, HTW__CHANNEL_DELIVER, false) != 0)
            recover(member);
    }
    broker.generation++;
    broker_resolve(&broker, members, MEMBERS, true);
    for (uint32_t stripe = 0; stripe < BROKER_STRIPES && alive; stripe++) {
        size_t owner;
        do
            owner = size_below(MEMBERS);
        while (!members[owner].is_alive);
        for (size_t i = 0; i < MEMBERS; i++) {
            members[i].generation = broker.generation;
            if (i != owner && members[i].owns[stripe]) {
                htw__relay_lose(&members[i].relay, stripe);
                members[i].owns[stripe] = false;
            }
        }
        if (!members[owner].owns[stripe])
            expect_gain(&members[owner], stripe);
    }
}

static void start_some(void) {
    for (size_t i = 0; i < MEMBERS; i++)
        if (!members[i].is_alive && (below(2) == 0 || i == 0))
            member_start(&members[i], &broker, &options,
                         has_skews ? (int64_t)below(4000) - 2000 : 0);
    rebalance(below(2) == 0);
}

static void run(struct member *member, size_t max) {
    int error = member_advance(member, max);
    for (uint32_t stripe = 0; stripe < BROKER_STRIPES && error == 0 && !is_deaf; stripe++)
        error = member_poll_input(member, stripe, max);
    if (error == 0)
        error = member_poll_buckets(member, max);
    if (error == 0)
        member_acknowledge(member, size_below(max + 1));
    if (error != 0)
        recover(member);
}

/* The next step of a channel's commit; where there are no faults, all of them, so that records are not late. */
static int commit_channel(struct member *member, enum htw__channel channel) {
    bool is_slow = is_faulty && below(3) == 0;
    if (!member_is_committing(member, channel)) {
        int error = member_commit_begin(member, channel);
        if (error != 0 || (is_faulty && below(2) == 0))
            return error;
    } else if (is_faulty && below(3) == 0) {
        member_commit_do(member, channel, is_slow);
        return 0;
    }
    return member_commit_end(member, channel, is_slow);
}

static void commit(struct member *member) {
    uint64_t which = below(3);
    if ((which != 1 && commit_channel(member, HTW__CHANNEL_FILE) != 0) ||
        (which != 2 && commit_channel(member, HTW__CHANNEL_DELIVER) != 0))
        recover(member);
}

/* A member is taken for dead, its stripes go to another, and it does not know it yet. */
static void suspect(struct member *member) {
    struct member *heir = &members[(size_t)(member - members + 1) % MEMBERS];
    if (!heir->is_alive || !member->is_alive || member->generation != broker.generation ||
        heir->generation != broker.generation)
        return;
    broker.generation++;
    for (size_t i = 0; i < MEMBERS; i++)
        if (members[i].generation == broker.generation - 1 && &members[i] != member)
            members[i].generation = broker.generation;
    /* Its open transaction is aborted by the broker, before its positions can be read. */
    size_t txns[2] = { member->txns[0], member->txns[1] };
    member->txns[0] = member->txns[1] = 0;
    broker_resolve(&broker, members, MEMBERS, true);
    memcpy(member->txns, txns, sizeof(txns));
    for (uint32_t stripe = 0; stripe < BROKER_STRIPES; stripe++)
        if (member->owns[stripe])
            expect_gain(heir, stripe);
}

/* Many records become due, and what is done is not committed. */
static bool run_ahead(struct member *member, enum htw__channel other) {
    broker.now_ms += 2 * options.levels.width_ms;
    for (int i = 0; i < 4 && member->is_alive; i++)
        run(member, 500);
    return member->is_alive && !member_is_committing(member, other);
}

/* One channel is committed, and the other one is lost. */
static void commit_one(struct member *member, enum htw__channel channel) {
    if (member_commit(member, channel, false) == 0)
        member_kill(member);
    else
        recover(member);
    start_some();
}

/* Some of what was delivered, and is not committed, is cancelled. */
static void cancel_leaving(const struct member *member) {
    size_t txn = member->txns[HTW__CHANNEL_DELIVER], victim;
    for (size_t i = broker.out.count; i > 0 && sent_count < RECORDS_MAX; i--) {
        const struct broker_record *delivered = &broker.out.records[i - 1];
        if (txn == 0 || delivered->txn != txn || broker.sender_txn != 0 ||
            delivered->record == NULL) /* the broker has ended it, and the member does not know */
            break;
        memcpy(&victim, delivered->record->value.bytes, sizeof(victim));
        if (sent[victim].fate != DELIVER || sent[victim].has_cancel || sent[victim].every_ms != 0 ||
            below(2) == 0)
            continue;
        make_cancel(&sent[sent_count], victim);
        sent[sent_count].is_by_id = true;
        send_one(&sent[sent_count]);
    }
}

static void be_faulty(void) {
    struct member *member = &members[below(MEMBERS)];
    switch (below(14)) {
    case 0:
        if (broker.at_least_once && member->is_alive && below(2) == 0)
            member_lose(member, below(3) == 0);
        if (below(2) == 0) /* what was asked for is done, and the member never knows */
            member_commit_do(member, (enum htw__channel)below(2), below(2) == 0);
        if (member->is_alive)
            member_kill(member);
        start_some();
        break;
    case 1:
        rebalance(below(2) == 0);
        break;
    case 2:
        if (!broker.at_least_once)
            suspect(member);
        break;
    case 3:
        if (member->is_alive) /* the transaction fails */
            recover(member);
        break;
    case 4:
        if (has_skews)
            member->skew_ms += (int64_t)below(6000) - 3000;
        break;
    case 5:
        broker_resolve(&broker, members, MEMBERS, true);
        break;
    case 6: /* the topic of dead letters comes and goes */
        broker.refused = broker.refused == NULL ? options.dead_letters : NULL;
        break;
    case 7:
        for (size_t i = 0; i < MEMBERS && below(6) == 0; i++)
            if (members[i].is_alive)
                member_kill(&members[i]);
        broker.now_ms += (int64_t)below((uint64_t)horizon_ms);
        start_some();
        break;
    case 8: /* what is due is postponed meanwhile */
        broker.is_silent = !broker.is_silent;
        was_silent = true;
        break;
    case 9: /* a producer takes its time */
        if (broker.sender_txn == 0)
            broker_begin(&broker);
        else
            end_sending(below(3) != 0);
        break;
    case 10: /* what was delivered is committed, and what was filed is not */
        for (size_t i = 0; i < MEMBERS; i++)
            if (members[i].is_alive && members[i].relay.files_first)
                member = &members[i];
        if (run_ahead(member, HTW__CHANNEL_FILE))
            commit_one(member, HTW__CHANNEL_DELIVER);
        break;
    case 11: /* the reverse; so it was not too late for cancels that came meanwhile */
        if (!run_ahead(member, HTW__CHANNEL_DELIVER))
            break;
        cancel_leaving(member);
        for (uint32_t stripe = 0; stripe < BROKER_STRIPES; stripe++)
            if (member_poll_input(member, stripe, RECORDS_MAX) != 0)
                recover(member);
        commit_one(member, HTW__CHANNEL_FILE);
        break;
    case 12: /* the leader of the input does not answer */
        is_deaf = !is_deaf;
        break;
    default:
        broker.now_ms += (int64_t)below(2 * (uint64_t)options.levels.width_ms);
    }
}

/* ---- the end */

static bool is_drained(const struct broker_partition *partition) {
    for (size_t i = (size_t)partition->committed; i < partition->count; i++)
        if (partition->records[i].record != NULL &&
            broker.txns[partition->records[i].txn].state != TXN_ABORTED)
            return false;
    return true;
}

static bool has_work(void) {
    for (uint32_t stripe = 0; stripe < BROKER_STRIPES; stripe++) {
        if (!is_drained(&broker.inputs[stripe]))
            return true;
        for (uint32_t level = 0; level < options.levels.count; level++)
            for (uint32_t slot = 0; slot < options.levels.size; slot++)
                if (!is_drained(
                        broker_partition(&broker, (struct htw__source) { stripe, level, slot })))
                    return true;
    }
    return false;
}

static size_t count_ids(void) {
    size_t count = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        for (uint32_t stripe = 0; stripe < BROKER_STRIPES && members[i].is_alive; stripe++)
            if (members[i].owns[stripe])
                count += members[i].relay.stripes[stripe]->ids.count +
                         !members[i].relay.stripes[stripe]->ids_are_read;
    return count;
}

/* Nothing waits, so no entry stays; stale ones go after a time. (A clock that is ahead by more than the window of level 0 may deliver the
 * last occurrence of a record that recurs long before its time, and be killed before that is in the index.) */
static void run_all(int64_t step_ms) {
    broker_resolve(&broker, members, MEMBERS, true);
    for (size_t i = 0; i < MEMBERS; i++)
        if (members[i].is_alive) {
            run(&members[i], 500);
            commit(&members[i]);
        }
    broker.now_ms += step_ms;
}

static void finish_index(void) {
    for (int turn = 0; turn < 4 || count_ids() > 0; turn++) {
        if (turn > 1000)
            fail("an entry stays in the index", 0);
        run_all(1000);
    }
}

static void finish(void) {
    broker.refused = NULL;
    broker.is_silent = is_deaf = false;
    if (broker.sender_txn != 0)
        end_sending(below(3) != 0);
    for (size_t i = 0; i < MEMBERS; i++)
        members[i].skew_ms = 0;
    start_some();
    rebalance(false);
    for (uint64_t turn = 0; has_work(); turn++) {
        if (turn > 300000)
            fail("there is no end", 0);
        run_all(options.levels.width_ms / 4 + 1);
    }
    broker_resolve(&broker, members, MEMBERS, true);
    if (has_skews)
        return;
    finish_index();
    rebalance(false); /* what is in Kafka says so, too */
    finish_index();
}

/* A cancel that nothing can have delayed: it was committed before the bucket was loaded. (In buckets of
 * 10 ms, a commit that comes some steps later makes records late.) */
static bool must_be_changed(const struct sent *record, int64_t deadline_ms) {
    return !is_faulty && record->has_cancel && !sent[record->cancel].is_conditional &&
           options.levels.width_ms >= 50 &&
           record->cancelled_ms + 10 * options.levels.width_ms < deadline_ms;
}

/* The time for which it was delivered, as it says; -1: it says none. */
static int64_t time_of(const struct broker_record *delivered, size_t index) {
    const struct htw__relay_record *view = delivered->record;
    int64_t for_ms = -1;
    for (size_t i = 0; i < view->header_count; i++) {
        if (htw__bytes_are_equal(view->headers[i].name, htw__bytes_of("htw-delivered-for")))
            (void)htw__bytes_number(view->headers[i].value, INT64_MAX, &for_ms);
        if (htw__bytes_are_equal(view->headers[i].name, htw__bytes_of("htw-every")))
            fail("what is delivered says how it recurs", index);
    }
    return for_ms;
}

static void judge_occurrence(struct sent *record, int64_t for_ms, size_t index) {
    int64_t since_ms = for_ms - record->deadline_ms;
    if (since_ms < 0 || since_ms % record->every_ms != 0 ||
        since_ms / record->every_ms >= record->times)
        fail("no such occurrence", index);
    uint32_t bit = UINT32_C(1) << (since_ms / record->every_ms);
    if ((record->seen & bit) != 0)
        fail("an occurrence came twice", index);
    record->seen |= bit;
    occurrences_done++;
    if (must_be_changed(record, for_ms))
        fail("an occurrence came in spite of a cancel", index);
}

/* Returns whether all is right with one that recurs. The last occurrence is always caught up with. */
static bool recurred(const struct sent *record) {
    uint32_t all = (UINT32_C(1) << record->times) - 1;
    if (record->fate == NEVER)
        return record->seen == 0 && record->dead == 0;
    if (record->fate != DELIVER)
        return record->seen == 0 && record->dead == record->times;
    if (record->dead != 0)
        return false;
    return record->has_cancel || record->catch_up == 0 ||
           (record->catch_up == 1000 ? record->seen == all
                                     : (record->seen >> (record->times - 1)) == 1);
}

/* It could be read when the stripe was taken over by who delivered its victim, which was not overdue when it was sent.
 * Without transactions a victim may be there twice; one that was postponed is not found by its deadline; and no clock may
 * have stood for longer than the highest window. */
static bool was_cancelled(const struct sent *record, int64_t gained_end) {
    return record->has_cancel && !sent[record->cancel].is_conditional &&
           record->sent_ms < record->deadline_ms && sent[record->cancel].offset < gained_end &&
           !broker.at_least_once && !was_silent && !has_skews && options.catch_up_ms == INT64_MAX &&
           broker.now_ms - START_MS < htw__levels_width(&options.levels, options.levels.count);
}

static void judge_delivery(const struct broker_record *delivered) {
    size_t index;
    memcpy(&index, delivered->record->value.bytes, sizeof(index));
    if (index >= sent_count)
        fail("it was never sent", index);
    struct sent *record = &sent[index];
    if (strcmp(delivered->topic, options.dead_letters) == 0) {
        record->dead++;
        return;
    }
    if (record->fate != DELIVER)
        fail("it must not be delivered", index);
    int64_t deadline_ms = time_of(delivered, index);
    if (delivered->member_now_ms < deadline_ms)
        fail("early", index);
    if (record->every_ms != 0) {
        judge_occurrence(record, deadline_ms, index);
        return;
    }
    record->delivered++;
    if (deadline_ms != record->deadline_ms)
        fail("it was delivered for another time, or for none", index);
    replacements_done += record->is_replacement;
    int64_t wanted_ms = deadline_ms > record->sent_ms ? deadline_ms : record->sent_ms;
    if (was_cancelled(record, delivered->gained_end))
        fail("delivered in spite of a cancel that was there", index);
    /* A record that its topic refuses aborts what is published with it: some steps, which count where widths are 10 ms. */
    if (!is_faulty && options.max_memory > 1000000 &&
        delivered->real_now_ms > wanted_ms + 4 * options.levels.width_ms + 40)
        fail("late", index);
}

/* Of records that are each for the place of the one before, one is delivered; none, if the last was cancelled or replaced. */
static void judge_chain(size_t first) {
    bool recurs = sent[first].every_ms != 0; /* then its last occurrence counts */
    unsigned count = recurs ? sent[first].seen >> (sent[first].times - 1) : sent[first].delivered;
    size_t last = first;
    while (sent[last].is_replaced && sent[sent[last].cancel].is_conditional) {
        last = sent[last].cancel;
        count += sent[last].delivered;
    }
    if (count == 0 && !sent[last].has_cancel && !(recurs && sent[first].catch_up == 0))
        fail("neither a record nor what is for its place came", first);
    if (count > 1 && !broker.at_least_once)
        fail("a record and what is for its place came", first);
}

/* The record of the input that has an offset there. */
static size_t find_sent(uint32_t stripe, int64_t offset) {
    for (size_t i = 0; i < sent_count; i++)
        if (sent[i].stripe == stripe && sent[i].offset == offset)
            return i;
    fail("an answer names no record", 0);
    return 0;
}

/* Of a record that recurs, occurrences may have come before a time. */
static void judge_no_more(size_t victim, int64_t since_ms) {
    for (size_t i = 0; i < broker.out.count; i++) {
        const struct broker_record *came = &broker.out.records[i];
        size_t index;
        if (!broker_is_visible(&broker, came))
            continue;
        memcpy(&index, came->record->value.bytes, sizeof(index));
        if (index == victim && broker.txns[came->txn].decided_ms > since_ms)
            fail("an occurrence came, though a relay was sure that it does not", victim);
    }
}

/* What is surely cancelled or replaced is not delivered. */
static void judge_answer(uint32_t stripe, const struct htw__index_answer *answer,
                         int64_t answered_ms) {
    if (answer->ask < 0 || (size_t)answer->ask >= sent_count)
        fail("an answer to no question", 0);
    struct sent *record = &sent[answer->ask];
    record->answers++;
    answers_done++;
    if (!answer->is_sure || !answer->is_done || answer->offset < 0)
        return;
    size_t victim = find_sent(stripe, answer->offset);
    if (sent[victim].root != record->root)
        fail("an answer about another record", victim);
    if (sent[victim].every_ms == 0 && (sent[victim].delivered > 0 || sent[victim].dead > 0))
        fail("delivered, though a relay was sure that it is not", victim);
    if (sent[victim].every_ms != 0)
        judge_no_more(victim, answered_ms);
}

/* Each question has one answer; without transactions, one or more. */
static void judge_answers(void) {
    for (uint32_t stripe = 0; stripe < BROKER_STRIPES; stripe++) {
        const struct broker_partition *ids = &broker.ids[stripe];
        struct htw__index_answer answer;
        for (size_t i = 0; i < ids->count; i++)
            if (broker_is_visible(&broker, &ids->records[i]) &&
                htw__index_parse_answer(ids->records[i].record, &answer))
                judge_answer(stripe, &answer, ids->records[i].real_now_ms);
    }
    for (size_t i = 0; i < sent_count; i++) {
        bool is_one = broker.at_least_once ? sent[i].answers > 0 : sent[i].answers == 1;
        if (sent[i].asks && sent[i].fate != NEVER ? !is_one : sent[i].answers > 0)
            fail("a question without its answer", i);
    }
}

static void judge(void) {
    for (size_t i = 0; i < broker.out.count; i++)
        if (broker_is_visible(&broker, &broker.out.records[i]))
            judge_delivery(&broker.out.records[i]);
    for (size_t i = 0; i < sent_count; i++) {
        const struct sent *record = &sent[i];
        if (record->fate == DELIVER && !record->is_conditional)
            judge_chain(i);
        if (record->every_ms != 0) {
            if (!recurred(record))
                fail("its occurrences are not those that are due", i);
            continue;
        }
        bool is_cancelled = record->has_cancel;
        bool may_lack = record->fate == CANCEL || record->is_conditional || record->fate == NEVER ||
                        (record->fate == DELIVER && is_cancelled);
        bool is_dead = record->fate >= DEAD_BAD && record->fate <= DEAD_SMALL;
        unsigned count = is_dead ? record->dead : record->delivered;
        if ((is_dead ? record->delivered : record->dead) > 0)
            fail("it went where it should not", i);
        if (count == 0 && !may_lack)
            fail("lost", i);
        if (count > 1 && !broker.at_least_once)
            fail("twice", i);
        if (count > 0 && is_cancelled && must_be_changed(record, record->deadline_ms))
            fail("delivered in spite of a cancel", i);
    }
    judge_answers();
}

static void choose_options(void) {
    static const int64_t widths[] = { 10, 50, 1000 };
    options = (struct htw__relay_options) {
        .levels = { widths[below(3)], 4u << below(3), 2 + (uint32_t)below(4) },
        .destinations = { .patterns = patterns, .pattern_count = 3, .default_topic = "out-1" },
        .dead_letters = "dead",
        .retry_ms = 1 + (int64_t)below(1000),
        .catch_up_ms = below(4) == 0 ? (int64_t)below(3000) : INT64_MAX,
        .max_memory = below(2) == 0 ? 4000 + size_below(20000) : 100000000,
    };
    options.lead_ms = options.levels.width_ms / (int64_t)(1 + below(4));
    int64_t top_ms = htw__levels_width(&options.levels, options.levels.count - 1);
    horizon_ms = (int64_t)(1 + below(2 * (uint64_t)options.levels.size)) * top_ms;
    if (horizon_ms > 400 * options.levels.width_ms)
        horizon_ms = (1 + (int64_t)below(400)) * options.levels.width_ms;
    is_faulty = below(4) != 0;
    has_skews = is_faulty && below(2) == 0;
}

static void run_history(void) {
    source.state = arguments.seed * UINT64_C(1000003) + history;
    sent_count = 0;
    was_silent = is_deaf = false;
    choose_options();
    broker_init(&broker, &options.levels, is_faulty && below(4) == 0);
    options.owner = broker.at_least_once ? NULL : "relay";
    broker.now_ms = START_MS + (int64_t)below(100000);
    memset(members, 0, sizeof(members));
    start_some();
    uint64_t steps = 50 + below(400);
    for (uint64_t step = 0; step < steps; step++, steps_done++) {
        if (below(6) == 0)
            send_some();
        if (is_faulty && below(20) == 0)
            be_faulty();
        size_t who = size_below(MEMBERS);
        for (size_t i = 0; i < MEMBERS; i++) {
            if (!members[i].is_alive || (is_faulty && i != who))
                continue;
            run(&members[i], is_faulty ? 1 + size_below(60) : 500);
            if (!is_faulty || below(4) == 0)
                commit(&members[i]);
        }
        broker.now_ms += is_faulty ? (int64_t)below((uint64_t)options.levels.width_ms)
                                   : options.levels.width_ms / 4 + 1;
    }
    finish();
    judge();
    records_done += sent_count;
    for (size_t i = 0; i < MEMBERS; i++)
        if (members[i].is_alive)
            member_kill(&members[i]);
    broker_fini(&broker);
}

int main(int argc, char *argv[]) {
    arguments = (struct model_arguments) { .seed = 1, .steps = 10000, .histories = UINT64_MAX };
    if (!model_arguments_parse(&arguments, argc, argv))
        return 2;
    for (history = arguments.first;
         steps_done < arguments.steps && history - arguments.first < arguments.histories;
         history++) {
        if (arguments.trace)
            fprintf(stderr, "history %" PRIu64 "\n", history);
        run_history();
    }
    printf("%" PRIu64 " histories, %" PRIu64 " steps, %" PRIu64 " records, %" PRIu64
           " replacements delivered, %" PRIu64 " occurrences, %" PRIu64
           " answers: each once, none early\n",
           history - arguments.first, steps_done, records_done, replacements_done, occurrences_done,
           answers_done);
    return 0;
}
