/* SPDX-License-Identifier: MIT */
/*
 * log.h - the log of SQLite, PATH-wal: copying it to the file, and the space that is kept for changes that end jobs, so that
 * a full disk never stops these. For the thread that uses the database.
 *
 * No commit adds pages to the log for which the file has no space: so the log can always be copied into the file, and begins
 * again. A change that puts jobs also leaves ROOM: pages of the file behind those that are in use, and a log that is long
 * enough for a change of some jobs. What ends, buries or releases jobs uses this room. SQLite cuts the file after its last
 * page when it has copied the whole log; the room is made again right after that.
 *
 * This is not so on a file system that copies what is written over, for a guest, and while another program reads: then the log
 * does not begin again. What an earlier process has left in the log is written again before it is copied the first time, and
 * nothing may be added to it until that has succeeded (`is_rewritten`).
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_LOG_H
#define HTW_SRC_JOURNAL_DATABASE_LOG_H

#include "database.h"

/* From now on, commits are followed. Nothing is done with the log of a program. */
void htw__log_init(struct htw__database *self);

/* Whether the log is still beside the file. SQLite does not notice that it is not. */
bool htw__log_is_in_place(struct htw__database *self);

/* What an earlier process has added to the file is on the disk then: at the open, before the first commit. */
int htw__room_keep(struct htw__database *self);

/* Before a commit: unless it `frees`, it leaves the room. 0, -ENOSPC or another error. */
int htw__room_secure(struct htw__database *self, bool frees);

/* In a commit, before its last frame: the file has space for so many pages, and the room. As above. */
int htw__room_cover(struct htw__database *self, int64_t pages);

/* frames.c: from now on, the frames of commits are followed. 0 or -EIO. */
int htw__frames_follow(struct htw__database *self);

/* The end of a transaction. As htw__statement_step(). */
int htw__frames_commit(struct htw__database *self);

/* Before the file is closed: where the disk is nearly full, the log stays, as zeros, so that no other program takes its space. */
void htw__room_leave(struct htw__database *self);

#endif /* HTW_SRC_JOURNAL_DATABASE_LOG_H */
