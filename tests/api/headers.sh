#!/bin/sh
# SPDX-License-Identifier: MIT
# Each public header compiles alone, and twice, in each standard of C and C++ that users have, with
# each compiler that is there, without a warning; so do the macros, where they are used.
# usage: headers.sh INCLUDE_FOLDER
set -eu
include=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -I, not -isystem: the warnings of the headers count.
warnings='-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wcast-align -pedantic -Werror'

# compile LANGUAGE FILE: with each compiler and standard of it.
compile() {
    if [ "$1" = c ]; then
        compilers='gcc clang' standards='c99 c11 gnu11'
        more='-Wstrict-prototypes -Wmissing-prototypes'
    else
        compilers='g++ clang++' standards='c++11 c++17' more='-Wold-style-cast'
    fi
    for compiler in $compilers; do
        command -v "$compiler" >"$work/found" || continue
        for standard in $standards; do
            # shellcheck disable=SC2086 # lists of words
            "$compiler" -x "$1" "-std=$standard" $warnings $more -I "$include" -fsyntax-only "$2" ||
                { echo "$compiler -std=$standard does not accept $2"; exit 1; }
        done
    done
}

for header in "$include"/htw/*.h; do
    name=htw/$(basename "$header")
    printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$name" "$name" \
        >"$work/twice"
    compile c "$work/twice"
    compile c++ "$work/twice"
    echo "ok $name"
done

# Every macro with a value, and those with arguments.
{
    cat <<'PROGRAM'
#include <htw/calendar.h>
#include <htw/htw.h>
#include <htw/journal.h>
#include <htw/monitor.h>

struct job {
    int number;
    struct htw_timer timer;
};

int job_number(struct htw_timer *timer);
int job_number(struct htw_timer *timer)
{
    return HTW_CONTAINER_OF(timer, struct job, timer)->number;
}

int const_job_number(const struct htw_timer *timer);
int const_job_number(const struct htw_timer *timer)
{
    return HTW_CONTAINER_OF(timer, const struct job, timer)->number;
}

void never_run(void *arg, const struct htw_expiration *expiration);
const struct htw_site *site_of(int which);
const struct htw_site *site_of(int which)
{
    return which ? HTW_HERE(never_run, "named") : HTW_HERE(never_run, NULL);
}

int main(void)
{
    double sum = 0;
PROGRAM
    sed -n 's/^#define \(HTW_[A-Z_]*_INIT\)\b.*/\1/p' "$include"/htw/*.h |
        while read -r macro; do
            name=$(printf '%s' "$macro" | tr '[:upper:]' '[:lower:]')
            name=${name%_init}
            printf '    {\n        struct %s value = %s;\n        sum += (value.struct_size == 0);\n    }\n' \
                "$name" "$macro"
        done
    sed -n 's/^#define \(HTW_[A-Z_]*\) \([A-Z0-9(-].*\)$/\1/p' "$include"/htw/*.h |
        grep -v -e _INIT -e _H$ -e HTW_API -e HTW_WARN |
        while read -r macro; do
            printf '    sum += (%s > 0);\n' "$macro"
        done
    printf '    return sum > 0;\n}\n'
} >"$work/macros"
for macro in HTW_SPEC_INIT HTW_WHEEL_OPTIONS_INIT HTW_DAY HTW_NEVER_NS HTW_WHEEL_SIZE_MAX; do
    grep -q "$macro" "$work/macros" || { echo "the macros are not found: $macro"; exit 1; }
done
compile c "$work/macros"
compile c++ "$work/macros"
echo 'ok macros'

# The compiler warns where a result is ignored that must not be.
cat >"$work/ignored" <<'PROGRAM'
#include <htw/calendar.h>
#include <htw/htw.h>
#include <htw/journal.h>
#include <htw/monitor.h>

void ignore(struct htw_wheel *wheel, struct htw_timer *timer, struct htw_scheduler *scheduler,
            htw_callback *callback, struct htw_group *group, struct htw_purgatory *purgatory,
            struct htw_request *request, struct htw_threshold *threshold, struct htw_zone *zone,
            struct htw_calendar *calendar, struct htw_journal *journal,
            struct htw_monitor *monitor);
void ignore(struct htw_wheel *wheel, struct htw_timer *timer, struct htw_scheduler *scheduler,
            htw_callback *callback, struct htw_group *group, struct htw_purgatory *purgatory,
            struct htw_request *request, struct htw_threshold *threshold, struct htw_zone *zone,
            struct htw_calendar *calendar, struct htw_journal *journal,
            struct htw_monitor *monitor)
{
    htw_backoff_init(NULL, NULL);
    htw_backoff_next(NULL);
    htw_wheel_create(&wheel, NULL);
    htw_wheel_schedule(wheel, timer, 1);
    htw_wheel_schedule_within(wheel, timer, 1, 2);
    htw_wheel_poll(wheel, 1);
    htw_wheel_reserve(wheel, 1);
    htw_wheel_drain(wheel);
    htw_wheel_check(wheel);
    htw_scheduler_create(&scheduler, NULL);
    htw_schedule(scheduler, 1, callback, NULL, NULL);
    htw_schedule_at(scheduler, 1, callback, NULL, NULL);
    htw_schedule_within(scheduler, 1, 2, callback, NULL, NULL);
    htw_schedule_every(scheduler, 1, 1, HTW_REPEAT_SKIP, callback, NULL, NULL);
    htw_schedule_here(scheduler, 1, NULL, NULL, NULL);
    htw_scheduler_observe(scheduler, 0);
    htw_schedule_spec(scheduler, NULL, NULL, NULL);
    htw_cancel_remaining(scheduler, 1, NULL);
    htw_group_create(scheduler, &group);
    htw_task_drop(NULL, NULL);
    htw_purgatory_create(&purgatory, scheduler, NULL);
    htw_purgatory_try_complete_else_watch(purgatory, request, NULL, 0, 1);
    htw_purgatory_check_later(purgatory, "", 0);
    htw_threshold_create(purgatory, 0, &threshold);
    htw_threshold_await(threshold, request, 1, 1);
    htw_zone_create(&zone, NULL);
    htw_calendar_daily(calendar, 3, 0, 0);
    htw_calendar_weekly(calendar, HTW_MONDAY, 3, 0, 0);
    htw_calendar_monthly(calendar, 1, 3, 0, 0);
    htw_calendar_cron(calendar, "", NULL);
    htw_calendar_next_of(NULL, NULL, 0, NULL);
    htw_schedule_calendar(scheduler, NULL, NULL, NULL);
    htw_journal_open(&journal, scheduler, "", NULL);
    htw_journal_open_to_read(&journal, "", NULL);
    htw_journal_check(journal, NULL, NULL);
    htw_journal_put(journal, 1, "", 0, NULL);
    htw_journal_cancel(journal, 1);
    htw_journal_done(journal, 1);
    htw_journal_apply(journal, NULL);
    htw_journal_sync(journal);
    htw_journal_put_later(journal, 1, "", 0, NULL, NULL, NULL);
    htw_journal_apply_later(journal, NULL, NULL, NULL);
    htw_journal_update(journal, NULL);
    htw_journal_kick(journal, NULL, 1);
    htw_journal_lease_later(journal, NULL, NULL, NULL, NULL);
    htw_journal_lease(journal, NULL, NULL, NULL);
    htw_journal_peek(journal, 1, NULL, NULL);
    htw_journal_list(journal, NULL, HTW_JOB_READY, NULL, 1, NULL, NULL);
    htw_journal_set_policy(journal, NULL, NULL);
    htw_journal_pause(journal, NULL, 1);
    htw_journal_put_in(NULL, NULL);
    htw_journal_set_recurring(journal, NULL);
    htw_journal_remove_recurring(journal, NULL);
    htw_journal_list_recurring(journal, NULL, 1, NULL, NULL);
    htw_monitor_open(&monitor, NULL);
    htw_monitor_add_wheel(monitor, "", wheel, 1, NULL);
}
PROGRAM
calls=$(grep -c '^    htw_' "$work/ignored")
marked=$(cat "$include"/htw/*.h | grep -c '^HTW_API HTW_WARN_UNUSED')
[ "$calls" = "$marked" ] || { echo "$marked functions are marked, $calls are tested"; exit 1; }
for compiler in gcc clang; do
    command -v "$compiler" >"$work/found" || continue
    "$compiler" -x c -std=c11 -I "$include" -c -o "$work/object" "$work/ignored" 2>"$work/warnings" ||
        { cat "$work/warnings"; exit 1; }
    warned=$(grep -c 'warning: ignoring return value' "$work/warnings")
    [ "$warned" = "$calls" ] || { cat "$work/warnings"; echo "$warned of $calls"; exit 1; }
done
echo 'ok ignored results'

# And not where the caller owns nothing that the result is about.
cat >"$work/cancels" <<'PROGRAM'
#include <htw/scheduler.h>

void cancel(struct htw_scheduler *scheduler);
void cancel(struct htw_scheduler *scheduler)
{
    htw_cancel(scheduler, 1);
    htw_cancel_wait(scheduler, 1);
    htw_cancel_key(scheduler, NULL, "", 0, NULL);
}
PROGRAM
compile c "$work/cancels"
compile c++ "$work/cancels"
echo 'ok ignored cancels'
