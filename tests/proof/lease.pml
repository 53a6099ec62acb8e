/* SPDX-License-Identifier: MIT */
/*
 * lease.pml - one job of a queue, two that ask for it, and what a crash leaves of their leases.
 *
 * A step is what one hold of the journal's lock covers, or one call of the database, as in journal.pml, which has what a
 * transaction is made of: here its log and its fsync are one step each. Each lease lasts for one unit of time. One that is
 * durable outlives the process, and its holder may end it in the next one, by its attempt.
 *
 * Changes are made one at a time, in any order: that is more than the queue of the journal allows.
 *
 * Left out: several jobs and queues, priorities, windows, clocks that are set.
 */
/* holds: journal-10a, journal-10c */

/* ---- bounds; the verb proof sets others for a longer search */

#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FAILURES
#define FAILURES 1 /* of the disk, after which the change is undone */
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif
#ifndef TIMES
#define TIMES 2
#endif

/* ---- mistakes that spin must find, one at a time: -DMISTAKE=NO_HOLD */

#ifndef MISTAKE
#define MISTAKE 0
#endif
#define NO_HOLD 1 /* a job is leased while the lease of another one is being written */
#define STAYS_READY 2 /* a job that is leased stays ready */
#define ANY_ATTEMPT 3 /* a step of an attempt that has ended is made */
#define TOLD_FIRST 4 /* a durable lease is told before its commit */
#define ANSWERS_FIRST 5 /* an end is answered before its fsync */
#define ANY_EXPIRES 6 /* one whose lease is about to end by itself may give it back, and the end meets the next lease */
#define NO_RESTORE 7 /* an open takes durable leases for ended */
#define EARLY 8 /* a lease ends before its time */
#define FORGETS 9 /* a job whose lease has failed is not ready again */

/* ---- what must happen in some run, or nothing is proved: -DGOAL=DELIVERED */

#ifndef GOAL
#define GOAL 0
#endif
#define DELIVERED 1 /* the job ends in its last attempt, after all crashes and failures that there may be */
#define OUTLIVES 2 /* a durable lease is ended after a crash */
#define STALE 3 /* one whose lease has ended cannot end the job that another one has */

#define ASKERS 2
#define OTHER(asker) (1 - (asker))

/* ---- what survives a crash: the row of the job, as the kernel has it, and as a power cut leaves it in any case */

typedef row {
    bool exists, is_leased;
    byte end, attempts;
};
row log, disk;

/* What those that ask know. The judge forgets nothing. */
mtype = { IDLE, WAITING, LEASING, SERVED, HAS, ASKS };
mtype phase[ASKERS] = IDLE;
bool is_durable[ASKERS];
byte token[ASKERS], until[ASKERS]; /* the attempt, and when the lease ends */
bool ends[ASKERS];                 /* ASKS: to end it, or to give it back */
byte last_told, last_durable; /* attempts */
bool end_asked, end_sure;

byte now, crashes, failures;
bool is_quiet; /* nobody asks any more */
bool outlived, was_stale;

/* ---- the journal: lost in a crash */

bool is_open;
mtype = { ABSENT, READY, LEASED };
mtype memory = ABSENT;
bool is_held, is_expiring; /* the change of its end is under way */
bool lease_is_durable;
byte attempts, end;

/* The change that is made: by whom (ASKERS: the end of a lease by itself), and the attempt whose end it is. */
mtype = { NONE, APPENDS, SYNCS, FINISHES };
mtype commit = NONE;
byte who;
bool expires; /* EXPIRE waits to be made */
byte expiring;
bool has_failed;
row image;

byte i;

#define CAN_FAIL (failures < FAILURES)

inline copy(to, from) {
    to.exists = from.exists; to.is_leased = from.is_leased; to.end = from.end; to.attempts = from.attempts
}

/* Those of the process that was killed have nothing, unless their leases are durable. */
inline forget() {
    for (i : 0 .. ASKERS - 1) {
        if
        :: is_durable[i] && phase[i] == HAS -> skip
        :: is_durable[i] && phase[i] == ASKS -> phase[i] = HAS; until[i] = 0 /* its step may have been made */
        :: else -> phase[i] = IDLE; token[i] = 0; until[i] = 0; is_durable[i] = false; ends[i] = false
        fi
    }
    i = 0; is_open = false; memory = ABSENT; is_held = false; is_expiring = false; lease_is_durable = false; attempts = 0; end = 0;
    commit = NONE; who = 0; expires = false; expiring = 0; has_failed = false;
    image.exists = false; image.is_leased = false; image.end = 0; image.attempts = 0;
    last_told = last_durable
}

