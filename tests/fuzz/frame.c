/* SPDX-License-Identifier: MIT */
/*
 * frame.c - runs an input, measures what it costs, and aborts if that is more than its target allows.
 *
 * The measures do not depend on the machine or on its load:
 *  - Memory: what malloc has given out, and the mappings of the default allocator. A sanitizer reports
 *    it; otherwise the functions of malloc are those below. Where neither is possible, it is 0.
 *  - Steps: the code under test is compiled once more with -fsanitize-coverage=trace-pc, which calls a
 *    function in each basic block, and so that functions of the C library that work through bytes are
 *    those below. Without HTW_FUZZ_STEPS none are counted.
 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static _Atomic int64_t live, peak; /* bytes */
static uint64_t steps;
static int report_fd = STDERR_FILENO;

struct fuzz_cost fuzz_cost;

static void note_memory(int64_t bytes) {
    int64_t now = atomic_fetch_add_explicit(&live, bytes, memory_order_relaxed) + bytes;
    int64_t highest = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now))
        continue;
}

/* ---- memory */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_HOOKS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_HOOKS
#endif

#if defined(HAS_HOOKS)
/* Of sanitizer/allocator_interface.h, which gcc does not bring. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *memory);

static void on_malloc(const volatile void *memory, size_t size) {
    (void)memory;
    note_memory((int64_t)size);
}

static void on_free(const volatile void *memory) {
    if (memory != NULL)
        note_memory(-(int64_t)__sanitizer_get_allocated_size(memory));
}

static void count_memory(void) {
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}

#elif defined(__GLIBC__)
#include <errno.h>
#include <malloc.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);
void *memalign(size_t alignment, size_t size);

static void *count_new(void *memory) {
    note_memory((int64_t)malloc_usable_size(memory));
    return memory;
}

void *malloc(size_t size) {
    return count_new(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    return count_new(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
    int64_t before = (int64_t)malloc_usable_size(memory);
    void *moved = __libc_realloc(memory, size);
    if (moved != NULL || size == 0)
        note_memory((int64_t)malloc_usable_size(moved) - before);
    return moved;
}

void *memalign(size_t alignment, size_t size) {
    return count_new(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **ret_memory, size_t alignment, size_t size) {
    void *memory = memalign(alignment, size);
    if (memory != NULL)
        *ret_memory = memory;
    return memory == NULL ? ENOMEM : 0;
}

void free(void *memory) {
    note_memory(-(int64_t)malloc_usable_size(memory));
    __libc_free(memory);
}

static void count_memory(void) {
}

#else
static void count_memory(void) {
    (void)note_memory;
}
#endif

#ifdef HTW_FUZZ_STEPS
void *__real_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    void *memory = __real_mmap64(at, size, protection, flags, fd, offset);
    if (memory != MAP_FAILED)
        note_memory((int64_t)size);
    return memory;
}

int __real_munmap(void *memory, size_t size);
int __wrap_munmap(void *memory, size_t size) {
    int error = __real_munmap(memory, size);
    if (error == 0)
        note_memory(-(int64_t)size);
    return error;
}

/* ---- steps */

void __sanitizer_cov_trace_pc(void) {
    steps++;
}

/* Sixteen bytes count as a step. */
static void count_bytes(size_t size) {
    steps += size / 16;
}

#define WRAP(type, name, parameters, arguments, bytes) \
    type __real_##name parameters;                     \
    type __wrap_##name parameters;                     \
    type __wrap_##name parameters {                    \
        type result = __real_##name arguments;         \
        count_bytes(bytes);                            \
        return result;                                 \
    }

#define TEXT_UP_TO(end, text) ((end) == NULL ? __real_strlen(text) : (size_t)((end) - (text)))

WRAP(size_t, strlen, (const char *text), (text), result)
WRAP(size_t, strspn, (const char *text, const char *set), (text, set), result * 4)
WRAP(size_t, strcspn, (const char *text, const char *set), (text, set), result * 4)
WRAP(char *, strchr, (const char *text, int c), (text, c), TEXT_UP_TO(result, text))
WRAP(void *, memchr, (const void *from, int c, size_t size), (from, c, size),
     result == NULL ? size : (size_t)((char *)result - (const char *)from))
WRAP(void *, memcpy, (void *to, const void *from, size_t size), (to, from, size), size)
WRAP(void *, memmove, (void *to, const void *from, size_t size), (to, from, size), size)
WRAP(void *, memset, (void *to, int c, size_t size), (to, c, size), size)
WRAP(int, memcmp, (const void *a, const void *b, size_t size), (a, b, size), size)
WRAP(int, strcmp, (const char *a, const char *b), (a, b), result == 0 ? __real_strlen(a) : 16)
#endif

/* ---- an input */

void fuzz_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    dprintf(report_fd, "fuzz_%s: ", fuzz_target.name);
    vdprintf(report_fd, format, arguments);
    dprintf(report_fd, "\n");
    va_end(arguments);
    abort();
}

static void check_limit(const char *what, uint64_t cost, const struct fuzz_limit *limit,
                        size_t size) {
    uint64_t most = limit->any + limit->each * size;
    if (most > 0 && cost > most)
        fuzz_fail("an input of %zu bytes costs %llu %s, and not up to %llu", size,
                  (unsigned long long)cost, what, (unsigned long long)most);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    report_fd = dup(STDERR_FILENO); /* libFuzzer, or replay.c, may close the other */
    count_memory();
    return 0;
}

static void run(const uint8_t *data, size_t size) {
    int64_t before = live;
    peak = before;
    steps = 0;
    fuzz_target.run(data, size);
    fuzz_cost.steps = steps;
    fuzz_cost.memory = (uint64_t)(peak - before);
    fuzz_cost.kept = live > before ? (uint64_t)(live - before) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool has_run; /* the first run makes what stays */
    run(data, size);
    check_limit("bytes of memory", fuzz_cost.memory, &fuzz_target.memory, size);
    check_limit("steps", fuzz_cost.steps, &fuzz_target.steps, size);
    /* A thread of libFuzzer may have begun meanwhile. What stays after an input does so each time. */
    for (int again = 0; again < 3 && has_run && fuzz_cost.kept > fuzz_target.kept; again++)
        run(data, size);
    if (has_run && fuzz_cost.kept > fuzz_target.kept)
        fuzz_fail("%llu bytes of memory stay after an input", (unsigned long long)fuzz_cost.kept);
    has_run = true;
    return 0;
}

/* ---- what targets need */

const char *fuzz_file(const uint8_t *data, size_t size) {
    static int fd = -1;
    static char path[32];
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        fuzz_fail("no file in memory");
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL)
        fuzz_fail("no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}
