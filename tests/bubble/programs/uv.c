/* SPDX-License-Identifier: MIT */
/* uv.c - a timer of libuv that repeats for 30 days: prints the hours and seconds. */
#include <stdio.h>
#include <uv.h>

static int hours;

static void count(uv_timer_t *timer) {
    if (++hours == 30 * 24)
        uv_timer_stop(timer);
}

int main(void) {
    uv_loop_t *loop = uv_default_loop();
    uv_timer_t timer;
    uint64_t began_ms = uv_now(loop);
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, count, 3600 * 1000, 3600 * 1000);
    uv_run(loop, UV_RUN_DEFAULT);
    printf("%d %d\n", hours, (int)((uv_now(loop) - began_ms) / 1000));
    return 0;
}
