/* SPDX-License-Identifier: MIT */
/* actions.c - `htw relay list`, `show`, `cancel` and `move`: what waits, read from the topics and changed by records. */
#include "actions.h"

#include "../ask.h"
#include "../scan.h"
#include "../../../kit/json.h"
#include "../../../kit/command_line.h"
#include "../../../kit/terminal.h"
#include "../../../kit/visible.h"
#include "rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- list */

static void add_to_page(void *context, struct htw__source from,
                        const struct htw__relay_record *record,
                        const struct htw__relay_request *request) {
    htw__waiting_page_add(context, from, record, request);
}

static void print_row(const struct htw__waiting *row, const struct htw__relay_command *command) {
    if (command->json)
        htw__rows_print_json(command->out, row);
    else if (command->action == HTW__RELAY_LIST)
        htw__rows_print(row);
    else
        htw__rows_print_all(row);
}

static void print_end(const struct htw__waiting_page *page, bool is_all,
                      const struct htw__relay_command *command) {
    char after[HTW__WAITING_KEY_SIZE];
    htw__waiting_key_format(&page->last, after);
    if (is_all && !command->json)
        printf("%" PRIu64 " in all\n", page->found);
    if (page->has_more)
        fprintf(command->out, command->json ? "{\"after\":\"%s\"}\n" : "more: --after %s\n", after);
}

static int list(struct htw__kafka *kafka, const struct htw__relay_command *command) {
    const struct htw__waiting_filter *filter = &command->filter;
    struct htw__waiting_page page;
    int64_t from_ms =
        filter->from_ms > filter->after.wanted_ms ? filter->from_ms : filter->after.wanted_ms;
    htw__waiting_page_init(&page, filter, command->limit);
    int result = htw__scan(kafka, from_ms, add_to_page, htw__waiting_page_is_full, &page);
    htw__waiting_page_end(&page);
    if (result >= 0 && !command->json)
        htw__rows_print_head();
    for (size_t i = 0; i < page.count && result >= 0; i++)
        print_row(&page.rows[i], command);
    if (result >= 0)
        print_end(&page, result > 0, command);
    htw__waiting_page_fini(&page);
    return result;
}

/* ---- show, cancel and move: an id */

/* What became of a cancel or a move. */
static const struct {
    const char *word, *sentence;
} states[] = {
    [HTW__REPLY_FOUND] = { "sure", "" },
    [HTW__REPLY_UNSURE] = { "unsure", ", perhaps too late: it is due now, or its relay has just "
                                      "started, or runs with --at-least-once" },
    [HTW__REPLY_SILENT] = { "unread", " if a relay reads this in time: none has answered yet" },
};

static enum htw__relay_result report(const struct htw__relay_command *command, const char *id,
                                     enum htw__reply reply) {
    bool moves = command->action == HTW__RELAY_MOVE;
    char time[HTW__ROWS_MOMENT_SIZE];
    struct htw__json json = { .out = command->out };
    if (command->json) {
        htw__json_begin(&json, NULL, '{');
        htw__json_text(&json, "id", id);
        if (moves)
            htw__json_exact(&json, "time_ms", command->to_ms);
        htw__json_word(&json, "state", states[reply].word);
        htw__json_end(&json, '}');
        putc('\n', command->out);
    } else {
        htw__text_print(stdout, id, strlen(id), SIZE_MAX);
        printf(": %s%s%s\n", moves ? "moved to " : "cancelled",
               moves ? htw__rows_moment(command->to_ms, time) : "", states[reply].sentence);
    }
    return reply == HTW__REPLY_FOUND ? HTW__RELAY_DONE : HTW__RELAY_UNSURE;
}

/* `moved` is the offset of what was to be moved; below 0: nothing was found. */
static enum htw__relay_result refuse(const struct htw__kafka *kafka, const char *id,
                                     const struct htw__answer *answer, int64_t moved,
                                     char reason[HTW__RELAY_REASON_SIZE]) {
    bool is_same = moved >= 0 && answer->offset == moved;
    snprintf(reason, HTW__RELAY_REASON_SIZE, "%s: %.300s: %s%s", kafka->options.input, id,
             moved < 0 ? "no record waits that has this id and this key"
             : is_same ? "not moved: it is due and may have been sent, or the dead letters say why"
                       : "not moved: it was changed or sent meanwhile",
             is_same || answer->is_sure ? "" : "; with --at-least-once this is not sure");
    return moved < 0 ? HTW__RELAY_MISSING : HTW__RELAY_REFUSED;
}

