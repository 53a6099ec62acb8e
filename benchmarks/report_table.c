/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "implementations.h"

#include <math.h>
#include <string.h>

#define BLOCKS_MAX FIGURES_MAX
#define NAME_WIDTH (-17)
#define CELL_WIDTH 11

/* A table of the report. `first` and `end` bound the results of its workload. */
struct block {
    const struct plan *plan;
    size_t first, end;
    const struct figure *figure; /* one of those that it shows: the names, not the value */
    bool is_net;                 /* what the harness costs is taken off */
};

static bool is_same(const struct figure *a, const struct figure *b) {
    return strcmp(a->phase, b->phase) == 0 && strcmp(a->quantity, b->quantity) == 0;
}

static const struct result *find_result(const struct block *block, const char *implementation,
                                        size_t n) {
    for (size_t i = block->first; i < block->end; i++) {
        const struct result *result = &block->plan->results[i];
        if (result->n == n && strcmp(result->implementation->name, implementation) == 0)
            return result;
    }
    return NULL;
}

/* The median of the block's figure; NAN when there is none. */
static double median(const struct block *block, const char *implementation, size_t n) {
    const struct result *result = find_result(block, implementation, n);
    for (size_t i = 0; result != NULL && i < result_figure_count(result); i++) {
        struct summary summary = result_summary(result, i);
        if (is_same(summary.figure, block->figure))
            return summary.median;
    }
    return NAN;
}

static double value(const struct block *block, const char *implementation, size_t n) {
    double harness = block->is_net ? median(block, bench_null.name, n) : 0;
    return median(block, implementation, n) - harness;
}

/* How many times the best peer's figure htw's is; NAN when one is missing. */
static double ratio(const struct block *block, size_t n) {
    double best = NAN;
    for (size_t i = block->first; i < block->end; i++) {
        const struct result *result = &block->plan->results[i];
        if (result->n == n && implementation_is_peer(result->implementation))
            best = fmin(best, value(block, result->implementation->name, n));
    }
    return best > 0 ? value(block, bench_htw.name, n) / best : NAN;
}

/* Three digits, or so: more would be noise. */
static void print_number(FILE *file, double number) {
    if (isnan(number))
        fprintf(file, "%*s", CELL_WIDTH, "-");
    else if (fabs(number) >= 100)
        fprintf(file, "%*.0f", CELL_WIDTH, number);
    else if (fabs(number) >= 10)
        fprintf(file, "%*.1f", CELL_WIDTH, number);
    else if (fabs(number) >= 0.1)
        fprintf(file, "%*.2f", CELL_WIDTH, number);
    else
        fprintf(file, "%*.2g", CELL_WIDTH, number);
}

static void print_size(FILE *file, size_t n) {
    size_t zeros = 0;
    size_t rest = n;
    for (; rest > 1 && rest % 10 == 0; rest /= 10)
        zeros++;
    if (rest == 1 && zeros >= 3)
        fprintf(file, "%*s1e%zu", CELL_WIDTH - 3, "", zeros);
    else
        fprintf(file, "%*zu", CELL_WIDTH, n);
}

/* The next result after `i` with another number of timers. */
static size_t next_size(const struct block *block, size_t i) {
    size_t n = block->plan->results[i].n;
    while (i < block->end && block->plan->results[i].n == n)
        i++;
    return i;
}

static void print_title(FILE *file, const struct block *block) {
    const struct figure *figure = block->figure;
    fprintf(file, "\n%s, %s: %s a %s%s\n%*s", block->plan->results[block->first].workload->name,
            figure->phase, figure->quantity, figure->unit, block->is_net ? ", net of null" : "",
            NAME_WIDTH, "");
    for (size_t i = block->first; i < block->end; i = next_size(block, i))
        print_size(file, block->plan->results[i].n);
    fputc('\n', file);
}

/* Not for those that have no figure at all: the notes tell why. */
static void print_row(FILE *file, const struct block *block, const char *implementation) {
    bool has_figure = false;
    for (size_t i = block->first; i < block->end; i = next_size(block, i))
        has_figure |= !isnan(value(block, implementation, block->plan->results[i].n));
    if (!has_figure)
        return;
    fprintf(file, "%*s", NAME_WIDTH, implementation);
    for (size_t i = block->first; i < block->end; i = next_size(block, i)) {
        size_t n = block->plan->results[i].n;
        const struct result *result = find_result(block, implementation, n);
        if (result->state == RESULT_MEASURED)
            print_number(file, value(block, implementation, n));
        else
            fprintf(file, "%*s", CELL_WIDTH, result_state_name(result->state));
    }
    fputc('\n', file);
}

