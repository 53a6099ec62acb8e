/* SPDX-License-Identifier: MIT */
/* policy.c - what queues do with jobs whose attempt has failed. */
#include "queue.h"

#include <htw/backoff.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    options.jitter = policy->jitter;
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

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

size_t htw__policy_write(const struct htw_queue_policy *policy, char text[HTW__POLICY_TEXT]) {
    return (size_t)snprintf(text, HTW__POLICY_TEXT,
                            "%" PRIu32 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64,
                            policy->attempts_max, policy->initial_ns, policy->cap_ns,
                            bits_of(policy->multiplier), bits_of(policy->jitter));
}

/* What would be written otherwise is damaged. */
int htw__policy_read(struct htw_queue_policy *policy, const void *text, size_t size) {
    char copy[HTW__POLICY_TEXT], again[HTW__POLICY_TEXT], *at = copy;
    if (size >= sizeof(copy))
        return -EBADMSG;
    memcpy(copy, text, size);
    copy[size] = '\0';
    policy->attempts_max = (uint32_t)strtoul(at, &at, 10);
    policy->initial_ns = strtoll(at, &at, 10);
    policy->cap_ns = strtoll(at, &at, 10);
    uint64_t multiplier = strtoull(at, &at, 10), jitter = strtoull(at, &at, 10);
    memcpy(&policy->multiplier, &multiplier, sizeof(multiplier));
    memcpy(&policy->jitter, &jitter, sizeof(jitter));
    bool is_same = htw__policy_write(policy, again) == size && memcmp(again, copy, size) == 0;
    return is_same && htw__policy_check(policy) == 0 ? 0 : -EBADMSG;
}
