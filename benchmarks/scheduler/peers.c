/* SPDX-License-Identifier: MIT */
/* peers.c - the list of peers. */
#include "peer.h"

#include "../common/report.h"

#include <string.h>

extern const struct peer peer_htw, peer_htw_absolute, peer_htw_100us, peer_htw_fine;
extern const struct peer peer_heap_cond, peer_at_once, peer_libuv, peer_libevent;

const struct peer *const peers[] = {
    &peer_htw,       &peer_htw_absolute,
    &peer_htw_100us, &peer_htw_fine,
    &peer_heap_cond,
#ifdef BENCH_WITH_LIBUV
    &peer_libuv,
#endif
#ifdef BENCH_WITH_LIBEVENT
    &peer_libevent,
#endif
    &peer_at_once,   NULL,
};

const struct peer *peer_named(const char *name) {
    for (size_t i = 0; peers[i] != NULL; i++)
        if (strcmp(peers[i]->name, name) == 0)
            return peers[i];
    return NULL;
}

void peer_exhausted(void) {
    report_out_of_memory();
}