/* src/journal/lease.c: begin(), grant(), htw__lease_start(), lease_durably() */
inline grant(asker) {
    if
    :: is_durable[asker] ->
        is_held = (MISTAKE != NO_HOLD); phase[asker] = LEASING;
        if
        :: MISTAKE == TOLD_FIRST -> phase[asker] = SERVED; memory = LEASED; attempts++; end = now + 1; token[asker] = attempts;
            is_held = false
        :: else -> skip
        fi
    :: else ->
        memory = (MISTAKE == STAYS_READY -> READY : LEASED);
        attempts++; end = now + 1; lease_is_durable = false; token[asker] = attempts; phase[asker] = SERVED
    fi
}

/* src/journal/step.c: check(), htw__step_hold(): whether a step of this attempt can be made */
#define IS_OF(number) (memory == LEASED && (!is_expiring || MISTAKE == ANY_EXPIRES) && attempts == (number) || \
                       MISTAKE == ANY_ATTEMPT && memory != ABSENT)

active proctype journal() {
    log.exists = true; disk.exists = true;
    do
    /* src/journal/open.c: htw__database_open(); src/journal/load.c: htw__job_read(), htw__job_load() */
    :: atomic { !is_open ->
        is_open = true; copy(disk, log); /* the log is written again: journal.pml */
        assert(!end_sure || !log.exists);
        assert(end_asked || log.exists);
        attempts = log.attempts; end = log.end;
        lease_is_durable = log.is_leased;
        memory = (!log.exists -> ABSENT : (log.is_leased && MISTAKE != NO_RESTORE -> LEASED : READY)) }

    /* ---- those that ask: src/journal/request.c: htw_journal_lease_later() */

    :: atomic { is_open && !is_quiet && attempts < ATTEMPTS && phase[0] == IDLE -> phase[0] = WAITING; is_durable[0] = true }
    :: atomic { is_open && !is_quiet && attempts < ATTEMPTS && phase[0] == IDLE -> phase[0] = WAITING; is_durable[0] = false }
    :: atomic { is_open && !is_quiet && attempts < ATTEMPTS && phase[1] == IDLE -> phase[1] = WAITING; is_durable[1] = true }
    :: atomic { is_open && !is_quiet && attempts < ATTEMPTS && phase[1] == IDLE -> phase[1] = WAITING; is_durable[1] = false }

    /* src/journal/lease.c: htw__leases_serve() */
    :: atomic { memory == READY && !is_held && phase[0] == WAITING -> grant(0) }
    :: atomic { memory == READY && !is_held && phase[1] == WAITING -> grant(1) }

    /* src/journal/request.c: htw__leases_tell(), tell(), job_of(), call() */
    :: atomic { commit == NONE && phase[0] == SERVED -> i = 0; goto tells }
    :: atomic { commit == NONE && phase[1] == SERVED -> i = 1;
tells:
        if
        :: (memory == LEASED && !is_held && attempts == token[i]) || MISTAKE == STAYS_READY ->
            assert(!end_sure);              /* not after its end */
            assert(token[i] > last_told);   /* an attempt is given once */
            /* one has it at a time: the lease of the other one is over, or given back */
            assert(phase[OTHER(i)] != HAS || until[OTHER(i)] <= now);
            last_told = token[i]; until[i] = end; phase[i] = HAS;
            if
            :: is_durable[i] -> last_durable = token[i]
            :: else -> skip
            fi
        :: else -> phase[i] = WAITING; token[i] = 0
        fi;
        i = 0 }

    /* src/journal/submit.c: htw_journal_update(): ends the job, or gives it back. A durable one that has ended asks, too. */
    :: atomic { is_open && phase[0] == HAS -> phase[0] = ASKS; ends[0] = true; end_asked = true }
    :: atomic { is_open && phase[0] == HAS -> phase[0] = ASKS; ends[0] = false }
    :: atomic { is_open && phase[1] == HAS -> phase[1] = ASKS; ends[1] = true; end_asked = true }
    :: atomic { is_open && phase[1] == HAS -> phase[1] = ASKS; ends[1] = false }

    /* ---- the end of a lease by time: src/journal/lease.c: expire(), htw__leases_expire() */

    :: atomic { memory == LEASED && !is_held && !is_expiring && (end <= now || MISTAKE == EARLY) -> memory = READY }
    /* Its queue has a policy. */
    :: atomic { memory == LEASED && !is_held && !is_expiring && end <= now && !expires ->
        is_expiring = true; expires = true; expiring = attempts }

    /* ---- a change: src/journal/commit.c: take_queue(), hold(); src/journal/step.c: htw__step_hold() */

    :: atomic { commit == NONE && phase[0] == LEASING -> i = 0; goto leases }
    :: atomic { commit == NONE && phase[1] == LEASING -> i = 1;
leases:
        who = i; i = 0;
        /* src/journal/step.c: aim(), write_move() */
        image.exists = true; image.is_leased = true; image.end = now + 1; image.attempts = attempts + 1;
        commit = APPENDS }
    :: atomic { commit == NONE && phase[0] == ASKS && !is_held -> i = 0; goto steps }
    :: atomic { commit == NONE && phase[1] == ASKS && !is_held -> i = 1;
steps:
        who = i; i = 0;
        if
        :: IS_OF(token[who]) ->
            is_held = true; commit = APPENDS;
            image.exists = !ends[who]; image.is_leased = false; image.end = 0; image.attempts = attempts
        :: else -> /* -ESTALE, -ENOENT */
            was_stale = was_stale || (GOAL == STALE && ends[who] && memory == LEASED && phase[OTHER(who)] == HAS);
            phase[who] = IDLE; token[who] = 0; until[who] = 0; is_durable[who] = false; ends[who] = false; who = 0
        fi }
    :: atomic { commit == NONE && expires && !is_held ->
        expires = false;
        if
        :: memory == LEASED && (attempts == expiring || MISTAKE == ANY_EXPIRES) ->
            is_held = true; who = ASKERS; commit = APPENDS;
            image.exists = true; image.is_leased = false; image.end = 0; image.attempts = attempts
        :: else -> skip
        fi;
        expiring = 0 }

    /* src/journal/transaction.c: htw__database_commit() */
    :: atomic { commit == APPENDS -> copy(log, image); commit = SYNCS;
        end_sure = end_sure || (MISTAKE == ANSWERS_FIRST && !image.exists) }
    :: atomic { commit == APPENDS && CAN_FAIL -> failures++; has_failed = true; commit = FINISHES }
    :: atomic { commit == SYNCS -> copy(disk, log); commit = FINISHES }

    /* src/journal/commit.c: finish(); src/journal/step.c: htw__step_finish(), undo() */
    :: atomic { commit == FINISHES ->
        is_held = (has_failed && MISTAKE == FORGETS);
        if
        :: has_failed && who == ASKERS -> is_expiring = false
        :: has_failed && who != ASKERS && phase[who] == LEASING -> phase[who] = IDLE; is_durable[who] = false
        :: has_failed && who != ASKERS && phase[who] == ASKS -> phase[who] = HAS
        :: !has_failed && who == ASKERS -> is_expiring = false; memory = READY
        /* src/journal/lease.c: htw__lease_granted() */
        :: !has_failed && who != ASKERS && phase[who] == LEASING ->
            memory = LEASED; attempts = image.attempts; end = image.end; lease_is_durable = true;
            token[who] = attempts; phase[who] = SERVED
        :: !has_failed && who != ASKERS && phase[who] == ASKS ->
            assert(token[who] == last_told); /* nobody has had it since */
            end_sure = end_sure || ends[who];
            outlived = outlived || (GOAL == OUTLIVES && ends[who] && crashes > 0 && is_durable[who] && lease_is_durable);
            memory = (ends[who] -> ABSENT : READY); is_expiring = false;
            phase[who] = IDLE; token[who] = 0; until[who] = 0; is_durable[who] = false; ends[who] = false
        :: else -> skip
        fi;
        has_failed = false; commit = NONE; who = 0;
        image.exists = false; image.is_leased = false; image.end = 0; image.attempts = 0 }

    /* ---- the world */

    :: atomic { now < TIMES -> now++ }
    :: atomic { !is_quiet -> is_quiet = true }
    :: atomic { crashes < CRASHES -> crashes++; forget() }
    /* The power fails: what was not synced may be there or not. */
    :: atomic { crashes < CRASHES -> crashes++; copy(log, disk); forget() }
    :: atomic { crashes < CRASHES -> crashes = CRASHES }

    /* Nothing is left to do. */
    :: else ->
        assert(is_open && commit == NONE && !is_held && !is_expiring);
        for (i : 0 .. ASKERS - 1) {
            assert(phase[i] == IDLE || phase[i] == WAITING);
            assert(phase[i] != WAITING || memory != READY) /* nobody is forgotten */
        }
        i = 0;
        assert(GOAL != DELIVERED || !end_sure || last_told != ATTEMPTS || crashes < CRASHES || failures < FAILURES);
        assert(GOAL != OUTLIVES || !outlived);
        assert(GOAL != STALE || !was_stale);
        break
    od
}
