/* SPDX-License-Identifier: MIT */
/* version.h - what --version prints. */
#ifndef HTW_KIT_VERSION_H
#define HTW_KIT_VERSION_H

/* Prints the name and the version, and in further lines how the program was built. 0, or the exit status
   after a failure, which was reported. */
int htw__version_print(const char *program);

#endif /* HTW_KIT_VERSION_H */
