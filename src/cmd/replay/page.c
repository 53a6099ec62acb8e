/* SPDX-License-Identifier: MIT */
/*
 * page.c - writes the page of `htw replay`.
 *
 * The record is JSON in an element of its own. An event is a few numbers in a flat array: the ticks since the
 * event before, the kind, and then by kind: timer, place, delay. replay.js reads it.
 */
#include "page.h"

#include "../../base/bitmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 40 /* of the message of a timer */

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

static void put_events(FILE *stream, const struct htw__replay_record *record) {
    uint64_t tick = 0;
    fputc('[', stream);
    for (size_t i = 0; i < record->count; i++) {
        const struct htw__event *event = &record->events[i];
        fprintf(stream, "%s%" PRIu64 ",%d", i == 0 ? "" : ",", event->tick - tick,
                (int)event->kind);
        tick = event->tick;
        if (event->kind != HTW__EVENT_ADVANCED)
            fprintf(stream, ",%" PRIu32, event->timer);
        if (event->kind <= HTW__EVENT_MOVED)
            fprintf(stream, ",%" PRId32, event->place);
        if (event->kind == HTW__EVENT_ARMED || event->kind == HTW__EVENT_MOVED) {
            if (event->deadline == HTW_NEVER_TICK)
                fputs(",-1", stream);
            else
                fprintf(stream, ",%" PRIu64,
                        event->deadline > event->tick ? event->deadline - event->tick : 0);
        }
    }
    fputc(']', stream);
}

static void put_names(FILE *stream, const struct htw__run *run) {
    fputs(",\"names\":[", stream);
    for (size_t i = 0; i < run->timer_count; i++) {
        const struct htw__run_timer *timer = run->timers[i];
        if (i > 0)
            fputc(',', stream);
        put_text(stream, timer->name,
                 timer->name_size < NAME_MAX_BYTES ? timer->name_size : NAME_MAX_BYTES);
    }
    fputs("]", stream);
}

/* ---- what a flight record has more */

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
    fputs("],\n\"marks\":[", stream);
    for (size_t i = 0; i < flight->mark_count; i++) {
        const struct htw__flight_mark *mark = &flight->marks[i];
        fprintf(stream, "%s%" PRId64 ",%" PRIu32 ",%" PRId64 ",%" PRId64, i == 0 ? "" : ",",
                mark->time_ns - time_ns, ranks[mark->site] * 2 + mark->is_wakeup, mark->late_ns,
                mark->duration_ns);
        time_ns = mark->time_ns;
    }
    fputs("]", stream);
}

/* Sites are numbered by their ranks. */
static void put_flight(FILE *stream, const struct htw__page *page,
                       const struct htw__flight_site *const *sites, const uint32_t *ranks) {
    const struct htw__flight *flight = page->flight;
    const struct htw__flight_scheduler *busiest = htw__flight_busiest(flight);
    int64_t origin_ns = htw__flight_origin_ns(flight);
    fputs(",\n\"flight\":{\"program\":", stream);
    put_text(stream, flight->program, strlen(flight->program));
    fputs(",\"wheel\":", stream);
    put_text(stream, busiest == NULL ? "" : busiest->name,
             busiest == NULL ? 0 : strlen(busiest->name));
    fprintf(stream,
            ",\"pid\":%" PRId64 ",\"wall_ms\":%" PRId64 ",\"length_ns\":%" PRId64
            ",\"schedulers\":%zu,\"events\":%zu,\"lost\":%" PRIu64 ",\"earlier\":%" PRIu64
            ",\"is_whole\":%s,\n\"sites\":[",
            flight->pid, (flight->wall_ns - (flight->clock_ns - origin_ns)) / 1000000,
            htw__flight_end_ns(flight) - origin_ns, flight->scheduler_count, flight->event_count,
            flight->lost, flight->earlier, flight->is_whole ? "true" : "false");
    for (size_t i = 0; i < flight->site_count; i++) {
        if (i > 0)
            fputs(",\n", stream);
        put_site(stream, sites[i]);
    }
    put_marks(stream, flight, ranks);
    fputs(",\n\"timer_sites\":[", stream);
    for (size_t i = 0; i < page->run->timer_count; i++)
        fprintf(stream, "%s%" PRIu32, i == 0 ? "" : ",", ranks[page->timer_sites[i]]);
    fputs("]}", stream);
}

static int rank_and_put_flight(FILE *stream, const struct htw__page *page) {
    const struct htw__flight *flight = page->flight;
    const struct htw__flight_site **sites = htw__flight_rank(flight);
    uint32_t *ranks = malloc((flight->site_count + 1) * sizeof(*ranks));
    int error = sites == NULL || ranks == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < flight->site_count && error == 0; i++)
        ranks[sites[i] - flight->sites] = (uint32_t)i;
    if (error == 0)
        put_flight(stream, page, sites, ranks);
    free(sites);
    free(ranks);
    return error;
}

/* ---- the page */

static int put_record(FILE *stream, const struct htw__page *page) {
    int error = 0;
    fprintf(stream, "{\"tick_ns\":%" PRId64 ",\"bits\":%u", page->run->options->tick_ns,
            htw__lowest_bit(page->run->options->wheel_size));
    if (page->flight == NULL)
        put_names(stream, page->run);
    else
        error = rank_and_put_flight(stream, page);
    fputs(",\n\"htw\":", stream);
    put_events(stream, page->record);
    fputs(",\n\"kafka\":", stream);
    put_events(stream, page->kafka);
    fputs("}", stream);
    return error;
}

int htw__page_write(FILE *stream, const struct htw__page *page) {
    for (const struct htw__page_part *part = htw__page_parts; part->then != '\0'; part++) {
        int error = 0;
        fputs(part->text, stream);
        if (part->then == 'T')
            put_title(stream, page->title);
        else
            error = put_record(stream, page);
        if (error != 0)
            return error;
        if (part[1].then == '\0')
            fputs(part[1].text, stream);
    }
    return 0;
}
