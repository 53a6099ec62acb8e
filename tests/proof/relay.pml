/* SPDX-License-Identifier: MIT */
/*
 * relay.pml - two relays that take a stripe over from each other, and what Kafka has of it meanwhile.
 *
 * The processes are the channels of each member, the members, and the brokers. All they have is in variables, and each
 * step is atomic: a request, or what a member does between two. So a kill may come after any step. A comment names the
 * functions of programs/relay/src/ that a step stands for; tests/proof/names.py looks for them.
 *
 * The stripe has an input of RECORDS records and one bucket, from which they are delivered. Each member has two
 * transactional ids, one for a channel: FILE fills the bucket, and DELIVER empties it. A member may be killed, and
 * started again under its name or not; it may be taken for dead while it lives, and learn of that late.
 *
 * What is assumed of Kafka, as KIP-98 and KIP-447 say it:
 *  - Offsets are taken into a transaction only from a member of the present generation, and from a producer of the
 *    present epoch. They are pending until the transaction has its markers.
 *  - What is decided is completed. The markers of a transaction come one after the other, in any order.
 *  - A client of the group is not told positions that are pending. A reader stops before a record that is not decided.
 *  - To open a producer ends the transaction of its id, and waits for one that is decided.
 *
 * Left out: time, levels, cancels, the index, other stripes, `--at-least-once` (programs/relay/tests/model/model_relay.c has these);
 * that a member does not end the transactions of the same owner again for some seconds.
 */

/* ---- bounds; the verb proof has others for a longer search */

#ifndef RECORDS
#define RECORDS 2
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef REBALANCES
#define REBALANCES 1
#endif
#ifndef ERRORS
#define ERRORS 1 /* requests that fail for another reason */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0 /* transactions that a broker ends while their member works */
#endif
#ifndef LATE
#define LATE 1 /* take-overs by a member that does not know of a generation */
#endif
#define ROOM (RECORDS * (3 + 2 * (KILLS + REBALANCES) + ERRORS + TIMEOUTS + LATE)) /* of the bucket */

/* ---- mistakes that spin must find, one at a time: -DMISTAKE=NO_FENCE */

#ifndef MISTAKE
#define MISTAKE 0
#endif
#define NO_FENCE 1        /* the transactions of the former owner are left to the brokers */
#define NO_GENERATION 2   /* offsets are committed whatever the generation is */
#define READS_PENDING 3   /* positions are read although a transaction changes them */
#define OFFSETS_APART 4   /* offsets are committed beside the transaction, not by it */
#define KEEPS_STRIPE 5    /* after an abort a member goes on from what it has in memory */
#define KEEPS_LOST 6      /* a member that was taken for dead keeps its stripe */
#define NO_AWAIT 7        /* a commit does not wait for acknowledgements */
#define STABLE_END 8      /* a bucket ends where its last decided record ends */
#define TAKES_UNFENCED 9  /* the name of an owner that is there after its transactions were to be ended is not compared */
#define NAMES_LATER 10    /* the owner is committed with the first records, and not before */
#define READS_UNDECIDED 11 /* a bucket is read further than what is decided */
#define RELEASES_FIRST 12 /* the name is taken out before the last deliveries are committed */

/* ---- what must happen in some run, or nothing is proved: -DGOAL=DELIVERED */

#ifndef GOAL
#define GOAL 0
#endif
#define DELIVERED 1 /* all records were delivered, after all kills and rebalances that there may be */
#define TAKEN_OVER 2 /* the second member has delivered a record that the first one had filed */
#define ENDED 3 /* a successor has ended a transaction with records */

#define BIT(record) (1 << (record))
#define ALL (BIT(RECORDS) - 1)
#define NOBODY 2
#define FILE 0
#define DELIVER 1
#define ID(member, channel) (2 * (member) + channel)

/* ---- Kafka */

byte assignee = 0;
bool is_member[2] = true;
bool releases; /* the assignee is asked to give the stripe away */

byte input_position, bucket_position, owner = NOBODY; /* committed */

