/* SPDX-License-Identifier: MIT */
/* beside.c - the path of the socket beside the file of a journal. */
#include "beside.h"

#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int htw__beside_open(struct htw__beside *self, const char *file) {
    char real[PATH_MAX];
    self->folder = -1;
    if (realpath(file, real) == NULL)
        return -errno;
    char *slash = strrchr(real, '/');
    *slash = '\0';
    self->folder = open(slash == real ? "/" : real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (self->folder < 0)
        return -errno;
    int length = snprintf(self->path, sizeof(self->path), "/proc/self/fd/%d/%s-socket",
                          self->folder, slash + 1);
    return length < 0 || (size_t)length > HTW__PLACE_PATH_MAX ? -ENAMETOOLONG : 0;
}

void htw__beside_close(struct htw__beside *self) {
    if (self->folder >= 0)
        close(self->folder);
    self->folder = -1;
}
