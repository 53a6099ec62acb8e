/* SPDX-License-Identifier: MIT */
/* flight_table.c - a flight record as a table of its sites. */
#include "flight.h"

#include "../kit/figures.h"
#include "../kit/visible.h"

#include <inttypes.h>
#include <string.h>

static void put_site(FILE *stream, const struct htw__flight_site *site) {
    const uint64_t counts[] = { site->wakeups, site->expired, site->late,
                                site->armed,   site->moved,   site->cancelled };
    char text[HTW__FIGURE_SIZE];
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        fprintf(stream, "%9s ", htw__figure_count(counts[i], text));
    fprintf(stream, "%9s  ", htw__figure_duration(site->callback_ns, text));
    htw__text_print(stream, site->name, strlen(site->name), SIZE_MAX);
    if (site->place[0] != '\0') {
        fputs(", ", stream);
        htw__text_print(stream, site->place, strlen(site->place), SIZE_MAX);
    }
    fputc('\n', stream);
}

void htw__flight_table_write(FILE *stream, const struct htw__flight *flight) {
    char text[HTW__FIGURE_SIZE];
    htw__text_print(stream, flight->program, strlen(flight->program), SIZE_MAX);
    fprintf(stream, " (process %" PRId64 "): %zu events in %s", flight->pid, flight->event_count,
            htw__figure_duration((uint64_t)(flight->end_ns - flight->begin_ns), text));
    if (flight->lost > 0)
        fprintf(stream, "; %" PRIu64 " earlier ones are there no more", flight->lost);
    fputc('\n', stream);
    if (flight->earlier > 0)
        fprintf(stream, "%" PRIu64 " timer%s armed before these\n", flight->earlier,
                flight->earlier == 1 ? " was" : "s were");
    fprintf(stream, "%9s %9s %9s %9s %9s %9s %9s  %s\n", "wake-ups", "expired", "late", "armed",
            "moved", "cancelled", "callbacks", "site");
    for (size_t i = 0; i < flight->site_count; i++)
        put_site(stream, &flight->sites[i]);
}