static void print_block(FILE *file, const struct block *block) {
    print_title(file, block);
    size_t row_end = next_size(block, block->first); /* each size has the same implementations */
    for (size_t i = block->first; i < row_end; i++) {
        const char *name = block->plan->results[i].implementation->name;
        if (!block->is_net || strcmp(name, bench_null.name) != 0)
            print_row(file, block, name);
    }
    bool has_ratio = false;
    for (size_t i = block->first; i < block->end; i = next_size(block, i))
        has_ratio |= !isnan(ratio(block, block->plan->results[i].n));
    if (!has_ratio)
        return;
    fprintf(file, "%*s", NAME_WIDTH, "htw / best peer");
    for (size_t i = block->first; i < block->end; i = next_size(block, i))
        print_number(file, ratio(block, block->plan->results[i].n));
    fputc('\n', file);
}

/* The figures of a workload, each once, in the order in which they were reported. */
static size_t list_figures(const struct plan *plan, size_t first, size_t end,
                           const struct figure *figures[]) {
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < result_figure_count(&plan->results[i]); k++) {
            const struct figure *figure = result_summary(&plan->results[i], k).figure;
            size_t known = 0;
            while (known < count && !is_same(figures[known], figure))
                known++;
            if (known == count && count < BLOCKS_MAX)
                figures[count++] = figure;
        }
    return count;
}

static bool has_null(const struct block *block) {
    for (size_t i = block->first; i < block->end; i++)
        if (!isnan(median(block, bench_null.name, block->plan->results[i].n)))
            return true;
    return false;
}

static void print_workload(FILE *file, const struct plan *plan, size_t first, size_t end) {
    const struct figure *figures[BLOCKS_MAX];
    size_t count = list_figures(plan, first, end, figures);
    for (size_t i = 0; i < count; i++) {
        struct block block = { plan, first, end, figures[i], false };
        print_block(file, &block);
        block.is_net = has_null(&block);
        if (block.is_net)
            print_block(file, &block);
    }
}

/* Why figures are missing: a line for each workload and reason. */
static void print_notes(FILE *file, const struct plan *plan, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        const struct result *result = &plan->results[i];
        bool is_told = false; /* with an earlier result */
        for (size_t k = first; k < i; k++)
            is_told |= strcmp(plan->results[k].reason, result->reason) == 0;
        if (result->state == RESULT_MEASURED || is_told)
            continue;
        fprintf(file, "%s, %s (%s):", result->workload->name, result_state_name(result->state),
                result->reason);
        for (size_t k = i; k < end; k++) {
            const struct result *other = &plan->results[k];
            if (strcmp(other->reason, result->reason) != 0)
                continue;
            if (result->state != RESULT_LEFT_OUT)
                fprintf(file, " %s with %zu timers", other->implementation->name, other->n);
            else if (other->n == result->n) /* it is left out with any number */
                fprintf(file, " %s", other->implementation->name);
        }
        fputc('\n', file);
    }
}

static void for_each_workload(FILE *file, const struct plan *plan,
                              void (*print)(FILE *, const struct plan *, size_t, size_t)) {
    for (size_t first = 0, end; first < plan->count; first = end) {
        for (end = first; end < plan->count; end++)
            if (plan->results[end].workload != plan->results[first].workload)
                break;
        print(file, plan, first, end);
    }
}

void report_table(FILE *file, const struct machine *machine, const struct plan *plan) {
    fprintf(file, "%s, %ld cores%s; %s; huge pages: %s\n%s %s; %s; medians of %u\n", machine->cpu,
            machine->cores, machine->is_pinned ? ", pinned to one" : "", machine->kernel,
            machine->huge_pages, machine->compiler, machine->flags, machine->allocator,
            plan->options->repetitions);
    for_each_workload(file, plan, print_workload);
    fputc('\n', file);
    for_each_workload(file, plan, print_notes);
}
