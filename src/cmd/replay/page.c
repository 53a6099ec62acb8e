/* SPDX-License-Identifier: MIT */
/*
 * page.c - writes the page of `htw replay`.
 *
 * The record is JSON in an element of its own, with marks and spans as numbers in flat arrays. replay.js reads it.
 */
#include "page.h"

#include "../page_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_title(FILE *stream, const char *title) {
    for (; *title != '\0'; title++) {
        switch (*title) {
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        case '&':
            fputs("&amp;", stream);
            break;
        default:
            fputc(*title, stream);
        }
    }
}

/* As bytes of Latin-1, which the scripts decode as UTF-8: a text may be anything. */
static void put_text(FILE *stream, const char *text, size_t size) {
    fputc('"', stream);
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < ' ' || byte >= 127 || byte == '"' || byte == '\\' || byte == '<')
            fprintf(stream, "\\u%04x", byte);
        else
            fputc(byte, stream);
    }
    fputc('"', stream);
}

/* ---- the record */

static void put_site(FILE *stream, const struct htw__flight_site *site) {
    fputc('[', stream);
    put_text(stream, site->name, strlen(site->name));
    fputc(',', stream);
    put_text(stream, site->place, strlen(site->place));
    fprintf(stream,
            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
            site->wakeups, site->expired, site->late, site->callback_ns, site->armed, site->moved,
            site->cancelled);
}

/* A mark is four numbers: the time since the one before; twice its site, and one more for a wake-up; how late;
 * how long. */
static void put_marks(FILE *stream, const struct htw__flight *flight, const uint32_t *ranks) {
    int64_t time_ns = htw__flight_origin_ns(flight);
    fputs(",\n\"marks\":[", stream);
    for (size_t i = 0; i < flight->mark_count; i++) {
        const struct htw__flight_mark *mark = &flight->marks[i];
        fprintf(stream, "%s%" PRId64 ",%" PRIu32 ",%" PRId64 ",%" PRId64, i == 0 ? "" : ",",
                mark->time_ns - time_ns, ranks[mark->site] * 2 + mark->is_wakeup, mark->late_ns,
                mark->duration_ns);
        time_ns = mark->time_ns;
    }
    fputs("]", stream);
}

/* A span is four numbers: its begin since the one before; its length; its deadline since its begin, or -1; its site. */
static void put_spans(FILE *stream, const struct htw__flight *flight, const uint32_t *ranks) {
    int64_t time_ns = htw__flight_origin_ns(flight);
    fputs(",\n\"spans\":[", stream);
    for (size_t i = 0; i < flight->span_count; i++) {
        const struct htw__flight_span *span = &flight->spans[i];
        int64_t delay_ns = -1;
        if (span->deadline_ns != HTW__FLIGHT_NONE)
            delay_ns = span->deadline_ns < span->begin_ns ? 0 : span->deadline_ns - span->begin_ns;
        fprintf(stream, "%s%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu32, i == 0 ? "" : ",",
                span->begin_ns - time_ns, span->end_ns - span->begin_ns, delay_ns,
                ranks[span->site]);
        time_ns = span->begin_ns;
    }
    fputs("]", stream);
}

static void put_head(FILE *stream, const struct htw__flight *flight) {
    static const struct htw__flight_scheduler none = { .tick_ns = 1000000, .wheel_size = 256 };
    const struct htw__flight_scheduler *busiest = htw__flight_busiest(flight);
    int64_t origin_ns = htw__flight_origin_ns(flight);
    busiest = busiest == NULL ? &none : busiest;
    fputs("{\"program\":", stream);
    put_text(stream, flight->program, strlen(flight->program));
    fputs(",\"wheel\":", stream);
    put_text(stream, busiest->name, strlen(busiest->name));
    fprintf(stream, ",\"tick_ns\":%" PRId64 ",\"size\":%" PRIu32, busiest->tick_ns,
            busiest->wheel_size);
    fprintf(stream,
            ",\"pid\":%" PRId64 ",\"wall_ms\":%" PRId64 ",\"length_ns\":%" PRId64
            ",\"schedulers\":%zu,\"events\":%zu,\"lost\":%" PRIu64 ",\"earlier\":%" PRIu64
            ",\"is_whole\":%s",
            flight->pid, (flight->wall_ns - (flight->clock_ns - origin_ns)) / 1000000,
            htw__flight_end_ns(flight) - origin_ns, flight->scheduler_count, flight->event_count,
            flight->lost, flight->earlier, flight->is_whole ? "true" : "false");
}

/* Sites are numbered by their ranks. */
static int put_record(FILE *stream, const struct htw__flight *flight) {
    const struct htw__flight_site **sites = htw__flight_rank(flight);
    uint32_t *ranks = malloc((flight->site_count + 1) * sizeof(*ranks));
    int error = sites == NULL || ranks == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < flight->site_count && error == 0; i++)
        ranks[sites[i] - flight->sites] = (uint32_t)i;
    if (error == 0) {
        put_head(stream, flight);
        fputs(",\n\"sites\":[", stream);
        for (size_t i = 0; i < flight->site_count; i++) {
            fputs(i > 0 ? ",\n" : "", stream);
            put_site(stream, sites[i]);
        }
        fputs("]", stream);
        put_marks(stream, flight, ranks);
        put_spans(stream, flight, ranks);
        fputs("}", stream);
    }
    free(sites);
    free(ranks);
    return error;
}

/* ---- the page */

int htw__page_write(FILE *stream, const struct htw__flight *flight, const char *title) {
    char own[HTW__FLIGHT_NAME_MAX + 64];
    snprintf(own, sizeof(own), "What wakes %s (process %" PRId64 ")", flight->program, flight->pid);
    for (const struct htw__page_part *part = htw__page_parts; part->then != '\0'; part++) {
        int error = 0;
        fputs(part->text, stream);
        if (part->then == 'T')
            put_title(stream, title == NULL ? own : title);
        else
            error = put_record(stream, flight);
        if (error != 0)
            return error;
        if (part[1].then == '\0')
            fputs(part[1].text, stream);
    }
    return 0;
}
