/* SPDX-License-Identifier: MIT */
/* status.h - the exit statuses, which --help explains. */
#ifndef HTW_KIT_STATUS_H
#define HTW_KIT_STATUS_H

enum htw__status {
    HTW__EXIT_FAILED = 1,   /* a line was bad, or reading or writing failed */
    HTW__EXIT_USAGE = 2,    /* the command line is wrong */
    HTW__EXIT_UNSAVED = 3,  /* --unreleased: not all that was not released is in FILE */
    HTW__EXIT_SIGNAL = 128, /* and the number of the signal */
};

#endif /* HTW_KIT_STATUS_H */
