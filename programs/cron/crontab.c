/* SPDX-License-Identifier: MIT */
/* crontab.c - what a crontab of the system says and `htw cron` does not do: `--check` warns of it. */
#include "cron.h"

#include <pwd.h>
#include <string.h>

#define BLANKS " \t"

/* Variables that cron itself obeys. */
static const struct {
    const char *name, *warning;
} variables[] = {
    { "MAILTO=", "MAILTO: no mail is sent; the output is that of this program" },
    { "HOME=", "HOME: commands start in the folder of this program" },
};
enum { VARIABLES = sizeof(variables) / sizeof(variables[0]) };

/* Whether the command begins with a user, as in /etc/crontab, and another command. */
static bool has_user(const char *command, char name[64]) {
    size_t size = strcspn(command, BLANKS);
    const char *rest = command + size + strspn(command + size, BLANKS);
    if (size >= 64 || *rest == '\0' || *rest == '-')
        return false;
    memcpy(name, command, size);
    name[size] = '\0';
    return getpwnam(name) != NULL;
}

void htw__cron_warn(const char *path, const struct htw__cron_job *jobs) {
    bool is_said[VARIABLES] = { false };
    char name[64];
    for (const struct htw__cron_job *job = jobs; job != NULL; job = job->next) {
        for (const char *text = job->text; *text != '\0'; text += strlen(text) + 1)
            for (size_t i = 0; i < VARIABLES; i++)
                if (!is_said[i] &&
                    strncmp(text, variables[i].name, strlen(variables[i].name)) == 0) {
                    htw__cron_complain(path, job->line, "warning: %s", variables[i].warning);
                    is_said[i] = true;
                }
        if (has_user(job->command, name))
            htw__cron_complain(path, job->line,
                               "warning: %s is a user: there is no column for one, and this runs "
                               "it as a command",
                               name);
        if (strchr(job->command, '%') != NULL)
            htw__cron_complain(path, job->line,
                               "warning: %% is as any other character: it ends no command, and "
                               "needs no backslash");
    }
}
