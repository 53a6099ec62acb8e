/* SPDX-License-Identifier: MIT */
/*
 * faulty_vfs.h - a disk for SQLite that fails when told to, and that loses at a power cut what was
 * not synced: a random part of it, sector by sector.
 *
 * It is a VFS over the usual one, and becomes the default of the process. Files are real; a sync is
 * not passed on, but makes durable what was written. What stood in each sector before it was written
 * and not synced is kept, and faulty_vfs_cut() brings back some of it. A sync that fails leaves its
 * sectors in doubt for good: a later sync does not make them durable, as with a kernel that drops
 * pages after an error. Only a new write does.
 */
#ifndef TESTS_FAULTY_VFS_H
#define TESTS_FAULTY_VFS_H

#include <stdbool.h>
#include <stdint.h>

enum fault {
    FAULT_NONE,
    FAULT_REFUSED, /* the operation fails, and nothing is written */
    FAULT_ACCESS, /* a read, an open or a mapping fails: these are counted apart, from the plan on */
    FAULT_TORN,   /* a write fails after a part, or after all of it */
    FAULT_LATE,   /* a write fails after all of it */
    FAULT_FULL,   /* a write fails after a part, because the disk is full */
    FAULT_GROWTH,    /* the same for a write that makes its file longer; others are made */
    FAULT_QUOTA,     /* a write fails, because the user may have no more */
    FAULT_LIMIT,     /* a write fails, because the file may not be longer */
    FAULT_SYNC,      /* the next sync fails; writes until then do not */
    FAULT_SYNC_FULL, /* the same, because the disk is full */
    FAULT_POWER,     /* this and all later operations fail */
};

/** What a power cut takes away from a file that was not synced: the disk has written the rest by itself. FRONT: up to some
    place, so that old bytes come before new ones. */
enum loss { LOSE_NOTHING, LOSE_SOME, LOSE_FRONT, LOSE_ALL, LOSSES };

/** Makes it the default VFS. */
void faulty_vfs_register(void);

/** No fault any more, no file, and all operations are counted from 0. */
void faulty_vfs_reset(uint64_t seed);

/** From the n-th operation on, `times` operations that the fault concerns fail. Up to 4 plans. */
void faulty_vfs_plan(enum fault fault, long nth, long times);

/** Forgets all plans. */
void faulty_vfs_relent(void);

/** Writes, syncs and truncations so far, and those that have failed. */
long faulty_vfs_operations(void);
long faulty_vfs_failures(void);

/** A write may change what is beside it, so SQLite fills sectors up: for files that are opened from now on, until the reset. */
void faulty_vfs_tear(void);

/** Fails everything from now on. */
void faulty_vfs_power_off(void);
bool faulty_vfs_has_power(void);

/** The next power cut takes this away from each file; otherwise a random one of these from each. */
void faulty_vfs_lose(enum loss loss);

/** After all files were closed: what a power cut leaves. Then the disk works again. */
void faulty_vfs_cut(void);

#endif /* TESTS_FAULTY_VFS_H */
