/* SPDX-License-Identifier: MIT */
/*
 * glib.c - the wheel in a main loop of GLib, as a GSource: before the loop sleeps it asks the source when, and
 * afterwards whether.
 *
 * The job is described in epoll.c.
 */
#include <htw/wheel.h>

#include <glib.h>
#include <stdio.h>

#define TIMERS 10000
#define LEFT (TIMERS / 100)
#define TICK_NS 1000000

static struct request {
    int64_t due_ns;
    struct htw_timer timeout; /* all zero: not armed */
} requests[TIMERS];
static struct htw_wheel *wheel;
static unsigned expired, cancelled, wrong, wakeups;

static int64_t now_ns(void) {
    return g_get_monotonic_time() * 1000;
}

/* The clock is rounded down and a deadline up: so no timer is early. */
static uint64_t now_tick(void) {
    return (uint64_t)now_ns() / TICK_NS;
}

static void arm(struct request *request, int64_t delay_ns) {
    request->due_ns = now_ns() + delay_ns;
    uint64_t deadline = ((uint64_t)request->due_ns + TICK_NS - 1) / TICK_NS;
    if (htw_wheel_schedule(wheel, &request->timeout, deadline) != 0)
        wrong++;
}

static void expire(void) {
    static uint64_t last;
    uint64_t now = now_tick(); /* one value for the whole round */
    struct htw_timer *timer;
    while ((timer = htw_wheel_poll(wheel, now)) != NULL) {
        struct request *request = HTW_CONTAINER_OF(timer, struct request, timeout);
        if (now_ns() < request->due_ns || htw_timer_deadline(timer) < last)
            wrong++; /* early, or not in order */
        last = htw_timer_deadline(timer);
        expired++;
    }
}

static gboolean is_due(GSource *source) {
    (void)source;
    return htw_wheel_next(wheel) <= now_tick();
}

/* How long the loop may sleep, in milliseconds, which are ticks here; -1: for ever. */
static gboolean before_sleep(GSource *source, gint *timeout_ms) {
    uint64_t next = htw_wheel_next(wheel), now = now_tick();
    wakeups++;
    if (next == HTW_NEVER_TICK)
        *timeout_ms = -1;
    else if (next > now)
        *timeout_ms = (gint)MIN(next - now, G_MAXINT);
    return is_due(source);
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data) {
    (void)source;
    (void)callback;
    expire();
    if (htw_wheel_count(wheel) == 0)
        g_main_loop_quit(data);
    return G_SOURCE_CONTINUE;
}

static gboolean on_answers(gpointer data) { /* nearly all have been answered */
    (void)data;
    for (int i = 0; i < TIMERS; i++)
        if (i % 100 != 0 && htw_wheel_cancel(wheel, &requests[i].timeout))
            cancelled++;
        else if (i % 100 != 0 && now_ns() < requests[i].due_ns)
            wrong++; /* gone before its time */
    return G_SOURCE_REMOVE;
}

int main(void) {
    static GSourceFuncs functions = { .prepare = before_sleep,
                                      .check = is_due,
                                      .dispatch = dispatch };
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.start = now_tick();
    if (htw_wheel_create(&wheel, &options) != 0)
        return 1;
    for (int i = 0; i < TIMERS; i++)
        arm(&requests[i], (20 + i % 199) * INT64_C(1000000));
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    GSource *source = g_source_new(&functions, sizeof(GSource));
    g_source_set_callback(source, NULL, loop, NULL); /* only the data */
    g_source_attach(source, NULL);
    g_idle_add(on_answers, NULL);
    g_main_loop_run(loop);
    printf("%u cancelled, %u expired, %u turns of the loop\n", cancelled, expired, wakeups);
    g_source_destroy(source);
    g_source_unref(source);
    g_main_loop_unref(loop);
    htw_wheel_destroy(wheel);
    /* If the process stood still before the answers, some had expired by then. */
    return expired + cancelled == TIMERS && wakeups <= 2 * LEFT && wrong == 0 ? 0 : 1;
}
