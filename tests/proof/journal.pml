/* SPDX-License-Identifier: MIT */
/*
 * journal.pml - what a journal has on the disk, in memory and told its callers, and what a crash leaves.
 *
 * One process has all threads, as guarded steps: so a crash can end all of them between any two steps. A step
 * is what one hold of the journal's lock covers, or one call of the database. Its comment names the functions
 * of src/journal/ that it stands for; tests/proof/names.py looks for them.
 *
 * Two jobs, 0 and 1, in the order of delivery, due at 1 and at 2. Each has a caller that puts it, and ends or cancels
 * it. Both changes may be of one batch. Caller 0 may also end its job and put the other one in a single change.
 *
 * Left out: ids, keys, the mark, the size of memory, several slots, checkpoints of the log.
 */

/* ---- bounds; the verb proof sets others for a longer search */

#ifndef CRASHES
#define CRASHES 3
#endif
#ifndef FAILURES
#define FAILURES 2 /* of the disk */
#endif
#ifndef EVICTIONS
#define EVICTIONS 2
#endif

/* ---- mistakes that spin must find, one at a time: -DMISTAKE=NO_HOLD */

#ifndef MISTAKE
#define MISTAKE 0
#endif
#define NO_HOLD 1 /* a job that is being cancelled is delivered meanwhile */
#define NO_UNHOLD 2 /* a job whose cancel has failed waits no more */
#define NOT_COVERED 3 /* a job that is put before the cursor is left to the reader */
#define EARLY 4 /* a job is delivered before its deadline */
#define NO_REWRITE 5 /* an open trusts a log whose fsync has failed */
#define BESIDE_READER 6 /* a batch begins while the reader uses the database */
#define MEMORY_FIRST 7 /* a job is in memory before its commit */
#define NO_SYNC 8 /* no fsync before the answer */
#define GOES_ON 9 /* after a failed fsync */
#define NO_SETTLE 10 /* a failed transaction is not written over */
#define ANSWERS_FIRST 11 /* a caller has its answer before the fsync */
#define FORGETS 12 /* the cursor stays where it is when a job is dropped */
#define IN_PARTS 13 /* what a change has done before one of its parts fails is kept */

/* ---- what must happen in some run, or nothing is proved: -DGOAL=DELIVERED */

#ifndef GOAL
#define GOAL 0
#endif
#define DELIVERED 1 /* both jobs have ended, after all crashes and failures that there may be */
#define AGAIN 2 /* after a crash both jobs are delivered and not ended */
#define STOPPED 3 /* the journal has stopped, was opened again, and delivers both jobs */
#define DROPPED 4 /* a job is dropped from memory, and delivered later */

#define JOBS 2
#define BIT(job) (1 << (job))
#define ALL (BIT(JOBS) - 1)
#define HAS(set, job) (((set) & BIT(job)) != 0)

/* ---- what survives a crash */

byte log;  /* jobs of the log and the file, as the kernel has them: what a process finds */
byte disk; /* jobs that a power cut leaves in any case */
bool is_dropped; /* an fsync has failed: the kernel takes pages of the log for clean that are not on the disk */

/* What the callers know; the judge forgets nothing. */
byte put_asked, put_sure, put_refused; /* asked for; answered with 0; with an error that promises that it is not there */
byte end_asked, end_sure;              /* an end may have happened; has been answered with 0 */
bool retry_asked;                      /* the change that ends 0 and puts 1, not answered */

byte now, crashes, failures, evictions;
bool is_quiet; /* callers ask for nothing any more */
bool has_stopped, is_unread; /* it was opened again; a job was dropped: for GOAL */

/* ---- the journal: lost in a crash */

mtype = { CLOSED, OPENING, REWRITING, OPEN };
mtype life = CLOSED;
bool has_failed; /* it has stopped */

mtype = { ABSENT, WAITING, HELD, DELIVERING, IN_FLIGHT, ENDED };
mtype memory[JOBS] = ABSENT; /* of each job */
byte delivered; /* in this run */
byte file;      /* jobs, as the connection sees them: after the last commit */
byte cursor;    /* jobs before it are in memory, or were delivered */
byte selected;  /* by the reader, and not yet fetched */
bool is_in_use; /* the database */
bool deliver_runs;

