/* SPDX-License-Identifier: MIT */
/*
 * htw/purgatory_inspect.h - looks into a purgatory: how many requests wait, and its statistics.
 *
 * Threads, errors and fork are as in htw/purgatory.h. No function blocks.
 */
#ifndef HTW_PURGATORY_INSPECT_H
#define HTW_PURGATORY_INSPECT_H

#include <htw/purgatory.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns how many requests wait on a key.
 *
 * A request counts from when it was linked to the key until it ends, also while a thread is in its
 * `try_complete`, but not in its `on_complete`.
 *
 * @param key      `key_size` bytes; may be NULL if `key_size` is 0.
 * @param key_size 0 to UINT32_MAX.
 * @return 0 or more: exact if no request is linked to the key or unlinked during the call.
 *
 * Allocates nothing. Cost: O(requests on the key); holds the lock for a bounded number at a time.
 */
HTW_API int64_t htw_purgatory_count_key(struct htw_purgatory *purgatory, const void *key,
                                        size_t key_size);

/** The number of buckets in the histogram of waits. */
#define HTW_PURGATORY_WAIT_BUCKETS 24

/**
 * Counters since the purgatory was created, and present numbers. When no thread is in a call,
 * submitted = completed + expired + cancelled + closed + pending.
 */
struct htw_purgatory_stats {
    /** sizeof(struct htw_purgatory_stats); HTW_PURGATORY_STATS_INIT sets it. */
    size_t struct_size;
    uint64_t submitted;    /**< submissions that returned HTW_WATCHED or HTW_FINISHED */
    uint64_t completed;    /**< HTW_REASON_COMPLETED */
    uint64_t expired;      /**< HTW_REASON_EXPIRED */
    uint64_t cancelled;    /**< HTW_REASON_CANCELLED */
    uint64_t closed;       /**< HTW_REASON_CLOSED */
    uint64_t pending;      /**< requests that wait now, on keys or thresholds */
    uint64_t delayed;      /**< of these, with a timeout */
    uint64_t watched;      /**< requests on keys, once for each key */
    uint64_t keys;         /**< keys on which requests wait */
    uint64_t alarms;       /**< timers of the scheduler that the purgatory uses: two for each
                                processor, and one more while two hooks take long there */
    uint64_t memory_bytes; /**< memory of the purgatory, without requests */
    /**
     * A histogram of how long requests waited that have ended, for any reason. waits[0]: less than
     * 1 ms; waits[i]: 2^(i-1) ms or more, but less than 2^i ms; the last: 2^22 ms (70 minutes) or
     * more.
     *
     * It is a sample under load: of the requests that begin to wait on a processor in the same
     * millisecond, at least 16 are measured. Requests that ended inside their submission did not
     * wait, and do not count. The clock is that of the timeouts.
     */
    uint64_t waits[HTW_PURGATORY_WAIT_BUCKETS];
    uint64_t waited_ms; /**< the sum of these waits, in milliseconds */
};

#define HTW_PURGATORY_STATS_INIT HTW__INIT(htw_purgatory_stats)

/**
 * Copies the statistics of a purgatory to `stats`.
 *
 * @param stats its `struct_size` must be set, as HTW_PURGATORY_STATS_INIT does.
 * @return 0: success;
 *         -EINVAL: a pointer is NULL, or `struct_size` is unknown.
 *
 * Cost: O(shards); locks each shard briefly, one after the other.
 */
HTW_API int htw_purgatory_get_stats(struct htw_purgatory *purgatory,
                                    struct htw_purgatory_stats *stats);

/**
 * Writes the statistics in the text format of Prometheus. All names start with "htw_purgatory_".
 *
 * @return 0: success;
 *         -EIO: writing to the stream failed.
 */
HTW_API int htw_purgatory_prometheus(struct htw_purgatory *purgatory, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif /* HTW_PURGATORY_INSPECT_H */
