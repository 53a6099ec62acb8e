/* SPDX-License-Identifier: MIT */
/* access_hooks.c - the functions that the compiler calls with -fsanitize=thread, and those of the C library that
   access memory, to which --wrap leads. */
#include "access_hooks.h"

#include <string.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define CODE __builtin_return_address(0)

void __tsan_init(void) {
}

void __tsan_func_entry(void *caller) {
    (void)caller;
}

void __tsan_func_exit(void) {
}

/* ---- plain accesses */

#define PLAIN(name, size, access)            \
    void __tsan_##name(void *memory);        \
    void __tsan_##name(void *memory) {       \
        hook_##access(memory, (size), CODE); \
    }

#define PLAIN_OF_SIZE(size)                 \
    PLAIN(read##size, size, read)           \
    PLAIN(write##size, size, write)         \
    PLAIN(unaligned_read##size, size, read) \
    PLAIN(unaligned_write##size, size, write)

PLAIN_OF_SIZE(1)
PLAIN_OF_SIZE(2)
PLAIN_OF_SIZE(4)
PLAIN_OF_SIZE(8)
PLAIN_OF_SIZE(16)

#define RANGE(access)                                         \
    void __tsan_##access##_range(void *memory, size_t size);  \
    void __tsan_##access##_range(void *memory, size_t size) { \
        hook_##access(memory, size, CODE);                    \
    }

RANGE(read)
RANGE(write)

/* ---- atomic operations */

uint64_t access_word(const volatile void *word, size_t size) {
    switch (size) {
    case 1:
        return *(const volatile uint8_t *)word;
    case 2:
        return *(const volatile uint16_t *)word;
    case 4:
        return *(const volatile uint32_t *)word;
    default:
        return *(const volatile uint64_t *)word;
    }
}

#define CHANGE(type, bits, name, expression)                                            \
    type __tsan_atomic##bits##_##name(volatile type *memory, type value, int order);    \
    type __tsan_atomic##bits##_##name(volatile type *memory, type value, int order) {   \
        type before = (type)hook_begin_change(memory, sizeof(type), order, NULL, CODE); \
        type after = (type)(expression);                                                \
        *memory = (type)hook_end_change(memory, sizeof(type), after, order, CODE);      \
        return before;                                                                  \
    }

/* This is what clang calls: it returns the value that was there. */
#define COMPARE_VALUE(type, bits)                                                                  \
    static type compare##bits(volatile type *memory, type expected, type to, int order,            \
                              int failed, const void *code) {                                      \
        uint64_t wanted = expected;                                                                \
        type before = (type)hook_begin_change(memory, sizeof(type), order, &wanted, code);         \
        if (before != expected) {                                                                  \
            hook_end_unchanged(memory, sizeof(type), failed, code);                                \
            return before;                                                                         \
        }                                                                                          \
        *memory = (type)hook_end_change(memory, sizeof(type), to, order, code);                    \
        return before;                                                                             \
    }                                                                                              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *memory, type expected, type to, \
                                                    int order, int failed);                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *memory, type expected, type to, \
                                                    int order, int failed) {                       \
        return compare##bits(memory, expected, to, order, failed, CODE);                           \
    }

#define COMPARE(type, bits, strength)                                                            \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *memory, type *expected, \
                                                          type to, int order, int failed);       \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *memory, type *expected, \
                                                          type to, int order, int failed) {      \
        type wanted = *expected;                                                                 \
        *expected = compare##bits(memory, wanted, to, order, failed, CODE);                      \
        return *expected == wanted;                                                              \
    }

#define ATOMIC(type, bits)                                                           \
    type __tsan_atomic##bits##_load(const volatile type *memory, int order);         \
    type __tsan_atomic##bits##_load(const volatile type *memory, int order) {        \
        return (type)hook_load(memory, sizeof(type), order, CODE);                   \
    }                                                                                \
    void __tsan_atomic##bits##_store(volatile type *memory, type value, int order);  \
    void __tsan_atomic##bits##_store(volatile type *memory, type value, int order) { \
        *memory = (type)hook_store(memory, sizeof(type), value, order, CODE);        \
    }                                                                                \
    CHANGE(type, bits, exchange, value)                                              \
    CHANGE(type, bits, fetch_add, before + value)                                    \
    CHANGE(type, bits, fetch_sub, before - value)                                    \
    CHANGE(type, bits, fetch_and, before &value)                                     \
    CHANGE(type, bits, fetch_or, before | value)                                     \
    CHANGE(type, bits, fetch_xor, before ^ value)                                    \
    COMPARE_VALUE(type, bits)                                                        \
    COMPARE(type, bits, strong)                                                      \
    COMPARE(type, bits, weak)

ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

void __tsan_atomic_thread_fence(int order) {
    hook_fence(order, CODE);
}

/* ---- the C library: --wrap leads here, and newer clangs call __tsan_memcpy() and the like */

#define COPY(name)                                                 \
    void *__real_##name(void *to, const void *from, size_t size);  \
    void *__wrap_##name(void *to, const void *from, size_t size);  \
    void *__wrap_##name(void *to, const void *from, size_t size) { \
        hook_read(from, size, CODE);                               \
        hook_write(to, size, CODE);                                \
        return __real_##name(to, from, size);                      \
    }                                                              \
    void *__tsan_##name(void *to, const void *from, size_t size) ALIAS(__wrap_##name);

#define ALIAS(name) __attribute__((alias(#name)))

COPY(memcpy)
COPY(memmove)

void *__real_memset(void *memory, int byte, size_t size);
void *__wrap_memset(void *memory, int byte, size_t size) {
    hook_write(memory, size, CODE);
    return __real_memset(memory, byte, size);
}
void *__tsan_memset(void *memory, int byte, size_t size) ALIAS(__wrap_memset);

int __real_memcmp(const void *one, const void *other, size_t size);
int __wrap_memcmp(const void *one, const void *other, size_t size) {
    hook_read(one, size, CODE);
    hook_read(other, size, CODE);
    return __real_memcmp(one, other, size);
}
