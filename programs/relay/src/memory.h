/* SPDX-License-Identifier: MIT */
/*
 * memory.h - memory, or the end of the process.
 *
 * librdkafka ends a process that has no memory, and a relay may end at any moment: another one takes over. So nothing here
 * goes on without.
 */
#ifndef HTW_RELAY_MEMORY_H
#define HTW_RELAY_MEMORY_H

#include <stddef.h>

/* Memory that is zero. */
void *htw__memory(size_t size);

/* Makes room for `count` items in all. What is new is zero. */
void *htw__memory_reserve(void *items, size_t count, size_t *room, size_t item_size);

/* There is none. */
_Noreturn void htw__memory_end(void);

#endif /* HTW_RELAY_MEMORY_H */
