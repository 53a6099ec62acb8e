/* SPDX-License-Identifier: MIT */
/*
 * htw/base.h - what every header of htw uses: symbol visibility, the version, error descriptions,
 * the allocator interface, distributions, whether work is left, the object around a member, and the link
 * between timers in a list.
 *
 * Conventions of all headers of htw:
 *  - Most functions succeed or fail: they return 0 or a negative errno value (<errno.h>). On
 *    failure nothing has changed, and what the caller passed still belongs to the caller.
 *  - A function that reports an outcome returns a named enumerator or a count, 0 or more; its first
 *    sentence says so. It may also return a negative errno value.
 *  - A parameter named `ret_...` receives an output. It is not written on failure.
 *  - Only htw_strerror() and htw_version() are async-signal-safe. A signal handler may interrupt its
 *    thread inside any other function, where a lock is held that it would wait for. Write to a pipe
 *    or an eventfd there, or let a thread call sigwait().
 *  - Names that start with an underscore or contain `htw__` are private.
 *  - Initialise each struct that has a member `struct_size` with its macro HTW_..._INIT: it sets the
 *    size, which tells versions of the library apart, and all other members to 0, the default of each;
 *    in structs of the journal some defaults are other numbers.
 *
 * htw_strerror() describes each error, and htw_invalid_member() names the member of a struct that was
 * refused. The most common errors:
 *    -EINVAL      an argument is NULL, out of range, or contradicts another one
 *    -ENOMEM      no memory, or no thread could be started
 *    -EOWNERDEAD  the object belongs to the parent of this process, which has forked
 *    -ESHUTDOWN   the scheduler is stopped, or the purgatory is closed. Windows has no such number: there this
 *                 header defines it, as WSAESHUTDOWN
 */
#ifndef HTW_BASE_H
#define HTW_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && !defined(HTW_FREESTANDING)
#include <errno.h>
#ifndef ESHUTDOWN
#define ESHUTDOWN 10058
#endif
#endif

#ifndef HTW_API /* before each function */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(_WIN32)
#define HTW_API __attribute__((visibility("default")))
#else
#define HTW_API
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
/* Marks functions whose result must not be ignored: otherwise a timer, an argument or an object is
   lost. To ignore it on purpose, assign it to a variable: gcc warns in spite of a cast. */
#define HTW_WARN_UNUSED __attribute__((warn_unused_result))
#else
#define HTW_WARN_UNUSED
#endif

/* Private: the value of HTW_..._INIT. */
#ifdef __cplusplus
extern "C++" { /* the user may include this within extern "C" */
template <typename Struct> struct htw__sized : Struct {
    htw__sized() : Struct() {
        this->struct_size = sizeof(Struct);
    }
};
}
#define HTW__INIT(name) htw__sized<struct name>()
#else
#define HTW__INIT(name) \
    { .struct_size = sizeof(struct name) }
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version that this header belongs to. A state between releases has "~dev" after it. */
#define HTW_VERSION_MAJOR 0
#define HTW_VERSION_MINOR 3
#define HTW_VERSION_PATCH 0
#define HTW_VERSION "0.3.0~dev"
/** The same as a number: 0x000200 is 0.2.0. For `#if HTW_VERSION_NUMBER >= 0x000200`. */
#define HTW_VERSION_NUMBER \
    ((HTW_VERSION_MAJOR << 16) | (HTW_VERSION_MINOR << 8) | HTW_VERSION_PATCH)

/**
 * Returns the version of the library that the program runs with, as "major.minor.patch", with
 * "~dev" after it between releases.
 *
 * If it differs from HTW_VERSION, the program was compiled with the header of another version.
 *
 * @return a static string; never NULL. Do not free it.
 *
 * Threads: any, at any time. Cost: O(1).
 */
HTW_API const char *htw_version(void);

/**
 * Describes a return value of the library. The texts are specific to htw and may differ from those
 * of strerror().
 *
 * @param result the return value: a negative errno value, or 0 or more.
 * @return a static string in English, without a full stop; never NULL, also for values that the
 *         library does not return. Do not free it.
 *
 * Threads: any, at any time, also in a signal handler. Cost: O(1).
 */
HTW_API const char *htw_strerror(int result);

/**
 * Returns the name of the member that was refused, such as "workers", when the last call of this thread
 * that takes options or the specification of a timer has returned -EINVAL: for error messages. For a journal
 * there is htw_journal_error().
 *
 * @return a static string; NULL: no call was refused so far, or not because of a member.
 *
 * Threads: any. Cost: O(1). With HTW_FREESTANDING all threads share the answer.
 */
HTW_API const char *htw_invalid_member(void);

/**
 * An allocator. An object allocates everything through the allocator that it was created with.
 *
 * The library copies this struct; only what `context` points to must outlive the object. Both
 * functions must be set. The thread that calls the library calls them, also while it holds a lock of
 * the library. They must not call functions of the object that they work for, and must return: no
 * exception, no pthread_exit(), no longjmp(). The library does not notice an allocator that does not
 * return, and later calls may then wait for ever.
 */
struct htw_allocator {
    /**
     * Allocates memory.
     *
     * @param size      in bytes; at least 1.
     * @param alignment the address must be a multiple of it: a power of two, at most 64.
     * @return the memory, which need not be zeroed; NULL if there is none.
     */
    void *(*allocate)(void *context, size_t size, size_t alignment);
    /**
     * Frees memory that `allocate` returned.
     *
     * @param memory    never NULL.
     * @param size      as in the call of `allocate`.
     * @param alignment as in the call of `allocate`.
     */
    void (*release)(void *context, void *memory, size_t size, size_t alignment);
    /** Passed to both functions. */
    void *context;
};

/** The distribution of a duration. In statistics. Percentiles are at most 1/64 too high. */
struct htw_distribution {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    uint64_t max_ns;
};

/** Whether work is left. Of htw_wheel_poll_batch() and htw_scheduler_process(). */
enum htw_wheel_progress {
    /** Nothing is due any more. */
    HTW_DONE = 0,
    /** The batch is full, or the budget is used up: call again. */
    HTW_MORE = 1
};

/** The address of the object of type `type` whose member `member` is at address `pointer`. */
#ifdef __cplusplus
#define HTW_CONTAINER_OF(pointer, type, member)                              \
    /* NOLINTNEXTLINE(bugprone-macro-parentheses): a type cannot have any */ \
    (static_cast<type *>(const_cast<void *>(static_cast<const void *>(       \
        reinterpret_cast<const char *>(pointer) - offsetof(type, member)))))
#else
#define HTW_CONTAINER_OF(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))
#endif

/**
 * Private: a link in a doubly linked list. `_back` is the address of the pointer that points to
 * this link, so that the head of a list can be a single pointer and unlinking needs no branch.
 */
struct htw__link {
    struct htw__link *_next;
    struct htw__link **_back;
};

#ifdef __cplusplus
}
#endif

#endif /* HTW_BASE_H */