/* The transaction of an id: DECIDED until it has its markers. */
mtype = { NONE, OPEN, DECIDED };
mtype transaction[4] = NONE;
bool has_offsets[4], has_records[4]; /* DECIDED: the marker of these is still to come */
byte pending[4], pending_owner[4] = NOBODY;

/* The bucket: which record, of whose transaction, and what became of that. */
mtype = { FREE, UNDECIDED, COMMITTED, ABORTED };
byte bucket_record[ROOM], bucket_member[ROOM];
mtype bucket_state[ROOM] = FREE;
byte bucket_end;

byte sent[2]; /* sets of records: of the transactions of DELIVER */
byte delivered;
bool has_filed; /* the first member; for GOAL */

byte kills, rebalances, errors, timeouts, late;
bool has_fenced[2];   /* in this take-over */
bool is_late[2];      /* it took the stripe over, and did not know that the group had given it to the other one */
bool is_succeeded[2]; /* another member has taken the stripe over, since this one has read the positions */

/* ---- the members */

mtype = { DOWN, GONE, UP };
mtype life[2] = UP;
bool has_joined[2] = true; /* it is a member, as far as it knows */
bool knows[2];           /* its generation is the present one */
mtype = { LOST, ASSIGNED, FENCED, ASKED, TAKEN, READS }; /* TAKEN: its name is not committed yet */
mtype stripe[2] = LOST;
bool must_recover[2];
mtype = { KEEPS, DELIVERS, RELEASES };
mtype gives_away[2] = KEEPS; /* in the callback of a revocation */
bool is_current[4] = true; /* its producer has the present epoch of the id */
byte unacknowledged[4]; /* sets of records */
bool is_dirty[4];       /* there is something to commit */
byte position[4];       /* in the input, or in the bucket */
byte known_end[2];            /* of the bucket, as far as the member knows */
mtype = { IDLE, SENDS, ENDS };
mtype commit[4] = IDLE;

byte i, who; /* of a step */

#define CAN_FAIL (errors < ERRORS)
#define IS_QUIET(member) (commit[ID(member, FILE)] == IDLE && commit[ID(member, DELIVER)] == IDLE)
#define WORKS(member) (life[member] == UP && !must_recover[member])
#define IS_PENDING (has_offsets[0] || has_offsets[1] || has_offsets[2] || has_offsets[3])
/* To open the producers waits for what is decided. */
#define CAN_OPEN(member) (transaction[ID(member, FILE)] != DECIDED && transaction[ID(member, DELIVER)] != DECIDED)

/* ---- what requests do */

