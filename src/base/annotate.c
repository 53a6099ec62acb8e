/* SPDX-License-Identifier: MIT */
/*
 * annotate.c - finds out at load time whether the program runs under a race detector, and tells it.
 *
 * The run times of ThreadSanitizer and LeakSanitizer have functions for this. They are weak here:
 * without that run time they are NULL. valgrind is told by client requests, a few instructions that do nothing elsewhere
 * (HTW_VALGRIND_REQUESTS: its headers were there when the library was built). Only helgrind and
 * DRD are told, so that under memcheck and callgrind the library runs as it does alone.
 */
#include "annotate.h"

typedef int htw__annotate_not_empty; /* ISO C wants a declaration */

#if defined(HTW_ANNOTATE) && !defined(HTW__SEES_ATOMICS)

#ifdef HTW_VALGRIND_REQUESTS
#include <valgrind/drd.h>
#include <valgrind/helgrind.h>
#endif

bool htw__annotated;

/* ---- ThreadSanitizer and LeakSanitizer */

#ifdef __ELF__
#define WEAK __attribute__((weak, visibility("default")))
WEAK void AnnotateHappensBefore(const char *file, int line, const volatile void *object);
WEAK void AnnotateHappensAfter(const char *file, int line, const volatile void *object);
WEAK void AnnotateIgnoreReadsBegin(const char *file, int line);
WEAK void AnnotateIgnoreReadsEnd(const char *file, int line);
WEAK void AnnotateIgnoreWritesBegin(const char *file, int line);
WEAK void AnnotateIgnoreWritesEnd(const char *file, int line);
WEAK void lsan_register(const void *begin, size_t bytes) __asm__("__lsan_register_root_region");
WEAK void lsan_unregister(const void *begin, size_t bytes) __asm__("__lsan_unregister_root_region");

static bool has_tsan(void) {
    return AnnotateHappensBefore != NULL && AnnotateHappensAfter != NULL &&
           AnnotateIgnoreReadsBegin != NULL && AnnotateIgnoreReadsEnd != NULL &&
           AnnotateIgnoreWritesBegin != NULL && AnnotateIgnoreWritesEnd != NULL;
}

/* Not __FILE__, which says where the library was built: two builds would not be the same. */
#define HERE "annotate.c", __LINE__

static void tsan_ignore(bool begin) {
    if (begin) {
        AnnotateIgnoreReadsBegin(HERE);
        AnnotateIgnoreWritesBegin(HERE);
    } else {
        AnnotateIgnoreWritesEnd(HERE);
        AnnotateIgnoreReadsEnd(HERE);
    }
}

#define TSAN_HAPPENS_BEFORE(object) AnnotateHappensBefore(HERE, object)
#define TSAN_HAPPENS_AFTER(object) AnnotateHappensAfter(HERE, object)
#define LSAN_REGISTER(memory, bytes)      \
    do {                                  \
        if (lsan_register != NULL)        \
            lsan_register(memory, bytes); \
    } while (0)
#define LSAN_UNREGISTER(memory, bytes)      \
    do {                                    \
        if (lsan_unregister != NULL)        \
            lsan_unregister(memory, bytes); \
    } while (0)
#else
#define has_tsan() false
#define tsan_ignore(begin) ((void)(begin))
#define TSAN_HAPPENS_BEFORE(object) ((void)(object))
#define TSAN_HAPPENS_AFTER(object) ((void)(object))
#define LSAN_REGISTER(memory, bytes) ((void)(memory), (void)(bytes))
#define LSAN_UNREGISTER(memory, bytes) ((void)(memory), (void)(bytes))
#endif

/* ---- helgrind and DRD */

static enum { NO_TOOL, TSAN, HELGRIND, DRD } tool;

#ifdef HTW_VALGRIND_REQUESTS

static bool is_helgrind(void) {
    unsigned char accessible = 0;
    (void)accessible;
    /* Another tool, or none, leaves the answer at -2. */
    return VALGRIND_DO_CLIENT_REQUEST_EXPR((unsigned long)-2, _VG_USERREQ__HG_GET_ABITS,
                                           &accessible, &accessible, 1, 0, 0) != (unsigned long)-2;
}

static bool is_drd(void) {
    return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, VG_USERREQ__DRD_GET_VALGRIND_THREAD_ID, 0, 0, 0, 0,
                                           0) != 0;
}

/* Each tool ignores the requests of the other. Where valgrind does not exist, its macros use none of
   their arguments. */
#define TELL(helgrind_request, drd_request, argument, bytes)                             \
    do {                                                                                 \
        (void)(argument), (void)(bytes);                                                 \
        if (tool == HELGRIND)                                                            \
            VALGRIND_DO_CLIENT_REQUEST_STMT(helgrind_request, argument, bytes, 0, 0, 0); \
        else if (tool == DRD)                                                            \
            VALGRIND_DO_CLIENT_REQUEST_STMT(drd_request, argument, bytes, 0, 0, 0);      \
    } while (0)
#else
#define is_helgrind() false
#define is_drd() false
#define TELL(helgrind_request, drd_request, argument, bytes) ((void)(argument), (void)(bytes))
#endif

/* Before the constructors of the program, which may create schedulers. */
static __attribute__((constructor(101))) void find_tool(void) {
    if (has_tsan())
        tool = TSAN;
    else if (is_helgrind())
        tool = HELGRIND;
    else if (is_drd())
        tool = DRD;
    htw__annotated = tool != NO_TOOL;
}

void htw__annotate_hand_over(const volatile void *object) {
    if (tool == TSAN)
        TSAN_HAPPENS_BEFORE(object);
    else
        TELL(_VG_USERREQ__HG_USERSO_SEND_PRE, VG_USERREQ__DRD_ANNOTATE_HAPPENS_BEFORE, object, 0);
}

void htw__annotate_take_over(const volatile void *object) {
    if (tool == TSAN)
        TSAN_HAPPENS_AFTER(object);
    else
        TELL(_VG_USERREQ__HG_USERSO_RECV_POST, VG_USERREQ__DRD_ANNOTATE_HAPPENS_AFTER, object, 0);
}

void htw__annotate_own(const volatile void *address, size_t bytes) {
    TELL(_VG_USERREQ__HG_ARANGE_MAKE_UNTRACKED, VG_USERREQ__DRD_START_SUPPRESSION, address, bytes);
}

/* For ThreadSanitizer malloc() and free() write to the block. (DRD knows no order by an address at
   which there is a mutex, as there may be in a block. It needs none.) */
void htw__annotate_allocated(const volatile void *memory, size_t bytes) {
    if (tool == TSAN)
        TSAN_HAPPENS_BEFORE(memory);
    else
        htw__annotate_own(memory, bytes);
}

void htw__annotate_released(const volatile void *memory, size_t bytes) {
    if (tool == TSAN)
        TSAN_HAPPENS_AFTER(memory);
    else
        TELL(_VG_USERREQ__HG_ARANGE_MAKE_TRACKED, VG_USERREQ__DRD_FINISH_SUPPRESSION, memory,
             bytes);
}

void htw__annotate_mapped(const void *memory, size_t bytes) {
    LSAN_REGISTER(memory, bytes);
}

void htw__annotate_unmapped(const void *memory, size_t bytes) {
    LSAN_UNREGISTER(memory, bytes);
}

void htw__annotate_ignore(bool begin) {
    if (tool == TSAN)
        tsan_ignore(begin);
}

#endif
