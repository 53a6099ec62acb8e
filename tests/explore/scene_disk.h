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

/* After `skipped` writes the disk is full, until it is emptied. */
void scene_fill_disk(unsigned skipped);
void scene_empty_disk(void);

/* After `skipped` syncs one fails. */
void scene_damage_sync(unsigned skipped);

/* Whether a write or a sync has failed. */
bool scene_disk_has_failed(void);

/* Keeps what a power cut now would leave. What was not synced: the machine chooses nothing, all, or every other sector. */
void scene_freeze_disk(void);

/* The files are what was kept last. No journal is open. */
void scene_restore_disk(void);

#endif /* TESTS_EXPLORE_SCENE_DISK_H */
