/* SPDX-License-Identifier: MIT */
/* actions.c - `htw relay list`, `show`, `cancel` and `move`: what waits, read from the topics and changed by records. */
#include "actions.h"

#include "../../../../src/base/clock.h"
#include "../change.h"
#include "../scan.h"
#include "../../../kit/json.h"
#include "../../../kit/command_line.h"
#include "../../../kit/terminal.h"
#include "rows.h"

#include <errno.h>
#include <inttypes.h>

/* How long a relay may take to read a change: it may be busy, or just starting. */
#define AWAIT_MS 20000

/* More records of one id are not told one by one. */
#define ALIKE_MAX 20

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

/* ---- show */

static int find(struct htw__kafka *kafka, struct htw__bytes id, struct htw__waiting_page *page) {
    struct htw__waiting_filter filter = HTW__WAITING_ALL;
    filter.id = id;
    htw__waiting_page_init(page, &filter, ALIKE_MAX);
    int result = htw__scan(kafka, 0, add_to_page, NULL, page);
    htw__waiting_page_end(page);
    return result < 0 ? result : 0;
}

/* ---- cancel and move */

/* By enum htw__change; of what is sure, what it was. */
static const char *const states[][2] = {
    [HTW__CHANGE_SURE] = { "sure", NULL },
    [HTW__CHANGE_LATE] = { "late", "this may have come too late: the record is due too soon" },
    [HTW__CHANGE_UNREAD] = { "unread",
                             "sent, and no relay has read it yet: it counts if one does in time" },
};

static void report(const struct htw__waiting *victim, const struct htw__relay_command *command,
                   enum htw__change state) {
    char time[HTW__ROWS_MOMENT_SIZE];
    if (command->json) {
        struct htw__json json = { .out = command->out };
        htw__json_begin(&json, NULL, '{');
        htw__json_bytes(&json, "id", victim->request.id.bytes, victim->request.id.size);
        htw__json_exact(&json, "time_ms", victim->key.wanted_ms);
        htw__json_word(&json, "state", states[state][0]);
        htw__json_end(&json, '}');
        putc('\n', command->out);
        return;
    }
    htw__rows_print_id(victim);
    printf(", due at %s: %s\n", htw__rows_moment(victim->key.wanted_ms, time),
           state != HTW__CHANGE_SURE            ? states[state][1]
           : command->action == HTW__RELAY_MOVE ? "moved"
                                                : "cancelled");
}

/* Why it cannot be changed; NULL: it can. */
static const char *why_not(const struct htw__waiting_page *page) {
    const struct htw__waiting *victim = &page->rows[0];
    if (page->count > 1)
        return "several records have this id; list prints them, and @ and its digits names one of "
               "them";
    if (victim->request.id.bytes == NULL)
        return "this record has no htw-id, so it cannot be changed";
    if (victim->request.is_letter)
        return "this record is a dead letter";
    return NULL;
}

/* Others may have changed the record after it was found, so that a move does not count (htw-if-offset): then what was sent is not
 * what waits. What is due has perhaps been delivered already. Returns 1: it counts, 0: it does not, or -errno. */
static int has_counted(struct htw__kafka *kafka, const struct htw__relay_command *command,
                       const struct htw__waiting *victim, int64_t offset) {
    struct htw__waiting_page page;
    int error = find(kafka, victim->request.id, &page);
    bool is_found = command->to_ms <= htw__clock_realtime_ms();
    for (size_t i = 0; i < page.count; i++)
        is_found = is_found || (page.rows[i].from.stripe == victim->from.stripe &&
                                htw__change_offset(&page.rows[i]) == offset);
    htw__waiting_page_fini(&page);
    return error != 0 ? error : is_found;
}

static enum htw__relay_result change(struct htw__kafka *kafka,
                                     const struct htw__relay_command *command,
                                     const struct htw__waiting *victim, const char **ret_why) {
    int64_t offset;
    bool moves = command->action == HTW__RELAY_MOVE;
    if (htw__change_send(kafka, victim, moves ? command->to_ms : 0, &offset) != 0)
        return HTW__RELAY_FAILED;
    enum htw__change state = htw__change_await(kafka, victim, offset, AWAIT_MS);
    int counts =
        moves && state == HTW__CHANGE_SURE ? has_counted(kafka, command, victim, offset) : 1;
    *ret_why = "not moved: it was changed at the same time";
    if (counts <= 0)
        return counts < 0 ? HTW__RELAY_FAILED : HTW__RELAY_REFUSED;
    report(victim, command, state);
    return state == HTW__CHANGE_SURE ? HTW__RELAY_DONE : HTW__RELAY_UNSURE;
}

/* ---- all */

static enum htw__relay_result do_one(struct htw__kafka *kafka,
                                     const struct htw__relay_command *command, const char *id,
                                     char reason[HTW__RELAY_REASON_SIZE]) {
    struct htw__waiting_page page;
    enum htw__relay_result result = HTW__RELAY_DONE;
    if (find(kafka, htw__bytes_of(id), &page) != 0) {
        result = HTW__RELAY_FAILED;
    } else if (page.count == 0) {
        result = HTW__RELAY_MISSING;
        snprintf(reason, HTW__RELAY_REASON_SIZE, "%s: no record waits that has the id %s",
                 kafka->options.input, id);
    } else if (command->action == HTW__RELAY_SHOW) {
        for (size_t i = 0; i < page.count; i++)
            print_row(&page.rows[i], command);
    } else {
        const char *why = why_not(&page);
        result = why == NULL ? change(kafka, command, &page.rows[0], &why) : HTW__RELAY_REFUSED;
        if (result == HTW__RELAY_REFUSED)
            snprintf(reason, HTW__RELAY_REASON_SIZE, "%s: %s", id, why);
    }
    htw__waiting_page_fini(&page);
    return result;
}

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