/* Of the member `who`. */
inline end_records(state) {
    i = 0;
    do
    :: i < bucket_end ->
        if
        :: bucket_state[i] == UNDECIDED && bucket_member[i] == who ->
            bucket_state[i] = state; bucket_member[i] = 0;
            bucket_record[i] = (state == ABORTED -> 0 : bucket_record[i])
        :: else -> skip
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

inline abort(id) {
    if
    :: transaction[id] == OPEN ->
        transaction[id] = NONE; has_offsets[id] = false; has_records[id] = false;
        pending[id] = 0; pending_owner[id] = NOBODY;
        who = (id) / 2;
        if
        :: (id) % 2 == FILE -> end_records(ABORTED)
        :: else -> sent[who] = 0
        fi;
        who = 0
    :: else -> skip
    fi
}

/* A producer is opened, or a transaction has lasted too long. */
inline fence(id) {
    abort(id);
    is_current[id] = false
}

inline mark_offsets(id) {
    if
    :: (id) % 2 == FILE -> input_position = pending[id]; owner = pending_owner[id]
    :: else -> bucket_position = pending[id]
    fi;
    has_offsets[id] = false; pending[id] = 0; pending_owner[id] = NOBODY
}

inline mark_records(id) {
    who = (id) / 2;
    if
    :: (id) % 2 == FILE -> end_records(COMMITTED); has_filed = has_filed || (GOAL == TAKEN_OVER && who == 0)
    :: else ->
        assert((delivered & sent[who]) == 0); /* none is delivered twice */
        assert(GOAL != TAKEN_OVER || who == 0 || !has_filed);
        delivered = delivered | sent[who]; sent[who] = 0
    fi;
    who = 0;
    has_records[id] = false
}

inline start_generation(member) {
    knows[0] = false; knows[1] = false; assignee = member; releases = false
}

/* ---- what members do */

/* programs/relay/src/relay.c: htw__relay_lose(), htw__relay_lose_all() */
inline lose(member) {
    position[ID(member, FILE)] = 0; position[ID(member, DELIVER)] = 0; known_end[member] = 0;
    is_dirty[ID(member, FILE)] = false; is_dirty[ID(member, DELIVER)] = false
}

/* programs/relay/src/writer.c: open_writer(), await_coordinator() */
inline open(id) {
    fence(id);
    is_current[id] = true; unacknowledged[id] = 0
}

/* programs/relay/src/writer.c: abort_writer() */
inline abort_own(id) {
    if
    :: is_current[id] -> abort(id); unacknowledged[id] = 0
    :: else -> open(id)
    fi
}

inline fail(member, id) {
    must_recover[member] = true; commit[id] = IDLE
}

/* ---- the channels: 0 and 1 of the first member, 2 and 3 of the second */

#define id _pid
#define member (_pid / 2)
#define channel (_pid % 2)

/* A record arrives at the brokers, or is refused. */
inline acknowledge() {
    if
    :: is_current[id] ->
        transaction[id] = OPEN; has_records[id] = true;
        i = 0;
        do
        :: (unacknowledged[id] & BIT(i)) == 0 -> i++
        :: else -> break
        od;
        unacknowledged[id] = unacknowledged[id] & ~BIT(i);
        if
        :: channel == FILE ->
            assert(bucket_end < ROOM);
            bucket_record[bucket_end] = i; bucket_member[bucket_end] = member;
            bucket_state[bucket_end] = UNDECIDED;
            bucket_end++;
            known_end[member] = bucket_end /* programs/relay/src/relay.c: htw__relay_published() */
        :: else -> sent[member] = sent[member] | BIT(i)
        fi;
        i = 0
    :: else -> must_recover[member] = true; unacknowledged[id] = 0
    fi
}

inline send() {
    if
    :: is_current[id] &&
       ((is_member[member] && knows[member]) || MISTAKE == NO_GENERATION) ->
        transaction[id] = OPEN; has_offsets[id] = true;
        pending[id] = position[id];
        pending_owner[id] = (channel == FILE && gives_away[member] != RELEASES -> member : NOBODY);
        is_dirty[id] = false;
        commit[id] = ENDS;
        if
        :: MISTAKE == OFFSETS_APART -> mark_offsets(id)
        :: else -> skip
        fi
    :: else -> fail(member, id)
    fi
}

inline decide() {
    commit[id] = IDLE;
    if
    :: is_current[id] ->
        assert(!is_succeeded[member]); /* none from whom the stripe was taken over */
        transaction[id] = DECIDED;
        if
        :: channel == FILE && stripe[member] == TAKEN -> stripe[member] = READS
        :: else -> skip
        fi
    :: else -> must_recover[member] = true
    fi
}

active [4] proctype run_channel() {
end:
    do
    /* programs/relay/src/acknowledge.c: htw__acknowledge_poll() */
    :: atomic { life[member] == UP && unacknowledged[id] != 0 && transaction[id] != DECIDED -> acknowledge() }
    :: atomic { life[member] == UP && unacknowledged[id] != 0 && CAN_FAIL ->
        errors++; must_recover[member] = true; unacknowledged[id] = 0 }

    /* programs/relay/src/commit.c: begin(); programs/relay/src/acknowledge.c: htw__acknowledge_await();
       programs/relay/src/relay.c: htw__relay_positions(); programs/relay/src/background.c: htw__background_begin() */
    :: atomic { WORKS(member) && commit[id] == IDLE && is_dirty[id] && (stripe[member] == TAKEN || stripe[member] == READS) &&
                (unacknowledged[id] == 0 || MISTAKE == NO_AWAIT) -> commit[id] = SENDS }

    /* programs/relay/src/commit.c: commit(), has_done(), do_step() */
    :: atomic { commit[id] == SENDS && transaction[id] != DECIDED -> send() }
    :: atomic { commit[id] == SENDS && CAN_FAIL -> errors++; fail(member, id) }

    /* programs/relay/src/commit.c: has_done(), finish() */
    :: atomic { commit[id] == ENDS -> decide() }
    /* It is decided, and the member does not learn of it. */
    :: atomic { commit[id] == ENDS && CAN_FAIL -> errors++; decide(); must_recover[member] = true }
    od
}

#undef id
#undef member
#undef channel

/* ---- the members: processes 4 and 5 */

#define me (_pid - 4)
#define other (5 - _pid)

/* It is between two rounds of its loop; what it does in one go is done. programs/relay/src/group.c: htw__group_take() */
#define IS_FREE (life[me] == UP && IS_QUIET(me) && gives_away[me] == KEEPS && \
                 (must_recover[me] || (stripe[me] != FENCED && stripe[me] != ASKED && stripe[me] != TAKEN)))
