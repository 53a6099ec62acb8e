/* SPDX-License-Identifier: MIT */
/*
 * command_line.h - the options of a command, in a table that both reads and explains them.
 *
 * A command describes its options once, as rows; --help and --version are options of each. What follows the
 * options, and whether they go together, the command looks at itself, from `optind` on.
 */
#ifndef HTW_KIT_COMMAND_LINE_H
#define HTW_KIT_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The exit statuses, which --help explains. */
enum htw__status {
    HTW__EXIT_FAILED = 1,   /* a line was bad, or reading or writing failed */
    HTW__EXIT_USAGE = 2,    /* the command line is wrong */
    HTW__EXIT_UNSAVED = 3,  /* --unreleased: what was not released is not in FILE */
    HTW__EXIT_SIGNAL = 128, /* and the number of the signal */
};

struct htw__option;

/* Takes the argument of an option; false when it is wrong, and then has said why. */
typedef bool htw__setter(const struct htw__option *option, void *member, const char *argument);

struct htw__option {
    char letter; /* 0: none */
    const char *name;
    /* What the help calls it; NULL: there is none; [=NAME]: it may be missing, and is not set then. */
    const char *argument;
    htw__setter *set;
    size_t offset, size;       /* of the member that is set: HTW__OPTION_AT */
    const char *help;          /* its lines */
    uint64_t least, most;      /* of numbers, and of times in nanoseconds; `most` 0: any */
    const char *range;         /* of times, in words; NULL: any */
    const char *const *choice; /* of set_choice: the words, and NULL */
    size_t also;               /* the offset of a bool that becomes true, too; 0: none */
};

/* A member of a row. */
#define HTW__OPTION_AT(type, member) offsetof(type, member), sizeof(((type *)0)->member)

/* A bool; a string, any or not empty; the name of a file, which is neither empty nor `-`. */
htw__setter htw__set_flag, htw__set_word, htw__set_name, htw__set_path;

/* A number of 32 or 64 bits; one that is a power of two; one of bytes, which may end in K, M or G. */
htw__setter htw__set_number, htw__set_power, htw__set_size;

/* Nanoseconds, in 64 bits: of a duration; since 1970, of an instant, which may begin with an at sign. */
htw__setter htw__set_duration, htw__set_instant;

/* An enumeration of which `choice` has the words, from 0; the separator of records: NUL. */
htw__setter htw__set_choice, htw__set_null;

/* Says why an argument is wrong; returns false. */
bool htw__option_refuse(const struct htw__option *option, const char *why, const char *argument);

/* Options of commands that have a wheel. */
#define HTW__OPTION_TICK(type, member, text)                                      \
    {                                                                             \
        't', "tick", "DURATION", htw__set_duration, HTW__OPTION_AT(type, member), \
            .help = (text), .least = 1, .most = HTW_DAY, .range = "1ns to 1d"     \
    }
#define HTW__OPTION_WHEEL_SIZE(type, member)                                        \
    {                                                                               \
        'w', "wheel-size", "N", htw__set_power, HTW__OPTION_AT(type, member),       \
            .help = "buckets a level: a power of two from 2 to 4096 (default 256)", \
            .least = HTW_WHEEL_SIZE_MIN, .most = HTW_WHEEL_SIZE_MAX                 \
    }

struct htw__command_line {
    const char *program;       /* `htw delay` */
    const char *usage;         /* its lines */
    const char *about, *notes; /* the help before and after the options, in lines */
    const struct htw__option *options;
    size_t option_count;
};

/* What the arguments ask for. */
enum htw__wish {
    HTW__WISH_RUN,
    HTW__WISH_HELP,
    HTW__WISH_VERSION,
    HTW__WISH_WRONG /* the error was printed */
};

/* Sets what the options say in `values`. From now on error messages begin with the name of the program. */
enum htw__wish htw__command_line_read(const struct htw__command_line *line, int argc, char *argv[],
                                      void *values);

/* Prints how the command is used, after an error. */
enum htw__wish htw__command_line_complain(const struct htw__command_line *line);

/* Does what is asked for other than to run; returns the exit status. */
int htw__command_line_answer(const struct htw__command_line *line, enum htw__wish wish);

/* Prints the name and the version, and in further lines how the program was built. 0, or the exit status
   after a failure, which was reported. */
int htw__version_print(const char *program);

#endif /* HTW_KIT_COMMAND_LINE_H */
