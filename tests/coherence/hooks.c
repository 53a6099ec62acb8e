/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the functions that the compiler calls with -fsanitize=thread, instead of ThreadSanitizer's:
 * each access to memory of the library becomes one of the virtual CPU.
 *
 * Atomic operations are sequentially consistent here. Only one virtual CPU runs at a time.
 */
#include "virtual_cpus.h"

#include <string.h>

#define CODE __builtin_return_address(0)

void __tsan_init(void);
void __tsan_init(void) {
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) {
    virtual_cpu_enter(caller);
}

void __tsan_func_exit(void);
void __tsan_func_exit(void) {
    virtual_cpu_leave();
}

void coherence_prefetch(const void *address);
void coherence_prefetch(const void *address) {
    virtual_cpu_access(address, 1, true, CODE);
}

/* ---- plain accesses */

#define PLAIN(name, size, is_write)                           \
    void __tsan_##name(void *memory);                         \
    void __tsan_##name(void *memory) {                        \
        virtual_cpu_access(memory, (size), (is_write), CODE); \
    }

#define PLAIN_OF_SIZE(size)                  \
    PLAIN(read##size, size, false)           \
    PLAIN(write##size, size, true)           \
    PLAIN(unaligned_read##size, size, false) \
    PLAIN(unaligned_write##size, size, true)

PLAIN_OF_SIZE(1)
PLAIN_OF_SIZE(2)
PLAIN_OF_SIZE(4)
PLAIN_OF_SIZE(8)
PLAIN_OF_SIZE(16)

void __tsan_read_range(void *memory, size_t size);
void __tsan_read_range(void *memory, size_t size) {
    virtual_cpu_access(memory, size, false, CODE);
}

void __tsan_write_range(void *memory, size_t size);
void __tsan_write_range(void *memory, size_t size) {
    virtual_cpu_access(memory, size, true, CODE);
}

/* ---- atomic operations: loads read, all others write, also a compare-and-swap that fails */

#define FETCH(type, bits, name)                                                         \
    type __tsan_atomic##bits##_fetch_##name(volatile type *memory, type value, int o);  \
    type __tsan_atomic##bits##_fetch_##name(volatile type *memory, type value, int o) { \
        (void)o;                                                                        \
        virtual_cpu_access(memory, sizeof(type), true, CODE);                           \
        return __atomic_fetch_##name(memory, value, __ATOMIC_SEQ_CST);                  \
    }

#define COMPARE(type, bits, strength)                                                            \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *memory, type *expected, \
                                                          type to, int o, int p);                \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *memory, type *expected, \
                                                          type to, int o, int p) {               \
        (void)o, (void)p;                                                                        \
        virtual_cpu_access(memory, sizeof(type), true, CODE);                                    \
        return __atomic_compare_exchange_n(memory, expected, to, 0, __ATOMIC_SEQ_CST,            \
                                           __ATOMIC_SEQ_CST);                                    \
    }

/* What clang calls: it answers the value that was there. */
#define COMPARE_VALUE(type, bits)                                                                  \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *memory, type expected, type to, \
                                                    int o, int p);                                 \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *memory, type expected, type to, \
                                                    int o, int p) {                                \
        (void)o, (void)p;                                                                          \
        virtual_cpu_access(memory, sizeof(type), true, CODE);                                      \
        __atomic_compare_exchange_n(memory, &expected, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected;                                                                           \
    }

#define ATOMIC(type, bits)                                                          \
    type __tsan_atomic##bits##_load(const volatile type *memory, int o);            \
    type __tsan_atomic##bits##_load(const volatile type *memory, int o) {           \
        (void)o;                                                                    \
        virtual_cpu_access(memory, sizeof(type), false, CODE);                      \
        return __atomic_load_n(memory, __ATOMIC_SEQ_CST);                           \
    }                                                                               \
    void __tsan_atomic##bits##_store(volatile type *memory, type value, int o);     \
    void __tsan_atomic##bits##_store(volatile type *memory, type value, int o) {    \
        (void)o;                                                                    \
        virtual_cpu_access(memory, sizeof(type), true, CODE);                       \
        __atomic_store_n(memory, value, __ATOMIC_SEQ_CST);                          \
    }                                                                               \
    type __tsan_atomic##bits##_exchange(volatile type *memory, type value, int o);  \
    type __tsan_atomic##bits##_exchange(volatile type *memory, type value, int o) { \
        (void)o;                                                                    \
        virtual_cpu_access(memory, sizeof(type), true, CODE);                       \
        return __atomic_exchange_n(memory, value, __ATOMIC_SEQ_CST);                \
    }                                                                               \
    FETCH(type, bits, add)                                                          \
    FETCH(type, bits, sub)                                                          \
    FETCH(type, bits, and)                                                          \
    FETCH(type, bits, or)                                                           \
    FETCH(type, bits, xor)                                                          \
    COMPARE(type, bits, strong)                                                     \
    COMPARE(type, bits, weak)                                                       \
    COMPARE_VALUE(type, bits)

ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- what the compiler does not report: --wrap leads here */

void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size) {
    virtual_cpu_access(from, size, false, CODE);
    virtual_cpu_access(to, size, true, CODE);
    return __real_memcpy(to, from, size);
}

void *__real_memset(void *memory, int byte, size_t size);
void *__wrap_memset(void *memory, int byte, size_t size);
void *__wrap_memset(void *memory, int byte, size_t size) {
    virtual_cpu_access(memory, size, true, CODE);
    return __real_memset(memory, byte, size);
}

int __real_memcmp(const void *one, const void *other, size_t size);
int __wrap_memcmp(const void *one, const void *other, size_t size);
int __wrap_memcmp(const void *one, const void *other, size_t size) {
    virtual_cpu_access(one, size, false, CODE);
    virtual_cpu_access(other, size, false, CODE);
    return __real_memcmp(one, other, size);
}