/* A change of each caller. */
mtype = { NONE, QUEUED, BATCH, FINISHED };
mtype change[JOBS] = NONE;
byte puts[JOBS], ends[JOBS];
bool is_cancel[JOBS];
mtype = { OK, ENOENT, EALREADY, EMSGSIZE, ENOSPC, EIO };
mtype result[JOBS] = OK;

/* The batch. */
mtype = { IDLE, WRITES, APPENDS, SYNCS, SETTLES, SETTLE_SYNCS, FINISHES, WAKES };
mtype commit = IDLE;
byte image; /* what the transaction makes of the file */
mtype error = OK;

/* The reader: between its call of the database and the lock. */
bool reads, fetches;
byte rows;
bool found;

byte i;

/* ---- pieces */

/* What is in the log goes to the disk, unless the kernel has dropped it. */
inline sync() {
    if
    :: is_dropped -> skip
    :: else -> disk = log
    fi
}

#define CAN_FAIL (failures < FAILURES)

/* src/journal/submit.c: admit(), submit(); src/journal/change.c: htw__change_append() */
#define ACCEPTS(caller) (life == OPEN && !has_failed && change[caller] == NONE && !is_quiet)

/* src/journal/reader.c: htw__reader_is_past(); src/journal/slot.c: is_due(), is_deliverable() */
#define COMES_FIRST(job) ((job == 0 || memory[0] != WAITING) && (selected & (2 * BIT(job) - 1)) == 0)

#define IS_DUE(job) (now > job || MISTAKE == EARLY)

inline forget() {
    for (i : 0 .. JOBS - 1) {
        memory[i] = ABSENT;
        change[i] = NONE;
        puts[i] = 0;
        ends[i] = 0;
        is_cancel[i] = false;
        result[i] = OK
    }
    delivered = 0; file = 0; cursor = 0; selected = 0; image = 0; rows = 0;
    is_unread = false;
    is_in_use = false; deliver_runs = false; reads = false; fetches = false; found = false;
    has_failed = false; commit = IDLE; error = OK; life = CLOSED; i = 0
}

/* Fails unless what was found is what the answers allow. */
inline judge(set) {
    assert((put_sure & ~end_asked & ~(set)) == 0);     /* no job that was put is lost */
    assert((end_sure & (set)) == 0);                   /* no job that has ended is there again */
    assert((put_refused & (set)) == 0);                /* no change that has failed has happened */
    assert(((set) & ~put_asked) == 0);
    assert(!(retry_asked && (end_asked & 1) != 0) ||   /* a change has happened wholly or not at all */
           HAS(set, 0) != HAS(set, 1));
    /* From here on it is known. */
    put_sure = put_sure | (set); end_asked = end_asked & ~(set); retry_asked = false
}

/* src/journal/commit.c: hold() */
inline hold(job, caller) {
    if
    :: memory[job] == WAITING && MISTAKE == NO_HOLD -> skip
    :: memory[job] == WAITING && MISTAKE != NO_HOLD -> memory[job] = HELD
    :: memory[job] == HELD || memory[job] == ABSENT -> skip
    :: else -> result[caller] = EALREADY
    fi
}

/* src/journal/step.c: htw__step_end_in_memory(); src/journal/jobs.c: htw__jobs_end() */
inline end_in_memory(job) {
    if
    :: memory[job] == DELIVERING -> memory[job] = ENDED
    :: memory[job] == ABSENT || memory[job] == ENDED -> skip
    :: else -> memory[job] = ABSENT
    fi
}

/* src/journal/commit.c: keep_jobs(); src/journal/reader.c: htw__reader_covers() */
inline keep(job) {
    if
    :: job < cursor && MISTAKE != NOT_COVERED -> memory[job] = WAITING
    :: else -> skip
    fi
}

/* src/journal/commit.c: finish(); src/journal/reader.c: htw__reader_unhold() */
inline finish(caller) {
    if
    :: error != OK && result[caller] == OK -> result[caller] = error
    :: else -> skip
    fi;
    if
    :: result[caller] == OK ->
        for (i : 0 .. JOBS - 1) {
            if
            :: HAS(ends[caller], i) -> end_in_memory(i)
            :: else -> skip
            fi;
            if
            :: HAS(puts[caller], i) -> keep(i)
            :: else -> skip
            fi
        }
    :: result[caller] != OK && is_cancel[caller] && memory[caller] == HELD && MISTAKE != NO_UNHOLD ->
        memory[caller] = WAITING
    :: else -> skip
    fi;
    change[caller] = FINISHED
}

