/* SPDX-License-Identifier: MIT */
/*
 * freestanding.c - a program whose wheel has no C library: its memory is an array, from which blocks
 * are never taken back.
 */
#include "htw_wheel.h"

static unsigned char memory[256 * 1024];
static size_t used;

static void *allocate(void *context, size_t size, size_t alignment) {
    (void)context;
    size_t begin = used + (alignment - (uintptr_t)(memory + used) % alignment) % alignment;
    if (begin > sizeof(memory) || size > sizeof(memory) - begin)
        return NULL;
    used = begin + size;
    return memory + begin;
}

static void release(void *context, void *block, size_t size, size_t alignment) {
    (void)context;
    (void)block;
    (void)size;
    (void)alignment;
}

/* 0, or the line that went wrong. */
int main(void) {
    const struct htw_allocator allocator = { allocate, release, NULL };
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct htw_wheel *wheel = NULL;
    struct htw_timer timer;
    int error = htw_wheel_create(&wheel, &options); /* there is no default allocator */
    if (error == 0 || wheel != NULL || htw_strerror(error)[0] != 'a')
        return __LINE__;
    options.allocator = &allocator;
    if (htw_wheel_create(&wheel, &options) != 0)
        return __LINE__;
    htw_timer_init(&timer);
    if (htw_wheel_schedule(wheel, &timer, (uint64_t)1 << 30) != 0 || htw_wheel_check(wheel) != 0 ||
        htw_wheel_next(wheel) != (uint64_t)1 << 30 ||
        htw_wheel_poll(wheel, htw_wheel_next(wheel)) != &timer)
        return __LINE__;
    if (htw_wheel_reserve(wheel, HTW_NEVER_TICK) == 0) /* some 350 KiB */
        return __LINE__;
    htw_wheel_destroy(wheel);
    return 0;
}
