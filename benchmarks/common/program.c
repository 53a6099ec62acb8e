/* SPDX-License-Identifier: MIT */
/* program.c - main() of the measuring programs, and their command line. */
#include "program.h"

#include <dlfcn.h>
#include <getopt.h>
#include <gnu/libc-version.h>

#define OPTIONS_MAX 32

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* What getopt_long() returns; an option of the table adds its index to the last. */
enum { WORKLOAD = 1, BUILD, HELP, PEER, PLUGIN, FIRST_OF_TABLE };

struct given given;

void options_wrong(const char *what, const char *value) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, value);
    exit(2);
}

/* Of a list of things that begin with a struct named. */
static void print_names(const char *section, const void *const *list) {
    printf("\n%s:\n", section);
    for (; *list != NULL; list++) {
        const struct named *named = *list;
        printf("  %-14s %s\n", named->name, named->about);
    }
}

static void print_help(void) {
    printf("usage: %s --workload NAME [OPTION]...\n\noptions:\n", program_invocation_short_name);
    if (program.peers != NULL)
        puts("  --peer         one of the list below\n"
             "  --plugin       a shared object with more of them; may be repeated");
    for (const struct bench_option *option = program.table; option->name != NULL; option++) {
        printf("  --%-12s ", option->name);
        if (option->of != NULL)
            printf("(%s) ", option->of);
        puts(option->about);
    }
    print_names("workloads", (const void *const *)program.workloads);
    if (program.peers != NULL)
        print_names("peers", program.peers);
}

static void print_build(void) {
    printf("%s %s, glibc %s\n", COMPILER, BENCH_FLAGS, gnu_get_libc_version());
}

static const void *find(const void *const *list, const char *name) {
    for (; *list != NULL; list++)
        if (strcmp(((const struct named *)*list)->name, name) == 0)
            return *list;
    return NULL;
}

/* A plugin defines `bench_plugins`: a list as program.peers. */
static void load(const char *path) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* never closed */
    if (object == NULL)
        options_wrong(path, dlerror());
    const void *const *more = dlsym(object, "bench_plugins");
    size_t count = 0;
    while (program.peers[count] != NULL)
        count++;
    for (; more != NULL && *more != NULL && count < PEERS_MAX - 1; more++)
        if (find(program.peers, ((const struct named *)*more)->name) == NULL)
            program.peers[count++] = *more;
    if (more == NULL || *more != NULL)
        options_wrong(path, more == NULL ? "it does not define bench_plugins" : "too many peers");
}

static double parse_number(const struct bench_option *option, const char *text) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    bool is_whole = option->count == NULL || value == (double)(int64_t)value;
    if (end != text && *end == '\0' && errno == 0 && value >= option->low &&
        value <= option->high && is_whole)
        return value;
    char what[100];
    snprintf(what, sizeof(what), "--%s: not a%s number from %g to %g", option->name,
             option->count != NULL ? " whole" : "", option->low, option->high);
    options_wrong(what, text);
}

static void set(struct bench_option *option, const char *text) {
    option->is_given = true;
    if (option->flag != NULL) {
        *option->flag = true;
    } else if (option->text != NULL) {
        *option->text = text;
    } else if (option->count != NULL) {
        *option->count = (uint64_t)parse_number(option, text);
    } else if (option->number != NULL) {
        *option->number = parse_number(option, text);
    } else {
        const char *wrong = option->set(text);
        if (wrong != NULL)
            options_wrong(wrong, text);
    }
}

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (; *words != '\0'; words += strspn(words, " ")) {
        size_t span = strcspn(words, " ");
        if (span == length && strncmp(words, word, length) == 0)
            return true;
        words += span;
    }
    return false;
}

static void refuse_unused(const char *workload) {
    for (const struct bench_option *option = program.table; option->name != NULL; option++)
        if (option->is_given && option->of != NULL && !has_word(option->of, workload)) {
            char what[100];
            snprintf(what, sizeof(what), "--%s: not an option of the workload", option->name);
            options_wrong(what, workload);
        }
}

static void list_for_getopt(struct option *ret_options) {
    *ret_options++ = (struct option) { "workload", required_argument, NULL, WORKLOAD };
    *ret_options++ = (struct option) { "build", no_argument, NULL, BUILD };
    *ret_options++ = (struct option) { "help", no_argument, NULL, HELP };
    if (program.peers != NULL) {
        *ret_options++ = (struct option) { "peer", required_argument, NULL, PEER };
        *ret_options++ = (struct option) { "plugin", required_argument, NULL, PLUGIN };
    }
    for (int i = 0; program.table[i].name != NULL; i++) {
        int has_argument = program.table[i].flag != NULL ? no_argument : required_argument;
        *ret_options++ =
            (struct option) { program.table[i].name, has_argument, NULL, FIRST_OF_TABLE + i };
    }
}

/* Names are looked up in the end: a plugin may come after the peer that it has. */
static void read_names(const char *workload, const char *peer) {
    if (workload == NULL)
        options_wrong("--workload is missing", "--help lists the workloads");
    given.workload = find((const void *const *)program.workloads, workload);
    if (given.workload == NULL)
        options_wrong("no such workload", workload);
    refuse_unused(workload);
    if (program.peers == NULL)
        return;
    if (peer == NULL)
        options_wrong("--peer is missing", "--help lists the peers");
    given.peer = find(program.peers, peer);
    if (given.peer == NULL)
        options_wrong("no such peer", peer);
}

static void read_options(int argc, char **argv) {
    struct option options[OPTIONS_MAX] = { 0 };
    list_for_getopt(options);
    const char *workload = NULL, *peer = NULL;
    bool is_help_wanted = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == '?')
            exit(2); /* getopt has said what is wrong */
        if (option >= FIRST_OF_TABLE)
            set(&program.table[option - FIRST_OF_TABLE], optarg);
        else if (option == WORKLOAD)
            workload = optarg;
        else if (option == PEER)
            peer = optarg;
        else if (option == PLUGIN)
            load(optarg);
        else if (option == HELP)
            is_help_wanted = true; /* later: a plugin may add to the list */
        else
            print_build();
        if (option == BUILD)
            exit(0);
    }
    if (optind != argc)
        options_wrong("not an option", argv[optind]);
    if (is_help_wanted) {
        print_help();
        exit(0);
    }
    read_names(workload, peer);
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    const struct workload *workload = given.workload;
    bool is_fewer = given.is_quick && workload->quick_count > 0;
    given.count = is_fewer ? workload->quick_count : workload->count;
    if (given.seconds == 0)
        given.seconds = workload->seconds / (given.is_quick ? program.quick : 1);
    if (given.warmup == 0)
        given.warmup = given.is_quick ? program.quick_warmup : program.warmup;
    workload->run(program.read());
    report_end();
}
