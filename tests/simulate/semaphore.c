/* SPDX-License-Identifier: MIT */
/* semaphore.c - semaphores on the machine, by the names of the linker's --wrap: the journal's callers wait on them. */
#include "../explore/machine.h"

#include <semaphore.h>

/* In the memory of the semaphore. */
struct count {
    unsigned value;
};

_Static_assert(sizeof(struct count) <= sizeof(sem_t), "a semaphore has room");

static struct count *count_of(sem_t *semaphore) {
    return (struct count *)(void *)semaphore;
}

int __wrap_sem_init(sem_t *semaphore, int is_shared, unsigned value);
int __wrap_sem_init(sem_t *semaphore, int is_shared, unsigned value) {
    (void)is_shared;
    count_of(semaphore)->value = value;
    return 0;
}

int __wrap_sem_destroy(sem_t *semaphore);
int __wrap_sem_destroy(sem_t *semaphore) {
    (void)semaphore;
    return 0;
}

int __wrap_sem_post(sem_t *semaphore);
int __wrap_sem_post(sem_t *semaphore) {
    count_of(semaphore)->value++;
    machine_wake(semaphore, true);
    return 0;
}

int __wrap_sem_wait(sem_t *semaphore);
int __wrap_sem_wait(sem_t *semaphore) {
    struct count *count = count_of(semaphore);
    machine_step(semaphore, "waits for a semaphore", __builtin_return_address(0));
    while (count->value == 0)
        machine_wait(semaphore, MACHINE_NEVER, __builtin_return_address(0));
    count->value--;
    return 0;
}
