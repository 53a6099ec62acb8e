/* SPDX-License-Identifier: MIT */
/* policy.c - what queues do with jobs whose attempt has failed. */
#include "queue.h"

#include <htw/backoff.h>

#include <errno.h>

/* Beyond, the backoff stays as it is. */
#define ATTEMPTS_COUNTED 1000u

bool htw__policy_is_on(const struct htw_queue_policy *policy) {
    return policy->attempts_max > 0 || policy->initial_ns > 0;
}

static int start_backoff(const struct htw_queue_policy *policy, uint64_t seed,
                         struct htw_backoff *backoff) {
    struct htw_backoff_options options = HTW_BACKOFF_OPTIONS_INIT;
    options.initial_ns = policy->initial_ns;
    options.cap_ns = policy->cap_ns;
    options.multiplier = policy->multiplier;
    options.jitter = policy->jitter < 0 || policy->jitter > 0 ? policy->jitter : HTW_NO_JITTER;
    options.seed = seed;
    return htw_backoff_init(backoff, &options);
}

int64_t htw__policy_backoff(const struct htw_queue_policy *policy, uint64_t id, uint32_t attempts) {
    struct htw_backoff backoff;
    int64_t delay_ns = 0;
    if (policy->initial_ns == 0 || start_backoff(policy, id, &backoff) != 0)
        return 0;
    for (uint32_t i = 0; i < attempts && i < ATTEMPTS_COUNTED; i++)
        delay_ns = htw_backoff_next(&backoff);
    return delay_ns;
}

int htw__policy_check(const struct htw_queue_policy *policy) {
    struct htw_backoff backoff;
    if (policy->struct_size != sizeof(*policy))
        return -EINVAL;
    return policy->initial_ns == 0 ? 0 : start_backoff(policy, 0, &backoff);
}
