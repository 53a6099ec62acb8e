/* SPDX-License-Identifier: MIT */
/* htw-bench: measures implementations of timers, each in the same workloads. */
#include "machine.h"
#include "options.h"
#include "plan.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool write_json(FILE *file, const char *path, const struct machine *machine,
                       const struct plan *plan) {
    report_json(file, machine, plan);
    bool is_written = !ferror(file);
    is_written = fclose(file) == 0 && is_written;
    if (!is_written)
        options_complain("%s: %s", path, strerror(errno));
    return is_written;
}

int main(int argc, char **argv) {
    struct options options;
    int status;
    if (!options_parse(&options, argc, argv, &status))
        return status;

    /* Opened first: who has waited for an hour does not want to learn of a wrong name. */
    FILE *json = NULL;
    if (options.json_path != NULL && (json = fopen(options.json_path, "w")) == NULL) {
        options_complain("%s: %s", options.json_path, strerror(errno));
        return 2;
    }
    struct plan plan;
    if (!plan_init(&plan, &options)) {
        options_complain("no memory");
        return 1;
    }
    struct machine machine;
    machine_init(&machine);
    bool is_well = plan_run(&plan);
    if (options.has_table)
        report_table(stdout, &machine, &plan);
    if (json != NULL)
        is_well = write_json(json, options.json_path, &machine, &plan) && is_well;
    plan_fini(&plan);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        options_complain("standard output: %s", strerror(errno));
        is_well = false;
    }
    return is_well ? 0 : 1;
}
