/* SPDX-License-Identifier: MIT */
/*
 * beside.h - the socket beside the file of a journal, FILE-socket, at which `htw serve` does for `htw journal` what this cannot do
 * while the server has the file open.
 *
 * The path of a socket has room for 100 bytes. So it is reached through a descriptor of the folder, whose path is short.
 */
#ifndef HTW_KIT_BESIDE_H
#define HTW_KIT_BESIDE_H

#define HTW__BESIDE_PATH 108

struct htw__beside {
    int folder;                  /* -1: none */
    char path[HTW__BESIDE_PATH]; /* valid in this process, until it is closed */
};

/* `file` exists. Returns 0 or a negative errno; either way `self` is to be closed. */
int htw__beside_open(struct htw__beside *self, const char *file);
void htw__beside_close(struct htw__beside *self);

#endif /* HTW_KIT_BESIDE_H */
