/* SPDX-License-Identifier: MIT */
/*
 * disk.h - SQLite for the scenes of a journal: one step each call, on a disk in memory.
 *
 * A call of SQLite is a step of the machine, and so is each sync of the disk. Two threads that use SQLite and are not
 * ordered race, as with a plain variable. The journal's files have no folder: what src/journal/path.c does with it, and
 * whether the files are in place, is left out.
 *
 * A power cut is played by what it leaves: disk_freeze() keeps that, and the scene goes on. disk_restore() brings it back.
 */
#ifndef TESTS_EXPLORE_DISK_H
#define TESTS_EXPLORE_DISK_H

#include <stdbool.h>
#include <stddef.h>

/* Before each schedule: the disk works, and has a journal without jobs. */
void disk_reset(void);

/* Of the next writes or syncs, one after `skipped` others fails: the disk is full, or is damaged. */
void disk_fill(unsigned skipped);
void disk_damage_sync(unsigned skipped);

/* Whether all of that has failed that was to fail. */
bool disk_has_failed(void);

/* Whether a power cut now would leave these bytes somewhere in the files. */
bool disk_is_durable(const void *bytes, size_t size);

/* Keeps what a power cut now would leave. What was not synced: the machine chooses nothing, all, or every other sector. */
void disk_freeze(void);

/* The files are what was kept last. No journal is open. */
void disk_restore(void);

/* ---- by the seam */

/* A thread uses SQLite: with a step before it, or without. `code`: from where. */
void disk_enter(const void *code);
void disk_use(const void *code);

#endif /* TESTS_EXPLORE_DISK_H */
