/* SPDX-License-Identifier: MIT */
/*
 * main.c - the program `htw-top`, which `htw top` runs: samples a program, and shows that on the
 * terminal, as text or as JSON.
 *
 * A key or a signal ends the wait for an answer: a program that does not answer does not make them wait.
 */
#include "fetch.h"
#include "find.h"
#include "options.h"
#include "screen.h"
#include "../../src/base/clock.h"
#include "../kit/signals.h"
#include "../kit/command_line.h"
#include "../kit/terminal.h"
#include "../kit/visible.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_LEAST_NS INT64_C(100000000)
#define INTERVAL_MOST_NS INT64_C(3600000000000)

struct top {
    struct htw__top_options options;
    char path[HTW__FIND_PATH_MAX];
    struct htw__view view;
    struct htw__fetch fetch;
    json_t *before, *now; /* answers; NULL: none yet */
    struct htw__page page;
    unsigned width;  /* of the page */
    int64_t next_ns; /* when the next sample is taken */
    bool is_paused;
    bool shows_help;
    char status[160];
};

/* ---- samples */

/* Lists cost the program more, and the other pages have none. */
static const char *request_of(const struct top *self) {
    return self->view.page == HTW__PAGE_OVERVIEW ? "json" : "json sites";
}

/* Whether the program has ended, or never was there: waiting for it is no use. */
static bool is_final(int error) {
    return error != -EAGAIN && error != -ETIMEDOUT && error != -ENOMEM && error != -EMFILE &&
           error != -ENFILE;
}

static int report(const struct top *self, const char *sentence) {
    char program[HTW__ANSWER_TEXT_SIZE];
    if (self->now != NULL)
        htw__terminal_error("%s (process %" PRIu64 "): %s",
                            htw__answer_text(self->now, "program", program),
                            htw__answer_number(self->now, "pid"), sentence);
    else
        htw__terminal_error("%s: %s", self->path, sentence);
    return HTW__EXIT_FAILED;
}

static bool is_number_same(const json_t *a, const json_t *b, const char *name) {
    return htw__answer_number(a, name) == htw__answer_number(b, name);
}

/* Takes the answer that is complete. NULL, or what is wrong with it. */
static const char *take_answer(struct top *self) {
    json_t *answer;
    const char *why = htw__answer_read(self->fetch.bytes, self->fetch.size, &answer);
    if (why != NULL)
        return why;
    /* Of another process, all counts begin anew. */
    bool is_same =
        is_number_same(self->now, answer, "pid") && is_number_same(self->now, answer, "opened_ns");
    json_decref(self->before);
    self->before = is_same ? self->now : NULL;
    if (!is_same)
        json_decref(self->now);
    self->now = answer;
    return NULL;
}

static void draw(struct top *self) {
    htw__page_clear(&self->page, self->width);
    htw__draw(&self->view, self->before, self->now, &self->page);
}

/* ---- text and JSON */

/* Returns 0, or an exit status. */
static int end_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (errno == EPIPE)
        return HTW__EXIT_SIGNAL + SIGPIPE;
    htw__terminal_error("standard output: %s", strerror(errno));
    return HTW__EXIT_FAILED;
}

/* Waits until it is time for the next sample. False: a signal came. */
static bool wait_for_next(struct top *self) {
    struct pollfd wanted = { .fd = htw__signals_fd(), .events = POLLIN };
    int64_t left_ns;
    while (htw__signals_stop() == 0 && (left_ns = self->next_ns - htw__clock_monotonic_ns()) > 0) {
        poll(&wanted, 1, (int)((left_ns + 999999) / 1000000));
        htw__signals_clear();
    }
    self->next_ns += self->options.interval_ns;
    return htw__signals_stop() == 0;
}

/* As it is, except that its strings cannot change the terminal. It is valid JSON: outside of strings, and only
 * there, are newlines, tabs and the like. */
static void print_answer(const struct htw__fetch *fetch) {
    const char *at = fetch->bytes, *end = at + fetch->size;
    char text[HTW__VISIBLE_JSON_MAX + 1];
    while (at < end) {
        if (strchr("\t\n\r", *at) != NULL && *at != '\0') {
            putchar(*at++);
            continue;
        }
        size_t size = htw__visible_take_json(&at, end, text);
        fwrite(text, 1, size, stdout);
    }
}

static int print_sample(struct top *self, bool is_first) {
    if (self->options.json) {
        print_answer(&self->fetch);
        return end_output();
    }
    if (is_first) /* there are no rates yet */
        return 0;
    draw(self);
    htw__page_print(&self->page, stdout);
    if (!self->options.once)
        putchar('\n');
    return end_output();
}

