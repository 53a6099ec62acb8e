/* SPDX-License-Identifier: MIT */
/*
 * picture.c - writes a wheel as SVG.
 *
 * The levels are rings, with a column of text beside them. All text is in columns wide enough for the longest number
 * that may stand there, so nothing overlaps. No text comes from the input.
 */
#include "draw.h"

#include "../kit/figures.h"
#include "../../src/base/bitmap.h"

#include <htw/wheel_inspect.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#define WIDTH 830
#define ROW 18            /* the height of a line of text */
#define MARKS_MAX 256u    /* what a level shows at most: buckets, or groups of them */
#define LISTED_BUCKETS 8u /* of the delay queue */

/* The rings. Their buckets begin and end at the gap on top, where the numbers of the levels are. */
#define CENTRE_X 225
#define CENTRE_Y 232
#define RADIUS_OUTER 212.0
#define RADIUS_INNER 36.0
#define GAP 16.0 /* degrees */

/* The columns of text. */
#define TEXT_X 470
#define TEXT_END (WIDTH - 15)

#define LOADS 5

struct picture {
    const struct htw_wheel *wheel;
    int64_t tick_ns;
    FILE *stream;
    int y; /* of the last line of text */
    struct htw_wheel_stats stats;
    uint64_t clock;
    struct htw_wheel_bucket queue[LISTED_BUCKETS]; /* the first buckets of the delay queue */
    size_t listed;
};

/* What is drawn of a level. */
struct level {
    unsigned number, shift; /* its buckets have 2^shift ticks */
    uint32_t group;         /* buckets in a mark */
    uint32_t marks;
    uint8_t loads[MARKS_MAX]; /* 0: no timer; otherwise the power of ten, at most LOADS */
    uint64_t timers;
    double radius, thickness; /* of the ring */
};

static const char style[] =
    "<style>\n"
    "text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328;"
    " font-variant-numeric: tabular-nums }\n"
    ".big { font-size: 17px; font-weight: 600 }\n"
    ".dim { fill: #59636e }\n"
    ".end { text-anchor: end }\n"
    ".middle { text-anchor: middle }\n"
    ".ground { fill: #fff }\n"
    "path { fill: none }\n"
    ".track { stroke: #e7ebef }\n"
    ".load1 { stroke: #84bafa }\n"
    ".load2 { stroke: #4c94ee }\n"
    ".load3 { stroke: #1d6fd6 }\n"
    ".load4 { stroke: #0a4a9e }\n"
    ".load5 { stroke: #03265c }\n"
    ".clock { stroke: #d1242f; stroke-width: 2.5 }\n"
    ".next { fill: #fff; stroke: #8250df; stroke-width: 2 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #f0f6fc }\n"
    ".dim { fill: #9198a1 }\n"
    ".ground { fill: #0d1117 }\n"
    ".track { stroke: #262c36 }\n"
    ".load1 { stroke: #1f5fae }\n"
    ".load2 { stroke: #3a86e4 }\n"
    ".load3 { stroke: #6cb0ff }\n"
    ".load4 { stroke: #a8d1ff }\n"
    ".load5 { stroke: #e6f2ff }\n"
    ".clock { stroke: #ff6a69 }\n"
    ".next { fill: #0d1117; stroke: #c69cff }\n"
    "}\n"
    "</style>\n";

/* ---- what there is to draw */

static uint8_t load_of(uint64_t timers) {
    uint8_t load = timers > 0;
    if (timers > 1)
        load++;
    for (; timers >= 10 && load < LOADS; timers /= 10)
        load++;
    return load;
}

static void read_level(const struct picture *picture, unsigned number, struct level *level) {
    uint32_t buckets = htw_wheel_level_buckets(picture->wheel, number);
    level->number = number;
    level->shift = number * htw__lowest_bit(picture->stats.size);
    level->group = (buckets + MARKS_MAX - 1) / MARKS_MAX; /* both are powers of two */
    level->marks = buckets / level->group;
    level->timers = 0;
    for (uint32_t mark = 0; mark < level->marks; mark++) {
        uint64_t timers =
            htw_wheel_count_in(picture->wheel, number, mark * level->group, level->group, SIZE_MAX);
        level->loads[mark] = load_of(timers);
        level->timers += timers;
    }
}

static uint32_t slot_of_clock(const struct picture *picture, const struct level *level) {
    return (uint32_t)(picture->clock >> level->shift) & (picture->stats.size - 1);
}

static void read_wheel(struct picture *picture, const struct htw_wheel *wheel) {
    picture->wheel = wheel;
    picture->stats = (struct htw_wheel_stats)HTW_WHEEL_STATS_INIT;
    (void)htw_wheel_get_stats(wheel, &picture->stats);
    picture->clock = htw_wheel_now(wheel);
    picture->listed = htw_wheel_first_buckets(wheel, picture->queue, LISTED_BUCKETS);
}

