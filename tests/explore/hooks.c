/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the functions that the compiler calls with -fsanitize=thread, instead of ThreadSanitizer's:
 * each access of the library and of a scene to memory becomes one of the machine.
 */
#include "machine.h"
#include "memory.h"

#include <string.h>

#define CODE __builtin_return_address(0)

void __tsan_init(void);
void __tsan_init(void) {
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) {
    (void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void) {
}

/* ---- plain accesses */

#define PLAIN(name, size, access)              \
    void __tsan_##name(void *memory);          \
    void __tsan_##name(void *memory) {         \
        memory_##access(memory, (size), CODE); \
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

void __tsan_read_range(void *memory, size_t size);
void __tsan_read_range(void *memory, size_t size) {
    memory_read(memory, size, CODE);
}

void __tsan_write_range(void *memory, size_t size);
void __tsan_write_range(void *memory, size_t size) {
    memory_write(memory, size, CODE);
}

/* ---- atomic operations */

#define CHANGE(type, bits, name, expression)                                          \
    type __tsan_atomic##bits##_##name(volatile type *memory, type value, int order);  \
    type __tsan_atomic##bits##_##name(volatile type *memory, type value, int order) { \
        type before = (type)memory_begin_change(memory, sizeof(type), CODE);          \
        memory_end_change(memory, sizeof(type), (uint64_t)(type)(expression), order); \
        return before;                                                                \
    }

/* Returns the value that was there. */
static uint64_t compare(volatile void *memory, size_t size, uint64_t expected, uint64_t to,
                        int order, int failed, const void *code) {
    uint64_t before = memory_begin_change(memory, size, code);
    if (before == expected)
        memory_end_change(memory, size, to, order);
    else
        memory_end_unchanged(memory, size, failed);
    return before;
}

#define COMPARE(type, bits, strength)                                                            \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *memory, type *expected, \
                                                          type to, int order, int failed);       \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *memory, type *expected, \
                                                          type to, int order, int failed) {      \
        type wanted = *expected;                                                                 \
        *expected = (type)compare(memory, sizeof(type), wanted, to, order, failed, CODE);        \
        return *expected == wanted;                                                              \
    }

/* What clang calls: it answers the value that was there. */
#define COMPARE_VALUE(type, bits)                                                                  \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *memory, type expected, type to, \
                                                    int order, int failed);                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *memory, type expected, type to, \
                                                    int order, int failed) {                       \
        return (type)compare(memory, sizeof(type), expected, to, order, failed, CODE);             \
    }

#define ATOMIC(type, bits)                                                           \
    type __tsan_atomic##bits##_load(const volatile type *memory, int order);         \
    type __tsan_atomic##bits##_load(const volatile type *memory, int order) {        \
        return (type)memory_load(memory, sizeof(type), order, CODE);                 \
    }                                                                                \
    void __tsan_atomic##bits##_store(volatile type *memory, type value, int order);  \
    void __tsan_atomic##bits##_store(volatile type *memory, type value, int order) { \
        memory_store(memory, sizeof(type), value, order, CODE);                      \
    }                                                                                \
    CHANGE(type, bits, exchange, value)                                              \
    CHANGE(type, bits, fetch_add, before + value)                                    \
    CHANGE(type, bits, fetch_sub, before - value)                                    \
    CHANGE(type, bits, fetch_and, before &value)                                     \
    CHANGE(type, bits, fetch_or, before | value)                                     \
    CHANGE(type, bits, fetch_xor, before ^ value)                                    \
    COMPARE(type, bits, strong)                                                      \
    COMPARE(type, bits, weak)                                                        \
    COMPARE_VALUE(type, bits)

ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
    memory_fence(order);
}

/* ---- what the compiler does not report: --wrap leads here */

void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size) {
    memory_read(from, size, CODE);
    memory_write(to, size, CODE);
    return __real_memcpy(to, from, size);
}

void *__real_memset(void *memory, int byte, size_t size);
void *__wrap_memset(void *memory, int byte, size_t size);
void *__wrap_memset(void *memory, int byte, size_t size) {
    memory_write(memory, size, CODE);
    return __real_memset(memory, byte, size);
}

int __real_memcmp(const void *one, const void *other, size_t size);
int __wrap_memcmp(const void *one, const void *other, size_t size);
int __wrap_memcmp(const void *one, const void *other, size_t size) {
    memory_read(one, size, CODE);
    memory_read(other, size, CODE);
    return __real_memcmp(one, other, size);
}
