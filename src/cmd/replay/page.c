/* SPDX-License-Identifier: MIT */
/*
 * page.c - writes the page of `htw replay`.
 *
 * The record is JSON in an element of its own. An event is a few numbers in a flat array: the ticks since the
 * event before, the kind, and then by kind: timer, place, delay. replay.js reads it.
 */
#include "page.h"

#include "../../base/bitmap.h"

#include <inttypes.h>

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

/* As bytes of Latin-1, which replay.js decodes as UTF-8: the message may be anything. */
static void put_name(FILE *stream, const struct htw__run_timer *timer) {
    uint32_t size = timer->name_size < NAME_MAX_BYTES ? timer->name_size : NAME_MAX_BYTES;
    fputc('"', stream);
    for (uint32_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)timer->name[i];
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

static void put_record(FILE *stream, const struct htw__run *run,
                       const struct htw__replay_record *record,
                       const struct htw__replay_record *kafka) {
    fprintf(stream, "{\"tick_ns\":%" PRId64 ",\"bits\":%u,\"names\":[", run->options->tick_ns,
            htw__lowest_bit(run->options->wheel_size));
    for (size_t i = 0; i < run->timer_count; i++) {
        if (i > 0)
            fputc(',', stream);
        put_name(stream, run->timers[i]);
    }
    fputs("],\n\"htw\":", stream);
    put_events(stream, record);
    fputs(",\n\"kafka\":", stream);
    put_events(stream, kafka);
    fputs("}", stream);
}

void htw__page_write(FILE *stream, const char *title, const struct htw__run *run,
                     const struct htw__replay_record *record,
                     const struct htw__replay_record *kafka) {
    for (const struct htw__page_part *part = htw__page_parts;; part++) {
        fputs(part->text, stream);
        if (part->then == '\0')
            return;
        if (part->then == 'T')
            put_title(stream, title);
        else
            put_record(stream, run, record, kafka);
    }
}