/* A number of ticks as a length of time, for people. */
static const char *format_ticks(const struct picture *picture, uint64_t ticks,
                                char text[HTW__FIGURE_SIZE]) {
    uint64_t tick_ns = (uint64_t)picture->tick_ns;
    if (ticks <= (uint64_t)INT64_MAX / tick_ns)
        return htw__figure_duration(ticks * tick_ns, text);
    return "over 292 years"; /* INT64_MAX ns */
}

/* ---- text */

/* At the present line; `class` says how, and that `x` is its end. */
__attribute__((format(printf, 4, 5))) static void
put(const struct picture *picture, const char *class, int x, const char *format, ...) {
    va_list arguments;
    fprintf(picture->stream, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, picture->y);
    va_start(arguments, format);
    vfprintf(picture->stream, format, arguments);
    va_end(arguments);
    fputs("</text>\n", picture->stream);
}

static void header(struct picture *picture) {
    uint64_t next = picture->queue[0].tick;
    char text[HTW__FIGURE_SIZE];
    put(picture, "big", TEXT_X, "clock: tick %" PRIu64, picture->clock);
    picture->y += ROW + 4;
    if (picture->listed == 0)
        put(picture, "", TEXT_X, "no wake-up is needed");
    else
        put(picture, "", TEXT_X, "next wake-up: tick %" PRIu64, next);
    picture->y += ROW;
    if (picture->listed > 0)
        put(picture, "dim", TEXT_X, "in %s", format_ticks(picture, next - picture->clock, text));
    picture->y += ROW;
    put(picture, "dim", TEXT_X, "%" PRIu64 " timer%s pending", picture->stats.pending,
        picture->stats.pending == 1 ? "" : "s");
}

static void level_head(const struct picture *picture) {
    put(picture, "dim", TEXT_X, "level");
    put(picture, "dim end", TEXT_X + 160, "a bucket");
    put(picture, "dim end", TEXT_X + 245, "timers");
    put(picture, "dim end", TEXT_END, "clock at");
}

static void level_row(struct picture *picture, const struct level *level) {
    char width[HTW__FIGURE_SIZE];
    picture->y += ROW;
    put(picture, "", TEXT_X, "%u", level->number);
    put(picture, "end", TEXT_X + 160, "%s",
        format_ticks(picture, (uint64_t)1 << level->shift, width));
    put(picture, "end", TEXT_X + 245, "%" PRIu64, level->timers);
    put(picture, "end", TEXT_END, "%" PRIu32, slot_of_clock(picture, level));
}

static void queue(struct picture *picture) {
    uint32_t count = picture->stats.queued_buckets;
    picture->y += 2 * ROW;
    put(picture, "", TEXT_X, "delay queue: %" PRIu32 " bucket%s", count, count == 1 ? "" : "s");
    if (count == 0)
        return;
    picture->y += ROW;
    put(picture, "dim end", TEXT_X + 160, "earliest tick");
    put(picture, "dim", TEXT_X + 185, "level [bucket]");
    put(picture, "dim end", TEXT_END, "timers");
    for (size_t i = 0; i < picture->listed; i++) {
        const struct htw_wheel_bucket *bucket = &picture->queue[i];
        picture->y += ROW;
        put(picture, "end", TEXT_X + 160, "%" PRIu64, bucket->tick);
        put(picture, "", TEXT_X + 185, "L%" PRIu32 " [%" PRIu32 "]", bucket->level, bucket->number);
        put(picture, "end", TEXT_END, "%" PRIu64, bucket->timers);
    }
    picture->y += ROW;
    if (count > LISTED_BUCKETS)
        put(picture, "dim", TEXT_X, "and %" PRIu32 " more", count - LISTED_BUCKETS);
}

/* In one line. */
static void legend(struct picture *picture, int y) {
    static const char *const loads[] = { "1", "2-9", "10-99", "100-999", "1000 or more" };
    static const int widths[] = { 36, 52, 68, 84, 120 };
    int x = 20;
    picture->y = y;
    for (int i = 0; i < LOADS; i++) {
        fprintf(picture->stream, "<path class=\"load%d\" stroke-width=\"12\" d=\"M%d %dh12\"/>\n",
                i + 1, x, y - 5);
        put(picture, "dim", x + 18, "%s", loads[i]);
        x += widths[i];
    }
    put(picture, "dim", x, "timers in a %s",
        picture->stats.size > MARKS_MAX ? "group of buckets" : "bucket");
    fprintf(picture->stream,
            "<path class=\"clock\" d=\"M%d %dv14\"/>\n"
            "<circle class=\"next\" cx=\"%d\" cy=\"%d\" r=\"4\"/>\n",
            610, y - 12, 690, y - 5);
    put(picture, "dim", 620, "clock");
    put(picture, "dim", 702, "next wake-up");
}

