/* SPDX-License-Identifier: MIT */
/* faults.h - what happens to the disk of the world: operations take time, fail or stall, and the power is cut. */
#ifndef TESTS_SIMULATE_FAULTS_H
#define TESTS_SIMULATE_FAULTS_H

#include <stdbool.h>

/* At the begin of a life: SQLite uses the disk, and lacks memory as others do. */
void faults_begin(void);

/* The disk fails from now on, or not any more. */
void faults_set(bool are_on);

/* After a life: the disk has what a power cut leaves. */
void faults_cut_power(void);

#endif /* TESTS_SIMULATE_FAULTS_H */