#define KNOWS (is_member[me] && knows[me])
#define COVERS(member) (owner != 1 - (member) || has_fenced[member] || MISTAKE == TAKES_UNFENCED)

active [2] proctype run_member() {
end:
    do
    /* programs/relay/src/kafka.c: htw__kafka_open(), htw__kafka_start(); programs/relay/src/writer.c: htw__writers_open() */
    :: atomic { life[me] == DOWN && CAN_OPEN(me) -> life[me] = UP; open(ID(me, FILE)); open(ID(me, DELIVER)) }

    /* programs/relay/src/member.c: htw__member_join() */
    :: atomic { life[me] == UP && !is_member[me] && !has_joined[me] && !must_recover[me] ->
        is_member[me] = true; has_joined[me] = true;
        knows[0] = false; knows[1] = false;
        assignee = (assignee == NOBODY -> me : assignee) }

    /* programs/relay/src/group.c: htw__group_rebalance(), keep_membership(), assign(). It has the stripe, or keeps it. */
    :: atomic { IS_FREE && is_member[me] && !KNOWS && !(assignee == me && releases) ->
        has_joined[me] = true; knows[me] = true;
        stripe[me] = (assignee == me && stripe[me] == LOST -> ASSIGNED : stripe[me]) }

    /* programs/relay/src/group.c: htw__group_rebalance(), revoke(), htw__group_lose(). It was taken for dead. */
    :: atomic { IS_FREE && !is_member[me] && has_joined[me] ->
        has_joined[me] = false;
        if
        :: MISTAKE == KEEPS_LOST -> skip
        :: else -> lose(me); stripe[me] = LOST; gives_away[me] = KEEPS; must_recover[me] = true
        fi }

    /* programs/relay/src/group.c: htw__group_rebalance(), revoke(); programs/relay/src/relay.c: htw__relay_release() */
    :: atomic { IS_FREE && is_member[me] && !KNOWS && assignee == me && releases ->
        knows[me] = true;
        if
        :: stripe[me] == READS && !must_recover[me] -> gives_away[me] = (MISTAKE == RELEASES_FIRST -> RELEASES : DELIVERS)
        :: else -> must_recover[me] = true; lose(me); stripe[me] = LOST
        fi;
        is_dirty[ID(me, FILE)] = is_dirty[ID(me, FILE)] || gives_away[me] == RELEASES }
    :: atomic { WORKS(me) && gives_away[me] == DELIVERS && IS_QUIET(me) && !is_dirty[ID(me, DELIVER)] ->
        gives_away[me] = RELEASES; is_dirty[ID(me, FILE)] = true }
    :: atomic { WORKS(me) && gives_away[me] == RELEASES && IS_QUIET(me) && !is_dirty[ID(me, FILE)] &&
                (!is_dirty[ID(me, DELIVER)] || MISTAKE == RELEASES_FIRST) ->
        gives_away[me] = KEEPS; lose(me); stripe[me] = LOST }

    /* programs/relay/src/kafka.c: recover(); programs/relay/src/writer.c: htw__writers_abort(); programs/relay/src/group.c: htw__group_forget() */
    :: atomic { life[me] == UP && must_recover[me] && IS_QUIET(me) && CAN_OPEN(me) ->
        must_recover[me] = false;
        abort_own(ID(me, FILE)); abort_own(ID(me, DELIVER));
        if
        :: MISTAKE == KEEPS_STRIPE && stripe[me] == READS && gives_away[me] == KEEPS ->
            is_dirty[ID(me, FILE)] = true; is_dirty[ID(me, DELIVER)] = true
        :: else ->
            lose(me);
            stripe[me] = (stripe[me] == LOST || gives_away[me] != KEEPS -> LOST : ASSIGNED);
            gives_away[me] = KEEPS
        fi }

    /* programs/relay/src/fence.c: htw__fence(), find_owner(), end_transactions() */
    :: atomic { WORKS(me) && stripe[me] == ASSIGNED && IS_QUIET(me) && (KNOWS || late < LATE) &&
                (owner != other || MISTAKE == NO_FENCE || CAN_OPEN(other)) ->
        if
        :: owner == other && MISTAKE != NO_FENCE ->
            assert(GOAL != ENDED || !has_records[ID(other, FILE)]);
            fence(ID(other, FILE)); fence(ID(other, DELIVER))
        :: else -> skip
        fi;
        has_fenced[me] = (owner == other || MISTAKE == NO_FENCE);
        late = late + !KNOWS;
        is_late[me] = !KNOWS;
        stripe[me] = FENCED }

    /* programs/relay/src/group.c: take(), fill(); programs/relay/src/fence.c: htw__fence_covers(). The positions. It begins again while one is
       pending, or when they name an owner whose name was not there yet when transactions were ended. */
    :: atomic { WORKS(me) && stripe[me] == FENCED && (!IS_PENDING || MISTAKE == READS_PENDING) && COVERS(me) ->
        position[ID(me, FILE)] = input_position; position[ID(me, DELIVER)] = bucket_position;
        is_dirty[ID(me, FILE)] = (owner != me);
        is_succeeded[me] = false;
        is_succeeded[other] = is_succeeded[other] || KNOWS; /* a late one takes nothing over */
        stripe[me] = ASKED }
    :: atomic { WORKS(me) && stripe[me] == FENCED && IS_PENDING && owner == other && MISTAKE != NO_FENCE &&
                CAN_OPEN(other) -> stripe[me] = ASSIGNED }
    :: atomic { WORKS(me) && stripe[me] == FENCED && !COVERS(me) -> stripe[me] = ASSIGNED }

    /* programs/relay/src/group.c: fill(), fill_in(); programs/relay/src/relay.c: htw__relay_gain(), fill_bucket() */
    :: atomic { WORKS(me) && stripe[me] == ASKED ->
        if
        :: MISTAKE == STABLE_END ->
            known_end[me] = 0;
            do
            :: known_end[me] < bucket_end && bucket_state[known_end[me]] != UNDECIDED -> known_end[me]++
            :: else -> break
            od
        :: else -> known_end[me] = bucket_end
        fi;
        stripe[me] = (is_dirty[ID(me, FILE)] && MISTAKE != NAMES_LATER -> TAKEN : READS) }

    /* programs/relay/src/relay.c: htw__relay_take(); programs/relay/src/file.c: htw__relay_pass_on(); programs/relay/src/writer.c: htw__writer_publish() */
    :: atomic { WORKS(me) && stripe[me] == READS && gives_away[me] == KEEPS && commit[ID(me, FILE)] == IDLE &&
                position[ID(me, FILE)] < RECORDS ->
        unacknowledged[ID(me, FILE)] = unacknowledged[ID(me, FILE)] | BIT(position[ID(me, FILE)]);
        position[ID(me, FILE)]++; is_dirty[ID(me, FILE)] = true }

    /* programs/relay/src/reader.c: htw__reader_poll(); programs/relay/src/relay.c: load(); programs/relay/src/look.c: settle() */
    :: atomic { WORKS(me) && stripe[me] == READS && gives_away[me] == KEEPS && commit[ID(me, DELIVER)] == IDLE &&
                position[ID(me, DELIVER)] < known_end[me] &&
                (bucket_state[position[ID(me, DELIVER)]] != UNDECIDED || MISTAKE == READS_UNDECIDED) ->
        if
        :: bucket_state[position[ID(me, DELIVER)]] != ABORTED ->
            unacknowledged[ID(me, DELIVER)] =
                unacknowledged[ID(me, DELIVER)] | BIT(bucket_record[position[ID(me, DELIVER)]])
        :: else -> skip
        fi;
        position[ID(me, DELIVER)]++; is_dirty[ID(me, DELIVER)] = true }

    /* It is killed, and started again or not. */
    :: atomic { life[me] == UP && kills < KILLS && life[other] != GONE ->
        kills++;
        lose(me);
        unacknowledged[ID(me, FILE)] = 0; unacknowledged[ID(me, DELIVER)] = 0;
        commit[ID(me, FILE)] = IDLE; commit[ID(me, DELIVER)] = IDLE;
        must_recover[me] = false; gives_away[me] = KEEPS; has_joined[me] = false; knows[me] = false; stripe[me] = LOST;
        if
        :: life[me] = DOWN
        :: life[me] = GONE
        fi }
    od
}

