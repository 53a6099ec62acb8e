/* SPDX-License-Identifier: MIT */
/* seam.h - is included before each source file that ./dev explore compiles with the hooks. */
#ifndef TESTS_EXPLORE_SEAM_H
#define TESTS_EXPLORE_SEAM_H

/* Before each schedule. */
void seam_reset(void);

/* A step of a spin lock's wait. */
void explore_pause(void);
#define __builtin_ia32_pause explore_pause

#endif /* TESTS_EXPLORE_SEAM_H */