/* A relay has it. */
static enum htw__relay_result show_or_move(struct htw__kafka *kafka,
                                           const struct htw__relay_command *command, const char *id,
                                           struct htw__answer *answer, char *reason) {
    struct htw__waiting row = { 0 };
    int64_t offset = answer->offset;
    int found = htw__ask_fetch(kafka, answer, &row);
    enum htw__relay_result result = HTW__RELAY_DONE;
    if (found <= 0)
        return found < 0 ? HTW__RELAY_FAILED : refuse(kafka, id, answer, -1, reason);
    if (command->action == HTW__RELAY_SHOW) {
        print_row(&row, command);
    } else {
        const struct htw__question question = { *row.record, answer, command->to_ms };
        enum htw__reply reply = htw__ask(kafka, &question, answer);
        result = reply == HTW__REPLY_FAILED ? HTW__RELAY_FAILED
                 : reply == HTW__REPLY_SILENT || answer->is_done
                     ? report(command, id, reply)
                     : refuse(kafka, id, answer, offset, reason);
    }
    free((void *)(uintptr_t)row.record);
    return result;
}

static enum htw__relay_result do_one(struct htw__kafka *kafka,
                                     const struct htw__relay_command *command, const char *id,
                                     char reason[HTW__RELAY_REASON_SIZE]) {
    bool cancels = command->action == HTW__RELAY_CANCEL;
    const struct htw__header header = { htw__bytes_of(cancels ? "htw-cancel" : "htw-id"),
                                        htw__bytes_of(id) };
    const char *key = command->filter.key;
    const struct htw__question question = {
        .record = { .key = key == NULL ? (struct htw__bytes) { NULL, 0 } : htw__bytes_of(key),
                    .headers = &header,
                    .header_count = 1 }
    };
    struct htw__answer answer = { .is_sure = true };
    enum htw__reply reply = HTW__REPLY_NONE;
    if (header.value.size > 0 &&
        header.value.size <= HTW__RELAY_ID_MAX) /* a relay takes no other */
        reply = htw__ask(kafka, &question, &answer);
    if (reply == HTW__REPLY_NONE)
        return refuse(kafka, id, &answer, -1, reason);
    if (reply == HTW__REPLY_FAILED)
        return HTW__RELAY_FAILED;
    if (cancels)
        return report(command, id, reply);
    if (reply != HTW__REPLY_SILENT)
        return show_or_move(kafka, command, id, &answer, reason);
    htw__kafka_fail(kafka,
                    "%s: %.300s: partition %u has not answered: does a relay of this version run, "
                    "and has it the partition? list needs none",
                    kafka->options.input, id, answer.from.stripe);
    return HTW__RELAY_FAILED;
}

/* ---- all */

enum htw__relay_result htw__relay_do(struct htw__kafka *kafka,
                                     const struct htw__relay_command *command, const char *id,
                                     char reason[HTW__RELAY_REASON_SIZE]) {
    if (id != NULL)
        return do_one(kafka, command, id, reason);
    return list(kafka, command) >= 0 ? HTW__RELAY_DONE : HTW__RELAY_FAILED;
}

static bool act(struct htw__kafka *kafka, const struct htw__relay_command *command) {
    char reason[HTW__RELAY_REASON_SIZE];
    bool all = true;
    size_t i = 0;
    do {
        const char *id = command->id_count == 0 ? NULL : command->ids[i];
        enum htw__relay_result result = htw__relay_do(kafka, command, id, reason);
        if (result == HTW__RELAY_FAILED)
            return false;
        if (result == HTW__RELAY_MISSING || result == HTW__RELAY_REFUSED)
            htw__terminal_error("%s", reason);
        all = all && result == HTW__RELAY_DONE;
    } while (++i < command->id_count);
    return all;
}

int htw__relay_act(const struct htw__relay_command *command) {
    static struct htw__kafka kafka; /* large, and there is one */
    bool success = htw__kafka_open(&kafka, &command->kafka) == 0 && act(&kafka, command);
    if (kafka.has_failed)
        htw__terminal_error("%s", kafka.error);
    htw__kafka_close(&kafka);
    return htw__terminal_flush() && success ? 0 : HTW__EXIT_FAILED;
}
