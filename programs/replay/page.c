/* SPDX-License-Identifier: MIT */
/*
 * page.c - writes the page of `htw replay`.
 *
 * The record is JSON in an element of its own, with the marks as numbers in a flat array. replay.js reads it.
 */
#include "flight.h"

#include "../kit/page_parts.h"

#include <inttypes.h>

/* As bytes of Latin-1, which the scripts decode as UTF-8: a text may be anything. */
static void put_text(FILE *stream, const char *text) {
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < ' ' || byte >= 127 || byte == '"' || byte == '\\' || byte == '<')
            fprintf(stream, "\\u%04x", byte);
        else
            fputc(byte, stream);
    }
    fputc('"', stream);
}

static void put_site(FILE *stream, const struct htw__flight_site *site) {
    fputc('[', stream);
    put_text(stream, site->name);
    fputc(',', stream);
    put_text(stream, site->place);
    fprintf(stream,
            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
            site->wakeups, site->expired, site->late, site->callback_ns, site->armed, site->moved,
            site->cancelled);
}

/* A mark is four numbers: the time since the one before; twice its site, and one more for a wake-up; how late;
 * how long. */
static void put_marks(FILE *stream, const struct htw__flight *flight) {
    int64_t time_ns = flight->begin_ns;
    fputs(",\n\"marks\":[", stream);
    for (size_t i = 0; i < flight->mark_count; i++) {
        const struct htw__flight_mark *mark = &flight->marks[i];
        fprintf(stream, "%s%" PRId64 ",%" PRIu32 ",%" PRId64 ",%" PRId64, i == 0 ? "" : ",",
                mark->time_ns - time_ns, mark->site * 2 + mark->is_wakeup, mark->late_ns,
                mark->duration_ns);
        time_ns = mark->time_ns;
    }
    fputs("]", stream);
}

static void put_head(FILE *stream, const struct htw__flight *flight) {
    fputs("{\"program\":", stream);
    put_text(stream, flight->program);
    fprintf(stream,
            ",\"pid\":%" PRId64 ",\"wall_ms\":%" PRId64 ",\"length_ns\":%" PRId64
            ",\"events\":%zu,\"lost\":%" PRIu64 ",\"earlier\":%" PRIu64 ",\"is_whole\":%s",
            flight->pid, (flight->wall_ns - (flight->clock_ns - flight->begin_ns)) / 1000000,
            flight->end_ns - flight->begin_ns, flight->event_count, flight->lost, flight->earlier,
            flight->is_whole ? "true" : "false");
}

void htw__page_write(FILE *stream, const struct htw__flight *flight) {
    fputs(htw__page_before, stream);
    put_head(stream, flight);
    fputs(",\n\"sites\":[", stream);
    for (size_t i = 0; i < flight->site_count; i++) {
        fputs(i > 0 ? ",\n" : "", stream);
        put_site(stream, &flight->sites[i]);
    }
    fputs("]", stream);
    put_marks(stream, flight);
    fputs("}", stream);
    fputs(htw__page_behind, stream);
}
