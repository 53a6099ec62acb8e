/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - tells helgrind what C11 atomics do.
 *
 * helgrind knows the locks of pthreads. Atomics are to it plain reads and writes, so that it
 * takes each for a race, and sees no order in what they order. Wherever they are a lock or hand
 * something over, one of these says so. They do nothing without the option `valgrind`, and with
 * it nothing outside valgrind but some instructions that cancel each other.
 */
#ifndef HTW_SRC_BASE_ANNOTATE_H
#define HTW_SRC_BASE_ANNOTATE_H

#ifdef HTW_VALGRIND
#include <valgrind/helgrind.h>

/* `lock` is the address of a lock that one thread holds at a time. CREATED before it is first
   acquired; ACQUIRED after it was; RELEASED before it is; DESTROYED while nobody holds it. */
#define HTW__ANNOTATE_LOCK_CREATED(lock) ANNOTATE_RWLOCK_CREATE(lock)
#define HTW__ANNOTATE_LOCK_DESTROYED(lock) ANNOTATE_RWLOCK_DESTROY(lock)
#define HTW__ANNOTATE_LOCK_ACQUIRED(lock) ANNOTATE_RWLOCK_ACQUIRED(lock, 1)
#define HTW__ANNOTATE_LOCK_RELEASED(lock) ANNOTATE_RWLOCK_RELEASED(lock, 1)

/* These bytes are atomic: accesses to them are no races. It holds until they are freed. */
#define HTW__ANNOTATE_ATOMIC(address, bytes) VALGRIND_HG_DISABLE_CHECKING(address, bytes)

/* What a thread did before BEFORE(object) is visible to who comes past AFTER(object) later:
   BEFORE stands before the store that publishes, AFTER after the load that has seen it. */
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
