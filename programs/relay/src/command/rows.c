/* SPDX-License-Identifier: MIT */
/* rows.c - prints records that wait. */
#include "rows.h"

#include "../../../kit/times.h"
#include "../../../kit/json.h"
#include "../../../kit/visible.h"

#include <inttypes.h>

#define VALUE_COLUMNS 40
#define ALL_COLUMNS SIZE_MAX

const char *htw__rows_moment(int64_t ms, char text[HTW__ROWS_MOMENT_SIZE]) {
    htw__instant_format(ms / 1000, ms % 1000 * HTW_MILLISECOND, text);
    return text;
}

static void print_bytes(struct htw__bytes bytes, size_t columns) {
    htw__text_print_or_dash(bytes.bytes, bytes.size, columns);
}

void htw__rows_print_head(void) {
    printf("%-27s %9s  %s  %s  %s\n", "TIME", "BYTES", "ID", "DESTINATION", "[KEY] VALUE");
}

/* What becomes of it, if that is not what it says itself. */
static void print_fate(const struct htw__waiting *row) {
    if (row->request.recurs)
        fputs("; comes again", stdout);
    if (row->request.is_letter)
        fputs("; a dead letter that was refused", stdout);
}

static void print_row(const struct htw__waiting *row, size_t columns) {
    char text[HTW__ROWS_MOMENT_SIZE];
    printf("%-27s %9zu  ", htw__rows_moment(row->key.wanted_ms, text), row->record->value.size);
    print_bytes(row->request.id, ALL_COLUMNS);
    fputs("  ", stdout);
    print_bytes(row->request.to, ALL_COLUMNS);
    fputs("  ", stdout);
    if (row->record->key.bytes != NULL) {
        putchar('[');
        print_bytes(row->record->key, columns / 2);
        fputs("] ", stdout);
    }
    print_bytes(row->record->value, columns);
    print_fate(row);
    putchar('\n');
}

void htw__rows_print(const struct htw__waiting *row) {
    print_row(row, VALUE_COLUMNS);
}

void htw__rows_print_all(const struct htw__waiting *row) {
    print_row(row, ALL_COLUMNS);
    for (size_t i = 0; i < row->record->header_count; i++) {
        const struct htw__header *header = &row->record->headers[i];
        if (htw__request_is_written(header))
            continue;
        fputs("    ", stdout);
        print_bytes(header->name, ALL_COLUMNS);
        putchar('=');
        print_bytes(header->value, ALL_COLUMNS);
        putchar('\n');
    }
}

static void write_bytes(struct htw__json *json, const char *name, struct htw__bytes bytes) {
    htw__json_bytes(json, name, bytes.bytes, bytes.size);
}

static void write_headers(struct htw__json *json, const struct htw__relay_record *record) {
    htw__json_begin(json, "headers", '[');
    for (size_t i = 0; i < record->header_count; i++) {
        if (htw__request_is_written(&record->headers[i]))
            continue;
        htw__json_begin(json, NULL, '{');
        write_bytes(json, "name", record->headers[i].name);
        write_bytes(json, "value", record->headers[i].value);
        htw__json_end(json, '}');
    }
    htw__json_end(json, ']');
}

void htw__rows_print_json(FILE *out, const struct htw__waiting *row) {
    struct htw__json json = { .out = out };
    char text[HTW__ROWS_MOMENT_SIZE], print[24];
    snprintf(print, sizeof(print), "@%016" PRIx64, row->key.print);
    htw__json_begin(&json, NULL, '{');
    write_bytes(&json, "id", row->request.id);
    htw__json_word(&json, "print", print);
    htw__json_word(&json, "time", htw__rows_moment(row->key.wanted_ms, text));
    htw__json_exact(&json, "time_ms", row->key.wanted_ms);
    write_bytes(&json, "to", row->request.to);
    if (row->from.level == HTW__RELAY_INPUT)
        htw__json_null(&json, "level");
    else
        htw__json_number(&json, "level", row->from.level);
    htw__json_number(&json, "stripe", row->from.stripe);
    htw__json_bool(&json, "letter", row->request.is_letter);
    htw__json_bool(&json, "recurs", row->request.recurs);
    write_headers(&json, row->record);
    write_bytes(&json, "key", row->record->key);
    htw__json_number(&json, "size", row->record->value.size);
    write_bytes(&json, "value", row->record->value);
    htw__json_end(&json, '}');
    putc('\n', out);
}
