/* SPDX-License-Identifier: MIT */
/*
 * image.h - saves and restores all that was allocated, by one copy.
 *
 * A search that goes on from a state in many ways must return to it. While the image is open, each
 * allocation of the program comes from one block of memory, the arena. To restore a state, its bytes
 * are copied back: every pointer in it holds again. What is released is not used again: histories are
 * short. The program is linked with `wraps` (tests/meson.build) for malloc() and its like.
 */
#ifndef TESTS_ENUMERATE_IMAGE_H
#define TESTS_ENUMERATE_IMAGE_H

#include <stddef.h>

/** The bytes of one state. */
struct image {
    unsigned char *bytes; /* zero at first */
    size_t count, capacity;
};

/** Releases all of the arena. */
void image_clear(void);

/** From now on, allocations come from the arena. */
void image_open(void);

/** From now on, allocations do not come from the arena; those that did stay valid. */
void image_close(void);

/** Copies the arena to an image, which grows where it must. */
void image_save(struct image *image);

/** Makes the arena what it was when the image was saved. */
void image_restore(const struct image *image);

/** Releases what an image holds. */
void image_fini(struct image *image);

#endif /* TESTS_ENUMERATE_IMAGE_H */
