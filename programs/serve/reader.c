/* SPDX-License-Identifier: MIT */
/* reader.c - threads that read the journal for commands which only look. */
#include "reader.h"

#include <errno.h>

/* Of bodies that the loop has not yet taken: then a reader waits. */
#define READ_MAX ((size_t)256 << 10)

/* NULL: it is over. */
static struct htw__operation *take(struct htw__serve_reader *reader) {
    pthread_mutex_lock(&reader->mutex);
    while (!reader->is_over && (reader->first == NULL || reader->bytes >= READ_MAX))
        pthread_cond_wait(&reader->changed, &reader->mutex);
    struct htw__operation *operation = reader->first;
    if (operation != NULL && (reader->first = operation->next_done) == NULL)
        reader->last = &reader->first;
    pthread_mutex_unlock(&reader->mutex);
    return operation;
}

static void *run(void *context) {
    struct htw__operation *operation;
    while ((operation = take(context)) != NULL)
        operation->read(operation);
    return NULL;
}

static void init(struct htw__serve_reader *reader) {
    pthread_mutex_init(&reader->mutex, NULL);
    pthread_cond_init(&reader->changed, NULL);
    reader->last = &reader->first;
}

static void fini(struct htw__serve_reader *reader) {
    pthread_mutex_lock(&reader->mutex);
    reader->is_over = true;
    pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
    if (reader->has_begun)
        pthread_join(reader->thread, NULL);
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->mutex);
}

void htw__readers_init(struct htw__server *server) {
    init(&server->of_jobs);
    init(&server->of_tubes);
}

void htw__readers_fini(struct htw__server *server) {
    fini(&server->of_jobs);
    fini(&server->of_tubes);
}

int htw__reader_add(struct htw__operation *operation) {
    struct htw__serve_reader *reader = operation->reader;
    operation->next_done = NULL;
    pthread_mutex_lock(&reader->mutex);
    if (!reader->has_begun)
        reader->has_begun = pthread_create(&reader->thread, NULL, run, reader) == 0;
    bool has_begun = reader->has_begun;
    if (has_begun) {
        *reader->last = operation;
        reader->last = &operation->next_done;
        pthread_cond_signal(&reader->changed);
    }
    pthread_mutex_unlock(&reader->mutex);
    return has_begun ? 0 : -ENOMEM;
}

void htw__reader_post(struct htw__operation *operation, int result) {
    struct htw__serve_reader *reader = operation->reader;
    if (operation->found != NULL) {
        operation->read_bytes = operation->found->size;
        pthread_mutex_lock(&reader->mutex);
        reader->bytes += operation->read_bytes;
        pthread_mutex_unlock(&reader->mutex);
    }
    htw__operation_post(operation, result);
}

void htw__reader_release(struct htw__operation *operation) {
    struct htw__serve_reader *reader = operation->reader;
    if (operation->read_bytes == 0)
        return;
    pthread_mutex_lock(&reader->mutex);
    reader->bytes -= operation->read_bytes;
    if (reader->bytes < READ_MAX)
        pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
}
