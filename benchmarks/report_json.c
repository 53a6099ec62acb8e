/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <string.h>

static void print_string(FILE *file, const char *name, const char *text) {
    fprintf(file, "\"%s\": \"", name);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < ' ')
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void print_machine(FILE *file, const struct machine *machine) {
    fputc('{', file);
    print_string(file, "cpu", machine->cpu);
    fprintf(file, ", \"cores\": %ld, \"pinned\": %s, ", machine->cores,
            machine->is_pinned ? "true" : "false");
    print_string(file, "kernel", machine->kernel);
    fputs(", ", file);
    print_string(file, "huge_pages", machine->huge_pages);
    fputs(", ", file);
    print_string(file, "compiler", machine->compiler);
    fputs(", ", file);
    print_string(file, "flags", machine->flags);
    fputs(", ", file);
    print_string(file, "allocator", machine->allocator);
    fputs("}\n", file);
}

/* The members that say what a line is about. */
static void print_subject(FILE *file, const struct result *result) {
    fputc('{', file);
    print_string(file, "workload", result->workload->name);
    fputs(", ", file);
    print_string(file, "impl", result->implementation->name);
    fprintf(file, ", \"n\": %zu, ", result->n);
}

static void print_state(FILE *file, const struct result *result) {
    print_subject(file, result);
    print_string(file, "state", result_state_name(result->state));
    fputs(", ", file);
    print_string(file, "reason", result->reason);
    fputs("}\n", file);
}

/* The phase of the figure at `first`, with all quantities of it; returns what follows it. */
static size_t print_phase(FILE *file, const struct result *result, size_t first) {
    const struct figure *figure = result_summary(result, first).figure;
    print_subject(file, result);
    print_string(file, "phase", figure->phase);
    fputs(", ", file);
    print_string(file, "unit", figure->unit);
    fprintf(file, ", \"reps\": %zu", result->count);
    size_t index = first;
    for (; index < result_figure_count(result); index++) {
        struct summary summary = result_summary(result, index);
        if (strcmp(summary.figure->phase, figure->phase) != 0)
            break;
        const char *quantity = summary.figure->quantity;
        fprintf(file, ", \"%s\": %.6g, \"%s_min\": %.6g, \"%s_max\": %.6g", quantity,
                summary.median, quantity, summary.min, quantity, summary.max);
    }
    fputs("}\n", file);
    return index;
}

void report_json(FILE *file, const struct machine *machine, const struct plan *plan) {
    print_machine(file, machine);
    for (size_t i = 0; i < plan->count; i++) {
        const struct result *result = &plan->results[i];
        if (result->state != RESULT_MEASURED)
            print_state(file, result);
        for (size_t figure = 0; figure < result_figure_count(result);)
            figure = print_phase(file, result, figure);
    }
}
