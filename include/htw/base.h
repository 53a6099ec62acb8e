/* SPDX-License-Identifier: MIT */
/*
 * htw/base.h - what every layer of htw shares: symbol visibility, the version,
 * the allocator seam, and the link by which timers are chained.
 *
 * Conventions that hold in all headers of htw:
 *  - A function that can fail returns 0 or a negative errno value (<errno.h>);
 *    whatever it would have returned goes to a `ret_` parameter, which is left
 *    alone on failure. Failure changes nothing.
 *  - Names that start with an underscore, or hold `htw__`, are private.
 */
#ifndef HTW_BASE_H
#define HTW_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define HTW_API __attribute__((visibility("default")))
/* Of functions whose result, if ignored, loses something: a timer, an argument, an object. */
#define HTW_WARN_UNUSED __attribute__((warn_unused_result))
#else
#define HTW_API
#define HTW_WARN_UNUSED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version that this header belongs to. */
#define HTW_VERSION_MAJOR 0
#define HTW_VERSION_MINOR 2
#define HTW_VERSION_PATCH 0
#define HTW_VERSION "0.2.0"

/**
 * The version of the library that is linked, as "major.minor.patch".
 *
 * Compare it with HTW_VERSION to find a header and a library that do not belong
 * together. The string is static. Any thread may call this.
 */
HTW_API const char *htw_version(void);

/**
 * Describes what a call of this library returned, in this library's meaning of each errno.
 *
 * @param result a return value of the library: a negative errno, or 0 or more.
 * @return one line of English, without a full stop, never NULL. A value that the library does not
 *         return has a line, too. The string is static: do not free it.
 *
 * Any thread may call this, also in a signal handler. Cost: O(1).
 */
HTW_API const char *htw_strerror(int result);

/**
 * Where the library takes its memory from. Every allocation of an object goes
 * through the allocator that it was created with; the struct is copied, so only
 * what `context` points to must outlive the object.
 *
 * Both functions must be set. They are called by the thread that calls into the
 * library, and must not call back into the object for which they work.
 */
struct htw_allocator {
    /**
     * Returns `size` bytes (at least 1) at an address that is a multiple of
     * `alignment` (a power of two, at most 64), or NULL when there are none.
     * The contents need not be zeroed.
     */
    void *(*allocate)(void *context, size_t size, size_t alignment);
    /**
     * Takes back what `allocate` returned. `memory` is never NULL; `size` and
     * `alignment` are those it was asked for with.
     */
    void (*release)(void *context, void *memory, size_t size, size_t alignment);
    /** Handed to both functions as it is. */
    void *context;
};

/**
 * Private: a link in a doubly linked list whose backward pointer holds the
 * address of the pointer that leads here, so that a list head may be a lone
 * pointer and unlinking needs no branch.
 */
struct htw__link {
    struct htw__link *_next;
    struct htw__link **_back;
};

#ifdef __cplusplus
}
#endif

#endif /* HTW_BASE_H */