#undef me
#undef other

/* ---- the brokers */

inline mark(id) {
    if
    :: has_offsets[id] -> mark_offsets(id)
    :: has_records[id] -> mark_records(id)
    fi;
    if
    :: !has_offsets[id] && !has_records[id] -> transaction[id] = NONE
    :: else -> skip
    fi
}

#define CAN_MARK(id) (transaction[id] == DECIDED)

/* Takes a member for dead. */
inline expel(member) {
    is_member[member] = false;
    if
    :: assignee != member -> start_generation(assignee)
    :: assignee == member && is_member[1 - member] -> start_generation(1 - member)
    :: else -> start_generation(NOBODY)
    fi
}

/* Nothing more happens but that a transaction lasts too long. Of whom the owner is known, none does. Before a member
   has committed its name, it has published nothing. One that was taken for dead, does not know it, and has opened its
   producers since the successor ended its transactions may be killed with records in one: nobody ends that earlier. */
inline end_slow(id) {
    assert(owner != id / 2 && (!has_records[id] || is_late[id / 2]));
    fence(id)
}

active proctype run_brokers() {
    do
    :: atomic { CAN_MARK(0) -> mark(0) }
    :: atomic { CAN_MARK(1) -> mark(1) }
    :: atomic { CAN_MARK(2) -> mark(2) }
    :: atomic { CAN_MARK(3) -> mark(3) }

    :: atomic { is_member[0] && (life[0] != UP || rebalances < REBALANCES) -> rebalances = rebalances + (life[0] == UP); expel(0) }
    :: atomic { is_member[1] && (life[1] != UP || rebalances < REBALANCES) -> rebalances = rebalances + (life[1] == UP); expel(1) }

    /* The stripe is to move to the other member; and moves, when it is given away. */
    :: atomic { is_member[0] && is_member[1] && assignee != NOBODY && !releases && rebalances < REBALANCES ->
        rebalances++; knows[0] = false; knows[1] = false; releases = true }
    :: atomic { releases && is_member[0] && is_member[1] && knows[assignee] &&
                stripe[assignee] == LOST && !must_recover[assignee] -> start_generation(1 - assignee) }
    :: atomic { releases && !(is_member[0] && is_member[1]) -> start_generation(assignee) }

    :: atomic { transaction[0] == OPEN && timeouts < TIMEOUTS -> timeouts++; fence(0) }
    :: atomic { transaction[1] == OPEN && timeouts < TIMEOUTS -> timeouts++; fence(1) }

    :: atomic { timeout ->
        if
        :: transaction[0] == OPEN -> end_slow(0)
        :: transaction[1] == OPEN -> end_slow(1)
        :: transaction[2] == OPEN -> end_slow(2)
        :: transaction[3] == OPEN -> end_slow(3)
        :: else ->
            assert(delivered == ALL); /* none is lost */
            assert(input_position == RECORDS);
            assert(GOAL != DELIVERED || kills < KILLS || rebalances < REBALANCES);
            break
        fi }
    od
}
