/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - declares to helgrind what C11 atomics do.
 *
 * helgrind knows the locks of pthreads. It takes atomic operations for plain reads and writes: each
 * looks like a race, and orders nothing. These macros declare which atomics are a lock or publish
 * something. Without the build option `valgrind` they do nothing; with it they cost a few
 * instructions outside valgrind.
 */
#ifndef HTW_SRC_BASE_ANNOTATE_H
#define HTW_SRC_BASE_ANNOTATE_H

#ifdef HTW_VALGRIND
#include <valgrind/helgrind.h>

/* `lock` is the address of a lock that one thread holds at a time. Use CREATED before the first
   lock, ACQUIRED after each lock, RELEASED before each unlock, DESTROYED after the last. */
#define HTW__ANNOTATE_LOCK_CREATED(lock) ANNOTATE_RWLOCK_CREATE(lock)
#define HTW__ANNOTATE_LOCK_DESTROYED(lock) ANNOTATE_RWLOCK_DESTROY(lock)
#define HTW__ANNOTATE_LOCK_ACQUIRED(lock) ANNOTATE_RWLOCK_ACQUIRED(lock, 1)
#define HTW__ANNOTATE_LOCK_RELEASED(lock) ANNOTATE_RWLOCK_RELEASED(lock, 1)

/* Accesses to these bytes are atomic, so not races, until the memory is freed. */
#define HTW__ANNOTATE_ATOMIC(address, bytes) VALGRIND_HG_DISABLE_CHECKING(address, bytes)

/* What a thread did before BEFORE(object) is visible to a thread after its later AFTER(object).
   Use BEFORE before the store that publishes, AFTER after the load that has seen it. */
#define HTW__ANNOTATE_HAPPENS_BEFORE(object) ANNOTATE_HAPPENS_BEFORE(object)
#define HTW__ANNOTATE_HAPPENS_AFTER(object) ANNOTATE_HAPPENS_AFTER(object)

#else

#define HTW__ANNOTATE_LOCK_CREATED(lock) ((void)(lock))
#define HTW__ANNOTATE_LOCK_DESTROYED(lock) ((void)(lock))
#define HTW__ANNOTATE_LOCK_ACQUIRED(lock) ((void)(lock))
#define HTW__ANNOTATE_LOCK_RELEASED(lock) ((void)(lock))
#define HTW__ANNOTATE_ATOMIC(address, bytes) ((void)(address), (void)(bytes))
#define HTW__ANNOTATE_HAPPENS_BEFORE(object) ((void)(object))
#define HTW__ANNOTATE_HAPPENS_AFTER(object) ((void)(object))

#endif
#endif /* HTW_SRC_BASE_ANNOTATE_H */