static int run_plain(struct top *self) {
    self->next_ns = htw__clock_monotonic_ns() + self->options.interval_ns;
    for (bool is_first = true;; is_first = false) {
        int error = htw__fetch_ask(&self->fetch, self->path, request_of(self), NULL);
        const char *why = error != 0 ? htw__fetch_sentence(error) : take_answer(self);
        if (why != NULL)
            return report(self, why);
        int status = print_sample(self, is_first);
        if (status != 0)
            return status;
        if (self->options.once && (self->options.json || !is_first))
            return 0;
        if (!wait_for_next(self))
            return HTW__EXIT_SIGNAL + htw__signals_stop();
    }
}

/* ---- the terminal */

static void draw_help(struct top *self) {
    htw__page_clear(&self->page, self->width);
    htw__page_flow_words(&self->page, htw__top_line.notes);
    htw__page_end_line(&self->page);
}

static void show(struct top *self) {
    char title[160], interval[HTW__FIGURE_SIZE];
    htw__figure_duration((uint64_t)self->options.interval_ns, interval);
    self->width = htw__screen_width();
    bool is_narrow = self->width < 60;
    bool is_sorted = self->view.page == HTW__PAGE_SITES;
    snprintf(title, sizeof(title), "%s%s  %s%s%s%s%s%s", is_narrow ? "" : "htw top ",
             htw__page_names[self->view.page], is_narrow ? "" : "every ", interval,
             is_sorted ? "  by " : "", is_sorted ? htw__sort_names[self->view.sort] : "",
             self->is_paused ? "  PAUSED" : "", is_narrow ? "  h help" : "    h help  q quit");
    if (self->shows_help)
        draw_help(self);
    else if (self->now != NULL)
        draw(self);
    htw__screen_show(title, &self->page, self->status);
}

static void change_interval(struct top *self, bool is_longer) {
    int64_t interval_ns = is_longer ? self->options.interval_ns * 2 : self->options.interval_ns / 2;
    if (interval_ns < INTERVAL_LEAST_NS)
        interval_ns = INTERVAL_LEAST_NS;
    if (interval_ns > INTERVAL_MOST_NS)
        interval_ns = INTERVAL_MOST_NS;
    self->options.interval_ns = interval_ns;
    self->next_ns = htw__clock_monotonic_ns() + interval_ns;
}

static void show_page(struct top *self, enum htw__page_kind page) {
    self->view.page = page;
    self->shows_help = false;
    self->next_ns = htw__clock_monotonic_ns(); /* what the page needs may not have been asked for */
}

/* The first line of an answer, without characters that are none. */
static void copy_line(const struct htw__fetch *fetch, char *line, size_t size) {
    size_t length = fetch->size < size - 1 ? fetch->size : size - 1;
    memcpy(line, fetch->bytes, length);
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    htw__answer_clean(line);
}

/* Does what the keys ask for. False: quit. */
static bool obey_keys(struct top *self) {
    int key;
    while ((key = htw__screen_key()) != HTW__KEY_NONE) {
        switch (key) {
        case 'q':
            return false;
        case 'h':
        case '?':
            self->shows_help = !self->shows_help;
            break;
        case HTW__KEY_ESCAPE:
            self->shows_help = false;
            break;
        case ' ':
        case 'p':
            self->is_paused = !self->is_paused;
            break;
        case 's':
            self->view.sort = (self->view.sort + 1) % HTW__SORT_COUNT;
            break;
        case '\t':
        case 'v':
            show_page(self, (self->view.page + 1) % HTW__PAGE_COUNT);
            break;
        case '+':
        case '-':
            change_interval(self, key == '+');
            break;
        default:
            if (key >= '1' && key < '1' + HTW__PAGE_COUNT)
                show_page(self, (enum htw__page_kind)(key - '1'));
        }
    }
    return true;
}

/* Takes a sample if it is time, unless a key or a signal comes before. NULL, or why there can be none any more. */
static const char *take_sample(struct top *self) {
    const int wakes[] = { htw__signals_fd(), STDIN_FILENO };
    if (self->is_paused || htw__clock_monotonic_ns() < self->next_ns)
        return NULL;
    int error = htw__fetch_ask(&self->fetch, self->path, request_of(self), wakes);
    if (error == -ECANCELED)
        return NULL;
    const char *why = error != 0 ? htw__fetch_sentence(error) : take_answer(self);
    snprintf(self->status, sizeof(self->status), "%s", why == NULL ? "" : why);
    self->next_ns = htw__clock_monotonic_ns() + self->options.interval_ns;
    return error != 0 && !is_final(error) ? NULL : why;
}

static int timeout_ms(const struct top *self) {
    int64_t left_ns = self->next_ns - htw__clock_monotonic_ns();
    if (self->is_paused)
        return -1;
    return left_ns <= 0 ? 0 : (int)((left_ns + 999999) / 1000000);
}

