/* SPDX-License-Identifier: MIT */
/* faults.c - what happens to the disk of the machine, and to SQLite's memory. */
#include "faults.h"

#include "../explore/disk.h"
#include "threads.h"
#include "world.h"

#include <sqlite3.h>

#define WRITE_NS (20 * HTW_MICROSECOND)
#define SYNC_NS (2 * HTW_MILLISECOND)
#define STALL_NS HTW_SECOND
#define SYNCS_TO_STALL 300u
#define ILL_EVERY_NS (8 * HTW_SECOND)

enum fault {
    FAULT_NONE,
    FAULT_WRITE,     /* a write fails */
    FAULT_TORN,      /* a write fails after a part, or after all of it */
    FAULT_FULL,      /* a write fails: the disk is full */
    FAULT_READ,      /* a read fails */
    FAULT_SYNC,      /* a sync fails */
    FAULT_SYNC_FILE, /* a sync of the database fails, not one of its log */
    FAULT_KINDS
};

static struct {
    bool are_on;
    int64_t from_ns;
    enum fault fault;
    unsigned passed,
        left; /* of the operations that it concerns: so many succeed first, and so many fail then */
} ill;

static void plan_illness(void) {
    ill.from_ns = machine_now_ns() + chance_ns(ILL_EVERY_NS);
    ill.fault = (enum fault)(1 + chance_below(FAULT_KINDS - 1));
    ill.passed = ill.fault == FAULT_SYNC_FILE ? 0 : (unsigned)chance_below(8);
    ill.left = 1 + (unsigned)chance_below(ill.fault == FAULT_FULL ? 40 : 3);
}

void faults_set(bool are_on) {
    ill.are_on = are_on;
    plan_illness();
}

static int64_t full_ns = -1; /* when it was last */

bool stage_disk_was_full_since(int64_t from_ns) {
    return full_ns >= from_ns;
}

/* Whether an operation that this fault concerns fails. */
static bool meets(enum fault fault) {
    if (!ill.are_on || machine_now_ns() < ill.from_ns || ill.fault != fault)
        return false;
    if (ill.passed > 0) {
        ill.passed--;
        return false;
    }
    if (--ill.left == 0)
        plan_illness();
    if (machine_now_ns() > failed_until_ns)
        failed_until_ns = machine_now_ns();
    if (fault == FAULT_FULL)
        full_ns = machine_now_ns();
    stage_note("disk fault", fault, 0);
    if (chance_one_in(2))
        threads_crash_soon();
    return true;
}

/* An operation takes some time, and the program may crash before and after it. */
static void take_time(int64_t mean_ns) {
    threads_interrupt();
    if (chance_one_in(2))
        stage_sleep_ns(chance_ns(mean_ns) / 4);
}

/* A disk that much else is written to. */
static void stall(void) {
    int64_t delay_ns = chance_ns(STALL_NS);
    stage_note("disk stalls", 0, delay_ns);
    if (machine_now_ns() + delay_ns > failed_until_ns)
        failed_until_ns = machine_now_ns() + delay_ns;
    stage_sleep_ns(delay_ns);
}

uint64_t disk_draw(uint64_t bound) {
    return chance_below(bound);
}

static enum disk_outcome write_outcome(void) {
    if (meets(FAULT_WRITE))
        return DISK_FAILS;
    if (meets(FAULT_FULL))
        return DISK_IS_FULL;
    return meets(FAULT_TORN) ? DISK_TEARS : DISK_WORKS;
}

static enum disk_outcome sync_outcome(bool is_database) {
    if (ill.are_on && chance_one_in(SYNCS_TO_STALL))
        stall();
    return meets(FAULT_SYNC) || (is_database && meets(FAULT_SYNC_FILE)) ? DISK_FAILS : DISK_WORKS;
}

enum disk_outcome disk_begin(enum disk_operation operation, bool is_database) {
    if (operation == DISK_READ)
        return meets(FAULT_READ) ? DISK_FAILS : DISK_WORKS;
    take_time(operation == DISK_SYNC || operation == DISK_SYNC_FOLDER ? SYNC_NS : WRITE_NS);
    switch (operation) {
    case DISK_WRITE:
        return write_outcome();
    case DISK_TRUNCATE:
        return meets(FAULT_WRITE) ? DISK_FAILS : DISK_WORKS;
    case DISK_SYNC:
        return sync_outcome(is_database);
    default:
        return DISK_WORKS;
    }
}

/* All of what was not synced, nothing, or some of it. */
static bool keeps(unsigned file, int64_t sector) {
    enum { KEEPS_ALL, KEEPS_NOTHING, KEEPS_SOME };
    static uint64_t kind;
    (void)file;
    if (sector < 0)
        kind = chance_below(3);
    return kind == KEEPS_ALL || (kind == KEEPS_SOME && chance_one_in(2));
}

void faults_cut_power(void) {
    static struct disk_image *image;
    if (image == NULL)
        image = disk_image_create();
    disk_keep(image, keeps);
    disk_restore(image);
}

/* ---- SQLite's memory */

static sqlite3_mem_methods system_memory;

static void *sqlite_allocate(int size) {
    return memory_fails() ? NULL : system_memory.xMalloc(size);
}

static void *sqlite_enlarge(void *memory, int size) {
    return memory_fails() ? NULL : system_memory.xRealloc(memory, size);
}

void faults_begin(void) {
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
    sqlite3_mem_methods memory = system_memory;
    memory.xMalloc = sqlite_allocate;
    memory.xRealloc = sqlite_enlarge;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    disk_register();
}
