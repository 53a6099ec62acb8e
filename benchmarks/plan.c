/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include "child.h"
#include "implementations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPERATIONS 4000000
#define QUICK_OPERATIONS 400000
#define QUICK_SIZE_MAX 1000000

static bool append(struct plan *plan, const struct workload *workload,
                   const struct bench_implementation *implementation, size_t n) {
    struct result *results = realloc(plan->results, (plan->count + 1) * sizeof(*results));
    if (results == NULL)
        return false;
    plan->results = results;
    struct result *result = &results[plan->count];
    *result = (struct result) { .workload = workload, .implementation = implementation, .n = n };
    const char *why_not = workload_excludes(workload, implementation);
    if (why_not != NULL) {
        result->state = RESULT_LEFT_OUT;
        snprintf(result->reason, sizeof(result->reason), "%s", why_not);
    }
    result->measurements = calloc(plan->options->repetitions, sizeof(struct measurement));
    if (result->measurements == NULL)
        return false;
    plan->count++;
    return true;
}

static bool append_size(struct plan *plan, const struct workload *workload, size_t n) {
    if (plan->options->is_quick && n > QUICK_SIZE_MAX)
        return true;
    for (const struct bench_implementation *const *i = implementations(); *i != NULL; i++)
        if (options_name(plan->options->implementations, (*i)->name) &&
            !append(plan, workload, *i, n))
            return false;
    return true;
}

static bool append_workload(struct plan *plan, const struct workload *workload) {
    const struct options *options = plan->options;
    bool has_own = workload->has_fixed_size || options->size_count == 0;
    const size_t *sizes = has_own ? workload->sizes : options->sizes;
    size_t count = has_own ? WORKLOAD_SIZES_MAX : options->size_count;
    for (size_t i = 0; i < count && sizes[i] != 0; i++)
        if (!append_size(plan, workload, sizes[i]))
            return false;
    return true;
}

bool plan_init(struct plan *plan, const struct options *options) {
    *plan = (struct plan) { .options = options };
    for (const struct workload *const *w = workloads; *w != NULL; w++)
        if (options_name(options->workloads, (*w)->name) && !append_workload(plan, *w)) {
            plan_fini(plan);
            return false;
        }
    return true;
}

void plan_fini(struct plan *plan) {
    for (size_t i = 0; i < plan->count; i++)
        free(plan->results[i].measurements);
    free(plan->results);
}

/* One line that is kept up to date; nothing where nobody looks. */
static void show(const struct plan *plan, const struct result *result, unsigned repetition) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s, %zu timers, repetition %u of %u: %s", result->workload->name,
                result->n, repetition + 1, plan->options->repetitions,
                result->implementation->name);
}

static void erase(void) {
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* With ten million timers a slow implementation takes microseconds for each. */
static uint64_t operations(const struct options *options, size_t n) {
    if (options->is_quick)
        return QUICK_OPERATIONS;
    return n > QUICK_SIZE_MAX ? OPERATIONS / 4 : OPERATIONS;
}

static void measure(struct plan *plan, struct result *result, unsigned repetition) {
    const struct options *options = plan->options;
    struct child_task task = {
        .workload = result->workload,
        .implementation = result->implementation,
        .n = result->n,
        .operations = operations(options, result->n),
        .has_end = repetition == 0,
        .seed = repetition + 1, /* the same draws for all implementations */
        .limit_s = options->limit_s,
    };
    show(plan, result, repetition);
    struct measurement *measurement = &result->measurements[result->count];
    switch (child_measure(&task, measurement)) {
    case CHILD_DONE:
        result->count++;
        break;
    case CHILD_TOO_SLOW:
        result->state = RESULT_TOO_SLOW;
        snprintf(result->reason, sizeof(result->reason), "it takes longer than %u s",
                 options->limit_s);
        break;
    case CHILD_FAILED:
        result->state = RESULT_FAILED;
        memcpy(result->reason, measurement->failure, sizeof(result->reason));
        erase();
        options_complain("%s: %s with %zu timers: %s", result->implementation->name,
                         result->workload->name, result->n, result->reason);
        break;
    }
}

/* How many results from `first` on are of the same workload and number of timers. */
static size_t group_size(const struct plan *plan, size_t first) {
    size_t end = first;
    while (end < plan->count && plan->results[end].workload == plan->results[first].workload &&
           plan->results[end].n == plan->results[first].n)
        end++;
    return end - first;
}

bool plan_run(struct plan *plan) {
    bool is_well = true;
    for (size_t first = 0, size; first < plan->count; first += size) {
        size = group_size(plan, first);
        bool is_exact = plan->results[first].workload->is_exact;
        unsigned repetitions = is_exact ? 1 : plan->options->repetitions;
        for (unsigned repetition = 0; repetition < repetitions; repetition++)
            for (size_t i = first; i < first + size; i++)
                if (plan->results[i].state == RESULT_MEASURED)
                    measure(plan, &plan->results[i], repetition);
        for (size_t i = first; i < first + size; i++)
            is_well = is_well && plan->results[i].state != RESULT_FAILED;
    }
    erase();
    return is_well;
}
