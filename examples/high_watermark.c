/* SPDX-License-Identifier: MIT */
/*
 * high_watermark.c - a producer waits until all replicas have its record.
 *
 * That is when the partition's high watermark has reached it. Each replica reports its last record;
 * the watermark is the smallest of these.
 */
#include <htw/threshold.h>

#include <stdio.h>

#define REPLICAS 3
#define RECORDS 5

struct produce {
    uint64_t offset;
    enum htw_reason reason;
    bool answered;
    struct htw_request request;
};

struct partition {
    uint64_t reached[REPLICAS];
    struct htw_threshold *watermark;
};

static void answer(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    struct produce *produce = HTW_CONTAINER_OF(request, struct produce, request);
    produce->reason = reason;
    produce->answered = true;
    printf("record %llu: %s\n", (unsigned long long)produce->offset,
           reason == HTW_REASON_COMPLETED ? "safe" : "not known to be safe in time");
}

static void replica_has(struct partition *partition, int replica, uint64_t offset) {
    partition->reached[replica] = offset;
    uint64_t least = offset;
    for (int i = 0; i < REPLICAS; i++)
        if (partition->reached[i] < least)
            least = partition->reached[i];
    htw_threshold_advance(partition->watermark, least); /* completes all up to there, in order */
}

static int run(struct htw_scheduler *scheduler, struct htw_purgatory *purgatory) {
    struct partition partition = { .reached = { 0 } };
    struct produce produce[RECORDS] = { { 0 } };
    if (htw_threshold_create(purgatory, 0, &partition.watermark) != 0)
        return 1;
    for (uint64_t i = 0; i < RECORDS; i++) {
        produce[i].offset = i + 1;
        if (htw_threshold_await(partition.watermark, &produce[i].request, i + 1, HTW_SECOND) !=
            HTW_WATCHED)
            return 1;
    }
    replica_has(&partition, 0, 5);
    replica_has(&partition, 1, 4);
    replica_has(&partition, 2, 3);                    /* now 1, 2 and 3 are everywhere */
    replica_has(&partition, 2, 4);                    /* and 4 */
    htw_scheduler_advance(scheduler, 2 * HTW_SECOND); /* replica 1 never gets 5 */
    int safe = 0, late = 0;
    for (int i = 0; i < RECORDS; i++) {
        safe += produce[i].answered && produce[i].reason == HTW_REASON_COMPLETED;
        late += produce[i].answered && produce[i].reason == HTW_REASON_EXPIRED;
    }
    htw_threshold_destroy(partition.watermark);
    return safe == 4 && late == 1 ? 0 : 1;
}

int main(void) {
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    scheduler_options.clock = HTW_CLOCK_MANUAL; /* so that the example takes no time */
    scheduler_options.workers = HTW_NO_WORKERS;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.on_complete = answer;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    if (htw_scheduler_create(&scheduler, &scheduler_options) != 0 ||
        htw_purgatory_create(&purgatory, scheduler, &options) != 0)
        return 1;
    int result = run(scheduler, purgatory);
    htw_purgatory_destroy(purgatory);
    htw_scheduler_destroy(scheduler);
    return result;
}