/* The exit status. `*ret_why` receives why the program cannot be watched any more. */
static int loop(struct top *self, const char **ret_why) {
    struct pollfd wanted[] = { { .fd = htw__signals_fd(), .events = POLLIN },
                               { .fd = STDIN_FILENO, .events = POLLIN } };
    for (;;) {
        show(self);
        *ret_why = take_sample(self);
        if (*ret_why != NULL)
            return HTW__EXIT_FAILED;
        show(self);
        poll(wanted, 2, timeout_ms(self));
        htw__signals_clear();
        if (htw__signals_stop() != 0)
            return HTW__EXIT_SIGNAL + htw__signals_stop();
        if (!obey_keys(self))
            return 0;
        if ((wanted[1].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
            return HTW__EXIT_SIGNAL + SIGHUP; /* the terminal has gone */
    }
}

static int run_on_terminal(struct top *self) {
    const char *no_colour = getenv("NO_COLOR");
    const char *why = NULL;
    if (!htw__screen_open(no_colour == NULL || *no_colour == '\0'))
        return run_plain(self);
    self->next_ns = htw__clock_monotonic_ns();
    int status = loop(self, &why);
    htw__screen_close();
    return why == NULL ? status : report(self, why);
}

/* ---- the start */

static int list(void) {
    char path[HTW__FIND_PATH_MAX];
    int count = htw__find_all(path, stdout);
    if (count < 0) {
        htw__terminal_error("the folder of the sockets: %s", strerror(-count));
        return HTW__EXIT_FAILED;
    }
    return end_output();
}

/* Finds the socket. 0, or an exit status. */
static int choose(struct top *self) {
    int count;
    if (self->options.program != NULL) {
        int error = htw__find_path(self->options.program, self->path);
        if (error != 0)
            htw__terminal_error("%s: %s", self->options.program, strerror(-error));
        return error == 0 ? 0 : HTW__EXIT_USAGE;
    }
    count = htw__find_all(self->path, NULL);
    if (count == 1)
        return 0;
    if (count < 0)
        htw__terminal_error("the folder of the sockets: %s", strerror(-count));
    else if (count == 0)
        htw__terminal_error("no program of this user can be watched: see htw top --help");
    else {
        list();
        htw__terminal_error("several programs can be watched: say which");
        return HTW__EXIT_USAGE;
    }
    return HTW__EXIT_FAILED;
}

/* Switches what is observed, and prints what is now. Returns an exit status. */
static int observe(struct top *self) {
    char request[HTW__FETCH_REQUEST_MAX + 1];
    int length = snprintf(request, sizeof(request), "observe * %s", self->options.observe);
    if (length >= (int)sizeof(request))
        return report(self, "too many words");
    for (char *c = request; *c != '\0'; c++)
        if (*c == ',')
            *c = ' ';
    int error = htw__fetch_ask(&self->fetch, self->path, request, NULL);
    if (error != 0)
        return report(self, htw__fetch_sentence(error));
    if (self->fetch.bytes[0] != '{') {
        copy_line(&self->fetch, self->status, sizeof(self->status));
        return report(self, self->status);
    }
    print_answer(&self->fetch);
    int status = end_output();
    bool is_refused = memmem(self->fetch.bytes, self->fetch.size, "\"error\":", 8) != NULL;
    return status == 0 && is_refused ? HTW__EXIT_FAILED : status;
}

/* As a terminal would say it; for text. */
static unsigned columns_wanted(void) {
    const char *columns = getenv("COLUMNS");
    long width = columns == NULL ? 0 : strtol(columns, NULL, 10);
    return width >= 20 && width <= 1000 ? (unsigned)width : 100;
}

/* Whether a terminal can show more than lines of text. */
static bool has_terminal(void) {
    const char *kind = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && kind != NULL && *kind != '\0' &&
           strcmp(kind, "dumb") != 0;
}

static int run(struct top *self) {
    const struct htw__top_options *options = &self->options;
    if (options->list)
        return list();
    int status = choose(self);
    if (status != 0)
        return status;
    int error = htw__signals_install();
    if (error != 0) {
        htw__terminal_error("cannot start: %s", strerror(-error));
        return HTW__EXIT_FAILED;
    }
    if (options->observe != NULL)
        return observe(self);
    self->view = (struct htw__view) {
        .page = options->page,
        .sort = options->sort,
        .is_ascii = options->is_ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
    };
    self->width = columns_wanted();
    return options->once || options->json || !has_terminal() ? run_plain(self)
                                                             : run_on_terminal(self);
}

int main(int argc, char *argv[]) {
    static struct top top;
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* numbers are for people and for programs alike */
    enum htw__wish wish = htw__top_options_parse(argc, argv, &top.options);
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&htw__top_line, wish);
    int status = run(&top);
    htw__fetch_end(&top.fetch);
    json_decref(top.before);
    json_decref(top.now);
    htw__page_free(&top.page);
    return status;
}
