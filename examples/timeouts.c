/* SPDX-License-Identifier: MIT */
/* timeouts.c - a wheel alone: requests with timeouts, most of which are answered in time. */
#include <htw/wheel.h>

#include <stdio.h>

struct request {
    int id;
    struct htw_timer timeout; /* 32 bytes in the user's own struct; nothing is allocated */
};

int main(void) {
    struct htw_wheel *wheel;
    if (htw_wheel_create(&wheel, NULL) != 0 || htw_wheel_reserve(wheel, 60000) != 0)
        return 1; /* no memory; from here on, arming up to 60 000 ticks ahead cannot fail */
    struct request requests[1000] = { { 0 } };
    for (int i = 0; i < 1000; i++) {
        requests[i].id = i;
        if (htw_wheel_schedule(wheel, &requests[i].timeout, 30000 + (uint64_t)i) !=
            0) /* in ticks */
            return 1;
    }
    for (int i = 0; i < 1000; i++) /* all are answered, except every 250th */
        if (i % 250 != 0)
            htw_wheel_cancel(wheel, &requests[i].timeout);

    while (htw_wheel_count(wheel) > 0) {
        uint64_t now = htw_wheel_next(wheel); /* a program would sleep until then */
        struct htw_timer *timer;
        while ((timer = htw_wheel_poll(wheel, now)) != NULL)
            printf("tick %llu: request %d timed out\n", (unsigned long long)now,
                   HTW_CONTAINER_OF(timer, struct request, timeout)->id);
    }
    htw_wheel_destroy(wheel);
    return 0;
}
