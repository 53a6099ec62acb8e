/* SPDX-License-Identifier: MIT */
/* peers.c - the list of peers. */
#include "peer.h"

#include <stddef.h>
#include <string.h>

extern const struct peer peer_htw, peer_htw_normal, peer_sqlite, peer_sqlite_normal,
    peer_beanstalkd, peer_beanstalkd_50ms;
#ifdef BENCH_WITH_HIREDIS
extern const struct peer peer_redis, peer_redis_everysec;
#endif
#ifdef BENCH_WITH_LIBPQ
extern const struct peer peer_postgresql;
#endif

const struct peer *const peers[] = {
    &peer_htw,
    &peer_htw_normal,
    &peer_sqlite,
    &peer_sqlite_normal,
    &peer_beanstalkd,
    &peer_beanstalkd_50ms,
#ifdef BENCH_WITH_HIREDIS
    &peer_redis,
    &peer_redis_everysec,
#endif
#ifdef BENCH_WITH_LIBPQ
    &peer_postgresql,
#endif
    NULL,
};

const struct peer *peer_named(const char *name) {
    for (size_t i = 0; peers[i] != NULL; i++)
        if (strcmp(peers[i]->name, name) == 0)
            return peers[i];
    return NULL;
}
