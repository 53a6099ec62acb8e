/* SPDX-License-Identifier: MIT */
/* writes - what the delay queue writes. */
#include "../../src/wheel/delay_queue.c"
#include "shifts.h"
#include "masks.h"
#include "queue.h"

/* Never early: no bucket has a key later than a deadline that it was offered. */
/*@ requires has_levels(queue) && is_level(queue, id >> queue->bits);
    requires is_least(queue, queue->top.key, queue->top.id) && is_told(queue, id >> queue->bits);
    requires may_offer(queue, id, deadline);
    assigns queue->top, queue->levels, queue->keys[id], queue->since[id], queue->level[id >> queue->bits];
    ensures is_level(queue, id >> queue->bits);
    ensures is_told(queue, id >> queue->bits);
    ensures has_levels(queue);
    ensures is_least(queue, queue->top.key, queue->top.id);
    ensures queue->keys[id] == \min(\old(queue->keys[id]), deadline); */
static inline void htw__delay_queue_offer(struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline, uint64_t moment);