/* For those who do not see it. */
static void describe(const struct picture *picture, const struct level *levels) {
    FILE *stream = picture->stream;
    uint64_t count = picture->stats.pending;
    fprintf(stream,
            "<title>A timing wheel at tick %" PRIu64 "</title>\n<desc>%" PRIu64 " timer%s pending.",
            picture->clock, count, count == 1 ? " is" : "s are");
    for (unsigned i = 0; i < picture->stats.levels; i++)
        fprintf(stream, " Level %u has %" PRIu64 ".", i, levels[i].timers);
    if (picture->listed == 0)
        fputs(" No wake-up is needed.", stream);
    else
        fprintf(stream, " The next wake-up is at tick %" PRIu64 ".", picture->queue[0].tick);
    fputs("</desc>\n", stream);
}

/* ---- marks */

/* Where a mark begins: a number of marks from the first, and a part of one. */
static double angle_of(const struct level *level, double mark) {
    double degrees = GAP / 2 + mark * (360 - GAP) / level->marks;
    return degrees * 3.14159265358979323846 / 180;
}

static void point(const struct picture *picture, double radius, double angle) {
    fprintf(picture->stream, "%.1f %.1f", CENTRE_X + radius * sin(angle),
            CENTRE_Y - radius * cos(angle));
}

/* The marks from `first` to `end` - 1 as one line, as thick as the level. */
static void span(const struct picture *picture, const struct level *level, const char *class,
                 uint32_t first, uint32_t end) {
    double from = angle_of(level, first), to = angle_of(level, end);
    fprintf(picture->stream, "<path class=\"%s\" stroke-width=\"%.1f\" d=\"M", class,
            level->thickness * 0.86);
    point(picture, level->radius, from);
    fprintf(picture->stream, "A%.1f %.1f 0 %d 1 ", level->radius, level->radius,
            to - from > 3.14159);
    point(picture, level->radius, to);
    fputs("\"/>\n", picture->stream);
}

static void mark_clock(const struct picture *picture, const struct level *level, uint32_t mark) {
    double angle = angle_of(level, mark + 0.5);
    fputs("<path class=\"clock\" d=\"M", picture->stream);
    point(picture, level->radius - level->thickness / 2, angle);
    fputs("L", picture->stream);
    point(picture, level->radius + level->thickness / 2, angle);
    fputs("\"/>\n", picture->stream);
}

static void mark_next(const struct picture *picture, const struct level *level, uint32_t mark) {
    double angle = angle_of(level, mark + 0.5);
    fprintf(picture->stream, "<circle class=\"next\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
            CENTRE_X + level->radius * sin(angle), CENTRE_Y - level->radius * cos(angle),
            level->thickness < 12 ? level->thickness / 3 : 4);
}

static void draw_level(const struct picture *picture, const struct level *level) {
    span(picture, level, "track", 0, level->marks);
    for (uint32_t first = 0, end; first < level->marks; first = end) {
        for (end = first + 1; end < level->marks && level->loads[end] == level->loads[first];)
            end++;
        char class[] = "load0";
        class[4] = (char)('0' + level->loads[first]);
        if (level->loads[first] > 0)
            span(picture, level, class, first, end);
    }
    mark_clock(picture, level, slot_of_clock(picture, level) / level->group);
    if (picture->listed > 0 && picture->queue[0].level == level->number)
        mark_next(picture, level, picture->queue[0].number / level->group);
}

static void draw_rings(struct picture *picture, struct level *levels) {
    unsigned count = picture->stats.levels;
    double thickness = (RADIUS_OUTER - RADIUS_INNER) / (count < 3 ? 3 : count);
    picture->y += 2 * ROW;
    level_head(picture);
    for (unsigned i = 0; i < count; i++) {
        struct level *level = &levels[i];
        level->thickness = thickness;
        level->radius = RADIUS_OUTER - thickness * (i + 0.5);
        draw_level(picture, level);
        level_row(picture, level);
        if (thickness >= 12)
            fprintf(picture->stream, "<text class=\"dim middle\" x=\"%d\" y=\"%.1f\">%u</text>\n",
                    CENTRE_X, CENTRE_Y - level->radius + 4.5, i);
    }
}

void htw__picture_write(const struct htw_wheel *wheel, int64_t tick_ns, FILE *stream) {
    struct level levels[HTW_WHEEL_LEVELS_MAX] = { { .number = 0 } };
    struct picture picture = { .tick_ns = tick_ns, .stream = stream, .y = 34 };
    read_wheel(&picture, wheel);
    int lines = (int)picture.listed + (picture.stats.queued_buckets > LISTED_BUCKETS) + 1;
    int bottom = 34 + 4 + ROW * (10 + (int)picture.stats.levels + lines);
    if (bottom < CENTRE_Y + 225)
        bottom = CENTRE_Y + 225;
    for (unsigned i = 0; i < picture.stats.levels; i++)
        read_level(&picture, i, &levels[i]);
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\">\n",
            WIDTH, bottom + 30, WIDTH, bottom + 30);
    describe(&picture, levels);
    fputs(style, stream);
    fprintf(stream, "<rect class=\"ground\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", WIDTH,
            bottom + 30);
    header(&picture);
    draw_rings(&picture, levels);
    queue(&picture);
    legend(&picture, bottom + 12);
    fputs("</svg>\n", stream);
}
