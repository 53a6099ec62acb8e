/* SPDX-License-Identifier: MIT */
/* test_commands.c - the broker's table of commands: sorted, without duplicates, and complete. */
#include "../src/command.h"

#include "../../../tests/unit/unit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_SIZE = 15 }; /* command.c copies names into 16 bytes */

static const struct command *find(const char *bytes, size_t size) {
    return command_find(&(struct resp_argument) { bytes, size });
}

UNIT_TEST(commands_are_sorted_and_occur_once) {
    for (size_t i = 1; i < command_count; i++) {
        const char *before = command_table[i - 1].name, *name = command_table[i].name;
        size_t before_size = strlen(before), size = strlen(name);
        if (size < before_size || (size == before_size && strcmp(before, name) >= 0))
            fail_msg("%s must not be after %s in command_table", name, before);
    }
}

UNIT_TEST(commands_in_any_case_are_found) {
    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;
        size_t size = strlen(name);
        char lower[NAME_MAX_SIZE + 1] = "";
        assert_in_range(size, 1, NAME_MAX_SIZE);
        for (size_t at = 0; at < size; at++) {
            assert_true(isupper((unsigned char)name[at]));
            lower[at] = (char)tolower((unsigned char)name[at]);
        }
        assert_ptr_equal(find(name, size), &command_table[i]);
        assert_ptr_equal(find(lower, size), &command_table[i]);
    }
}

UNIT_TEST(commands_of_other_names_are_not_found) {
    static const struct resp_argument others[] = {
        { "", 0 },        { "GE", 2 },        { "GETS", 4 },         { "GET\0", 4 },
        { "G\0T", 3 },    { "AAA", 3 },       { "ZZZ", 3 },          { "LPUSHIM", 7 },
        { "LPUSHIO", 7 }, { "FLUSHALLX", 9 }, { "\xff\xff\xff", 3 },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_null(command_find(&others[i]));
}

UNIT_TEST(commands_keys_lie_within_their_arguments) {
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];
        int least = abs(command->arity);
        int last = command->last_key < 0 ? least + command->last_key : command->last_key;
        assert_non_null(command->run);
        assert_in_range(least, 1, 16);
        assert_true(command_takes(command, (size_t)least));
        assert_false(command_takes(command, (size_t)least - 1));
        assert_int_equal(command_takes(command, (size_t)least + 1), command->arity < 0);
        if (command->first_key == 0) {
            assert_int_equal(command->last_key, 0);
        } else {
            assert_in_range(command->first_key, 1, least - 1);
            assert_in_range(last, command->first_key, least - 1);
        }
    }
}
