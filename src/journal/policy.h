/* SPDX-License-Identifier: MIT */
/* policy.h - what queues do with jobs whose attempt has failed. */
#ifndef HTW_SRC_JOURNAL_POLICY_H
#define HTW_SRC_JOURNAL_POLICY_H

#include <htw/journal.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool htw__policy_is_on(const struct htw_queue_policy *policy);

/* 0 or -EINVAL. */
int htw__policy_check(const struct htw_queue_policy *policy);

/* The delay before the next attempt of a job, after `attempts`. */
int64_t htw__policy_backoff(const struct htw_queue_policy *policy, uint64_t id, uint32_t attempts);

/* As text, which any machine reads: its size. And back: 0 or -EBADMSG. */
#define HTW__POLICY_TEXT 128
size_t htw__policy_write(const struct htw_queue_policy *policy, char text[HTW__POLICY_TEXT]);
int htw__policy_read(struct htw_queue_policy *policy, const void *text, size_t size);

#endif /* HTW_SRC_JOURNAL_POLICY_H */
