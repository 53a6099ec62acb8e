/* SPDX-License-Identifier: MIT */
/* exchange.h - a request to a program of this machine through a socket, and the whole of the answer. */
#ifndef HTW_KIT_EXCHANGE_H
#define HTW_KIT_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

/* Connects to the socket of a path. Returns a descriptor or a negative errno; -EAGAIN: others wait for the program, too. */
int htw__exchange_connect(const char *path);

struct htw__exchange {
    const char *request;
    size_t size;
    int64_t patience_ns;
    const int *wakes; /* two descriptors; NULL: none */
};

/* Sends the request, and waits. Closes the descriptor. `*ret_answer` is what came until the other side ended the connection, with a NUL
 * behind it, to be freed in any case. Returns 0 or a negative errno: -ETIMEDOUT: the patience was over; -EMSGSIZE: more than 16 MiB;
 * -ECANCELED: one of `wakes` can be read. */
int htw__exchange(int fd, const struct htw__exchange *asked, char **ret_answer, size_t *ret_size);

#endif /* HTW_KIT_EXCHANGE_H */