/* What a caller knows by the answer. */
inline learn(caller) {
    if
    :: result[caller] == OK -> put_sure = put_sure | puts[caller]; end_sure = end_sure | ends[caller]
    :: result[caller] == EIO -> skip /* it may have happened: the journal has stopped */
    :: else -> put_refused = put_refused | puts[caller];
        if
        :: result[caller] != ENOENT -> end_asked = end_asked & ~ends[caller]
        :: else -> skip
        fi
    fi;
    if
    :: puts[caller] != 0 && ends[caller] != 0 && result[caller] != EIO -> retry_asked = false
    :: else -> skip
    fi;
    change[caller] = NONE; puts[caller] = 0; ends[caller] = 0; is_cancel[caller] = false; result[caller] = OK
}

/* src/journal/submit.c: make_now(), htw_journal_put(), htw_journal_update(), htw_journal_cancel() */
inline ask(caller, put, end, cancel) {
    puts[caller] = put; ends[caller] = end; is_cancel[caller] = cancel; change[caller] = QUEUED;
    put_asked = put_asked | put;
    end_asked = end_asked | end;
    if
    :: put != 0 && end != 0 -> retry_asked = true
    :: else -> skip
    fi
}

/* src/journal/commit.c: write_batch(), write_change(), write_parts(), is_of_one_change(). A change of which a part is
   not possible is left out: src/journal/transaction.c: htw__database_savepoint(), htw__database_savepoint_end() */
inline write(caller) {
    if
    :: change[caller] == BATCH && result[caller] == OK ->
        if
        :: (ends[caller] & ~image) != 0 -> result[caller] = ENOENT
        :: (ends[caller] & ~image) == 0 -> image = (image & ~ends[caller]) | puts[caller]
        :: CAN_FAIL && (ends[caller] & ~image) == 0 && puts[caller] != 0 -> /* the put is too large */
            failures++; result[caller] = EMSGSIZE;
            image = (MISTAKE == IN_PARTS -> image & ~ends[caller] : image)
        fi
    :: else -> skip
    fi
}

#define IN_BATCH(caller) (change[caller] == BATCH)

/* ---- the steps */

