/* SPDX-License-Identifier: MIT */
/* status.h - the exit statuses, which --help explains. */
#ifndef HTW_SRC_CMD_STATUS_H
#define HTW_SRC_CMD_STATUS_H

enum htw__status {
    HTW__STATUS_FAILED = 1,   /* a line was bad, or reading or writing failed */
    HTW__STATUS_USAGE = 2,    /* the command line is wrong */
    HTW__STATUS_UNSAVED = 3,  /* --unreleased: what is left is not, or not whole, in FILE */
    HTW__STATUS_SIGNAL = 128, /* and the number of the signal */
};

#endif /* HTW_SRC_CMD_STATUS_H */
