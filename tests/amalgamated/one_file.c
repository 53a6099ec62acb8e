/* SPDX-License-Identifier: MIT */
/*
 * one_file.c - a program of one source file that contains the wheel: all of it is static, and its
 * memory comes from functions of the program.
 */
#include <stdio.h>
#include <stdlib.h>

static size_t blocks;

static void *count_and_allocate(size_t size) {
    blocks++;
    return malloc(size);
}

static void count_and_free(void *memory) {
    blocks--;
    free(memory);
}

/* A program need not use all functions. */
#ifdef __GNUC__
#define HTW_API static __attribute__((unused))
#else
#define HTW_API static
#endif
#define HTW_MALLOC(size) count_and_allocate(size)
#define HTW_FREE(memory) count_and_free(memory)
#include "htw_wheel.c"

static int fail(int line) {
    printf("one_file.c:%d\n", line);
    return 1;
}

int main(void) {
    struct htw_wheel *wheel;
    struct htw_timer timers[3];
    if (htw_wheel_create(&wheel, NULL) != 0 || blocks == 0)
        return fail(__LINE__);
    for (size_t i = 0; i < 3; i++) {
        htw_timer_init(&timers[i]);
        if (htw_wheel_schedule(wheel, &timers[i], (uint64_t)1000000 << (8 * i)) != 0)
            return fail(__LINE__);
    }
    if (!htw_wheel_cancel(wheel, &timers[1]) || htw_wheel_check(wheel) != 0 ||
        htw_wheel_next(wheel) != 1000000 || htw_wheel_poll(wheel, 999999) != NULL ||
        htw_wheel_poll(wheel, 1000000) != &timers[0] || htw_wheel_dump(wheel, stdout) != 0)
        return fail(__LINE__);
    htw_wheel_destroy(wheel);
    return blocks == 0 && !htw_timer_is_pending(&timers[2]) ? 0 : fail(__LINE__);
}