active proctype journal() {
    do
    /* ---- opening */

    /* src/journal/open.c: htw__database_open(), set_up() */
    :: atomic { life == CLOSED -> life = OPENING; file = log }

    /* src/journal/log.c: rewrite(), copy_onto_itself() */
    :: atomic { life == OPENING ->
        is_dropped = is_dropped && MISTAKE == NO_REWRITE; life = REWRITING }
    :: atomic { life == REWRITING -> sync(); life = OPEN; judge(file) }
    :: atomic { (life == REWRITING) && CAN_FAIL -> failures++; is_dropped = true; forget() }

    /* ---- callers: 0 and 1 */

    :: atomic { ACCEPTS(0) && !HAS(put_asked, 0) -> ask(0, BIT(0), 0, false) }
    :: atomic { ACCEPTS(1) && !HAS(put_asked, 1) -> ask(1, BIT(1), 0, false) }
    :: atomic { ACCEPTS(0) && HAS(delivered, 0) && !HAS(end_sure, 0) && memory[0] != ABSENT -> ask(0, 0, BIT(0), false) }
    :: atomic { ACCEPTS(1) && HAS(delivered, 1) && !HAS(end_sure, 1) && memory[1] != ABSENT -> ask(1, 0, BIT(1), false) }
    :: atomic { ACCEPTS(0) && HAS(put_sure, 0) && !HAS(end_asked, 0) -> ask(0, 0, BIT(0), true) }
    :: atomic { ACCEPTS(1) && HAS(put_sure, 1) && !HAS(end_asked, 1) -> ask(1, 0, BIT(1), true) }
    :: atomic { ACCEPTS(0) && HAS(delivered, 0) && HAS(put_sure, 0) && !HAS(end_asked, 0) && !HAS(put_asked, 1) ->
        ask(0, BIT(1), BIT(0), false) }

    /* src/journal/submit.c: make_now(); src/journal/commit.c: wake() */
    :: atomic { commit == WAKES && change[0] == FINISHED -> learn(0) }
    :: atomic { commit == WAKES && change[1] == FINISHED -> learn(1) }

    /* ---- a batch: src/journal/commit.c: htw__commit_queue(), by the writer or by a caller that is alone */

    /* src/journal/commit.c: take_queue(), htw__commit_is_idle(); src/journal/writer.c: next_step() */
    :: atomic { life == OPEN && commit == IDLE && (!is_in_use || MISTAKE == BESIDE_READER) &&
                (change[0] == QUEUED || change[1] == QUEUED) ->
        is_in_use = true;
        for (i : 0 .. JOBS - 1) {
            if
            :: change[i] == QUEUED ->
                change[i] = BATCH;
                if
                :: is_cancel[i] -> hold(i, i)
                :: else -> skip
                fi
            :: else -> skip
            fi
        }
        i = 0;
        commit = WRITES;
        if
        :: has_failed -> error = EIO; commit = FINISHES
        :: else -> skip
        fi }

    /* src/journal/transaction.c: htw__database_begin(); rows.c: htw__database_insert(), htw__database_remove() */
    :: atomic { commit == WRITES ->
        image = file; write(0); write(1);
        if
        :: image == file -> commit = FINISHES /* nothing to write */
        :: else -> commit = APPENDS
        fi;
        if
        :: MISTAKE == MEMORY_FIRST && IN_BATCH(0) && puts[0] == BIT(0) -> keep(0)
        :: else -> skip
        fi }
    :: atomic { commit == WRITES && CAN_FAIL -> failures++; error = ENOSPC; commit = FINISHES }

    /* src/journal/transaction.c: htw__database_commit(). The whole transaction is in the log. */
    :: atomic { commit == APPENDS ->
        log = image;
        if
        :: MISTAKE == NO_SYNC -> file = image; commit = FINISHES
        :: else -> commit = SYNCS
        fi }
    /* The log has only a part of it, which counts for nothing. */
    :: atomic { commit == APPENDS && CAN_FAIL -> failures++; error = ENOSPC; commit = FINISHES }
    :: atomic { commit == SYNCS -> sync(); file = image; commit = FINISHES }
    /* src/journal/database.c: htw__database_fail(): is_distrusted */
    :: atomic { commit == SYNCS && CAN_FAIL ->
        failures++; is_dropped = true; commit = FINISHES;
        has_failed = (MISTAKE != GOES_ON);
        error = (has_failed -> EIO : ENOSPC) }
    /* It fails, and the log has all of it. */
    :: atomic { commit == SYNCS && CAN_FAIL ->
        failures++; error = ENOSPC; commit = (MISTAKE == NO_SETTLE -> FINISHES : SETTLES) }

    /* src/journal/transaction.c: htw__database_settle(). It writes over the copy. */
    :: atomic { commit == SETTLES -> log = file; commit = SETTLE_SYNCS }
    :: atomic { commit == SETTLES && CAN_FAIL -> failures++; has_failed = true; error = EIO; commit = FINISHES }
    :: atomic { commit == SETTLE_SYNCS -> sync(); commit = FINISHES }
    :: atomic { commit == SETTLE_SYNCS && CAN_FAIL ->
        failures++; is_dropped = true; has_failed = true; error = EIO; commit = FINISHES }

    /* src/journal/commit.c: finish_all(); src/journal/state.c: htw__journal_stop() */
    :: atomic { commit == FINISHES ->
        if
        :: IN_BATCH(0) -> finish(0)
        :: else -> skip
        fi;
        if
        :: IN_BATCH(1) -> finish(1)
        :: else -> skip
        fi;
        i = 0; image = 0; error = OK; commit = WAKES }
    :: atomic { MISTAKE == ANSWERS_FIRST && commit == SYNCS && IN_BATCH(0) && result[0] == OK ->
        put_sure = put_sure | puts[0] }

    /* src/journal/reader.c: htw__reader_evict(), evict(); src/journal/jobs.c: htw__jobs_evict(). Job 1 is dropped. */
    :: atomic { commit == WAKES && evictions < EVICTIONS && memory[1] == WAITING && !HAS(delivered, 1) ->
        evictions++; is_unread = (GOAL == DROPPED);
        memory[1] = ABSENT;
        cursor = (MISTAKE == FORGETS -> JOBS : (HAS(selected, 0) -> 0 : 1));
        selected = 0 }

    :: atomic { commit == WAKES && change[0] != FINISHED && change[1] != FINISHED -> commit = IDLE; is_in_use = false }

    /* ---- the reader: src/journal/reader.c: htw__reader_step(), htw__reader_has_work() */

    /* src/journal/reader.c: find_bucket(), scan(); src/journal/scan.c: htw__database_scan() */
    :: atomic { life == OPEN && !has_failed && !is_in_use && selected == 0 && cursor < JOBS && !reads ->
        is_in_use = true; reads = true; rows = file & ~(BIT(cursor) - 1) }
    /* src/journal/reader.c: select_row(), end_scan(), move_cursor() */
    :: atomic { reads -> reads = false; is_in_use = (commit != IDLE); selected = rows; rows = 0; cursor = JOBS }

    /* src/journal/reader.c: fetch(), fetch_one(); src/journal/rows.c: htw__database_fetch(). The first that is selected. */
    :: atomic { life == OPEN && !has_failed && !is_in_use && selected != 0 && !fetches ->
        is_in_use = true; fetches = true;
        found = (HAS(selected, 0) && HAS(file, 0)) || (!HAS(selected, 0) && HAS(file, 1)) }
    :: atomic { fetches ->
        fetches = false; is_in_use = (commit != IDLE);
        i = (HAS(selected, 0) -> 0 : 1);
        selected = selected & ~BIT(i);
        if
        :: found -> assert(memory[i] == ABSENT); memory[i] = WAITING
        :: else -> skip
        fi;
        i = 0; found = false }

    /* ---- delivery: src/journal/slot.c: deliver_slice(), deliver_some(), deliver() */

    /* src/journal/jobs.c: htw__jobs_deliver(), htw__jobs_first() */
    :: atomic { life == OPEN && !has_failed && !deliver_runs && memory[0] == WAITING && IS_DUE(0) && COMES_FIRST(0) ->
        i = 0; goto delivers }
    :: atomic { life == OPEN && !has_failed && !deliver_runs && memory[1] == WAITING && IS_DUE(1) && COMES_FIRST(1) ->
        i = 1;
delivers:
        assert(now > i);                /* not early */
        assert(HAS(disk, i));           /* durable, so that it comes again after a power cut */
        assert(!HAS(end_sure, i));      /* not after its end */
        assert(!HAS(put_refused, i));   /* not after a refusal */
        assert(!HAS(delivered, i));     /* once in a run */
        memory[i] = DELIVERING; delivered = delivered | BIT(i); deliver_runs = true; i = 0 }
    /* src/journal/jobs.c: htw__jobs_delivered() */
    :: atomic { deliver_runs ->
        for (i : 0 .. JOBS - 1) {
            if
            :: memory[i] == DELIVERING -> memory[i] = IN_FLIGHT
            :: memory[i] == ENDED -> memory[i] = ABSENT
            :: else -> skip
            fi
        }
        i = 0; deliver_runs = false }

    /* ---- the world */

    :: atomic { now < JOBS -> now++ }
    :: atomic { !is_quiet -> is_quiet = true }
    /* The process is killed. */
    :: atomic { crashes < CRASHES -> crashes++; forget() }
    /* The power fails: what was not synced may be there or not. */
    :: atomic { crashes < CRASHES -> crashes++;
        if
        :: log = disk
        :: !is_dropped -> disk = log
        fi;
        is_dropped = false; forget() }
    :: atomic { crashes < CRASHES -> crashes = CRASHES } /* no other crash */
    /* It has stopped: the user closes it and opens it again, when all callers have their answers. */
    :: atomic { has_failed && !is_in_use && !deliver_runs && change[0] == NONE && change[1] == NONE ->
        has_stopped = (GOAL == STOPPED); forget() }

    /* Nothing is left to do. */
    :: else ->
        assert(life == OPEN && commit == IDLE && !is_in_use && change[0] == NONE && change[1] == NONE);
        assert((put_sure & ~end_asked & ~delivered) == 0); /* each job has come in this run */
        assert((file & ~delivered) == 0);
        assert(GOAL != DELIVERED || end_sure != ALL || crashes < CRASHES || failures < FAILURES);
        assert(GOAL != AGAIN || (file & delivered) != ALL || crashes == 0);
        assert(GOAL != STOPPED || (file & delivered) != ALL || !has_stopped);
        assert(GOAL != DROPPED || !HAS(delivered, 1) || !is_unread);
        break
    od
}
