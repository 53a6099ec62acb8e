/* SPDX-License-Identifier: MIT */
/*
 * journal_case.h - what the scenes of a journal start from: a journal on the disk in memory, up to four jobs, and what was
 * answered about each.
 *
 * Each delivery is judged where it happens: not early, once in a run, one at a time, durable, not after the close.
 */
#ifndef TESTS_EXPLORE_JOURNAL_CASE_H
#define TESTS_EXPLORE_JOURNAL_CASE_H

#include "../../src/journal/state.h"
#include "scenes.h"

#define SCENE_JOBS 4u
#define SCENE_SIZE 8u

/* A job. */
struct one {
    uint64_t id;
    int put, end; /* results */
    /* The put was answered with 0; its end was begun, and answered with 0: what a power cut must respect. */
    _Atomic bool is_put, is_ending, has_ended;
    unsigned deliveries;
    bool was_delivered;
};

/* All 0 when a scene begins. */
extern struct scene_journal {
    struct htw_journal *journal;
    struct one jobs[SCENE_JOBS];
    htw_deliver *more; /* in `deliver` */
    unsigned inside, notices, stops;
    int last_notice;
    bool is_closed;
    _Atomic unsigned stage; /* deliveries, and what a scene adds */
} journal_scene;

/* At a power cut: sets of jobs whose put was answered, whose end was answered, and whose end was begun. */
extern struct scene_cut { unsigned put, ended, ending; } scene_cut;

/* Of each job: it is somewhere in the files, or nowhere. */
extern const char scene_payloads[SCENE_JOBS][SCENE_SIZE + 1];

int64_t scene_wall_ns(void);

/* Which job it is. */
unsigned scene_number_of(const struct htw_delivery *delivery);

/* Opens a new journal; `change` may change its options. Closes it. */
void scene_open_journal(void (*change)(struct htw_journal_options *));
void scene_stop_journal(void);

/* So many jobs were put, and so many have ended. */
void scene_require_counts(uint64_t put_count, uint64_t ended);

/* Make a change, and note its answer, which they return. */
int scene_put(unsigned number, int64_t delay_ns);
int scene_end(unsigned number);

/* With a notice, which must come, in the order of the calls: the argument is larger each time. */
void scene_put_later(unsigned number, int64_t delay_ns);
void scene_note_durable(void *arg, int result);

/* The job must have been delivered within so long and a tick. */
void scene_expect(unsigned number, int64_t delay_ns);

/* Threads that put job 1 in a millisecond, end job 0, or cancel it, on another CPU. */
void scene_put_1(void);
void scene_end_0(void);
void scene_cancel_0(void);

/* A thread that cuts the power, and notes what was answered. The scene goes on. */
void scene_cut_power(void);

/* Opens the journal that the power cut has left, and lets it deliver all. The other one is closed. */
void scene_open_again(void);

/* Awaits a thread that ends job 0, the only one, cuts the power, and judges the end before and after that. */
void scene_judge_end(void);

/* Closes the journal, opens what the power cut has left, and judges it. */
void scene_judge_cut(void);

#endif /* TESTS_EXPLORE_JOURNAL_CASE_H */
