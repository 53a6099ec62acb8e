/* SPDX-License-Identifier: MIT */
/* save.c - writes the output of `htw draw` and `htw replay` at once. */
#include "save.h"

#include "safe_file.h"
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>

int htw__save_begin(struct htw__save *save) {
    *save = (struct htw__save) { .stream = NULL };
    save->stream = open_memstream(&save->bytes, &save->size);
    return save->stream == NULL ? -errno : 0;
}

static int replace(const char *path, const char *bytes, size_t size) {
    static struct htw__safe_file file; /* too large for the stack */
    int error = htw__safe_file_open(&file, path);
    if (error == 0)
        error = htw__safe_file_put(&file, bytes, size);
    if (error == 0)
        error = htw__safe_file_commit(&file);
    if (error != 0 && file.temporary != NULL)
        htw__safe_file_remove(&file);
    htw__safe_file_close(&file);
    return error;
}

int htw__save_end(struct htw__save *save, const char *path, bool input_has_errors) {
    int error = ferror(save->stream) ? -ENOMEM : 0;
    if (fclose(save->stream) != 0)
        error = -ENOMEM;
    if (error == 0 && path != NULL && input_has_errors)
        htw__terminal_error("%s: not written, because of the errors of the input", path);
    else if (error == 0 && path != NULL)
        error = replace(path, save->bytes, save->size);
    else if (error == 0 &&
             (fwrite(save->bytes, 1, save->size, stdout) != save->size || fflush(stdout) != 0))
        error = errno == 0 ? -EIO : -errno;
    free(save->bytes);
    return error;
}
