/* SPDX-License-Identifier: MIT */
/*
 * scene_disk.h - the disk of a scene, with a journal at DISK_PATH.
 *
 * A call of SQLite is a step of the machine, and so is each sync of the disk. Two threads that use SQLite and are not ordered
 * race, as with a plain variable. A power cut is played by what it leaves: scene_freeze_disk() keeps that, and the scene goes
 * on. scene_restore_disk() brings it back.
 */
#ifndef TESTS_EXPLORE_SCENE_DISK_H
#define TESTS_EXPLORE_SCENE_DISK_H

#include "disk.h"
#include "explore.h"

/* Before each schedule: the disk works, and has a journal without jobs. */
void scene_reset_disk(void);

/* Of the next writes or syncs, one after `skipped` others fails: the disk is full, or is damaged. */
void scene_fill_disk(unsigned skipped);
void scene_damage_sync(unsigned skipped);

/* Whether all of that has failed that was to fail. */
bool scene_disk_has_failed(void);

/* Keeps what a power cut now would leave. What was not synced: the machine chooses nothing, all, or every other sector. */
void scene_freeze_disk(void);

/* The files are what was kept last. No journal is open. */
void scene_restore_disk(void);

#endif /* TESTS_EXPLORE_SCENE_DISK_H */
