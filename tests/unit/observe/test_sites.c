/* SPDX-License-Identifier: MIT */
/* test_sites.c - timers that know where they were armed; what is counted and written by site. */
#include "../scheduler/scheduler_fixture.h"

#include <sys/mman.h>
#include <unistd.h>

#define ROOM 8

/* What a visitor has seen. */
struct seen {
    struct htw_site_stats stats[ROOM];
    char names[ROOM][64], functions[ROOM][64], files[ROOM][256];
    uint32_t lines[ROOM];
    size_t count; /* also of those that found no room */
    uint64_t pending;
};

static void see(void *context, const union htw_visited *visited) {
    const struct htw_site_stats *stats = &visited->site;
    struct seen *seen = context;
    size_t i = seen->count++;
    seen->pending += stats->pending;
    if (i >= ROOM)
        return;
    seen->stats[i] = *stats;
    if (stats->origin.site == NULL)
        return;
    snprintf(seen->names[i], sizeof(seen->names[i]), "%s",
             stats->origin.site->name != NULL ? stats->origin.site->name : "");
    snprintf(seen->functions[i], sizeof(seen->functions[i]), "%s",
             stats->origin.site->function != NULL ? stats->origin.site->function : "");
    snprintf(seen->files[i], sizeof(seen->files[i]), "%s",
             stats->origin.site->file != NULL ? stats->origin.site->file : "");
    seen->lines[i] = stats->origin.site->line;
}

static struct seen look(struct htw_scheduler *scheduler) {
    struct seen seen = { .count = 0 };
    assert_int_equal(htw_scheduler_visit(scheduler, HTW_VISIT_SITES, 0, see, &seen), 0);
    return seen;
}

static htw_handle arm_here(struct scheduler_fixture *f, unsigned number, int64_t delay_ns) {
    assert_int_equal(htw_schedule_here(f->scheduler, delay_ns, HTW_HERE(probe_run, "idle"),
                                       &f->probes[number], &f->probes[number].handle),
                     0);
    return f->probes[number].handle;
}

SCHEDULER_TEST(site_given_wrongly_is_refused) {
    static const struct htw_site empty = { .callback = NULL };
    static const struct htw_site other = { .callback = (htw_callback *)probe_run };
    struct htw_spec spec = probe_spec(f, 0, MS);
    htw_handle handle = 5;
    assert_int_equal(htw_schedule_here(f->scheduler, MS, NULL, NULL, &handle), -EINVAL);
    assert_int_equal(htw_schedule_here(f->scheduler, MS, &empty, NULL, &handle), -EINVAL);
    assert_int_equal(htw_schedule_here(NULL, MS, &other, NULL, &handle), -EINVAL);
    spec.site = &empty;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(htw_schedule_spec(f->scheduler, &spec, &handle, NULL), -EINVAL);
        assert_string_equal(htw_invalid_member(), "site");
        spec.callback = NULL;
    }
    spec.site = NULL;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, &handle, NULL), -EINVAL);
    assert_string_equal(htw_invalid_member(), "callback");
    assert_int_equal(handle, 5);
    assert_int_equal(htw_scheduler_visit(NULL, HTW_VISIT_SITES, 0, see, NULL), -EINVAL);
    assert_int_equal(htw_scheduler_visit(f->scheduler, HTW_VISIT_SITES, 0, NULL, NULL), -EINVAL);
    assert_int_equal(htw_scheduler_dump(NULL, stderr), -EINVAL);
    assert_int_equal(htw_scheduler_dump(f->scheduler, NULL), -EINVAL);
}

SCHEDULER_TEST(site_without_memory_is_not_counted) {
    arm_here(f, 0, MS);
    failing_allocator_fail(&f->memory, 1, true);
    assert_int_equal(htw_scheduler_visit(f->scheduler, HTW_VISIT_SITES, 0, see, NULL), -ENOMEM);
    assert_int_equal(htw_scheduler_dump(f->scheduler, stderr), -ENOMEM);
    failing_allocator_relent(&f->memory);
}

static void never_run(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    abort();
}

/* A layer that calls the callback of its user shows the site of that. */
SCHEDULER_TEST(site_of_another_callback_is_only_shown) {
    static const struct htw_site users = { never_run, "users", NULL, NULL, 0 };
    struct htw_spec spec = probe_spec(f, 0, MS);
    struct htw_unexpired replaced;
    spec.site = &users;
    arm_spec(f, 0, &spec);
    struct seen seen = look(f->scheduler);
    assert_int_equal(seen.count, 1);
    assert_ptr_equal(seen.stats[0].origin.address, &users);
    assert_ptr_equal(seen.stats[0].origin.callback, never_run);
    advance(f, MS);
    assert_ran(f, 0);
    spec.key = "key";
    spec.key_size = 3;
    arm_spec(f, 0, &spec);
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, &replaced), 0);
    assert_ptr_equal(replaced.callback, probe_run);
    assert_ptr_equal(replaced.site, &users);
}

SCHEDULER_TEST(sites_are_told_apart_and_the_largest_is_first) {
    arm(f, 0, 3 * MS);
    arm_here(f, 1, 7 * MS);
    arm_here(f, 2, 5 * MS);
    struct htw_spec spec = probe_spec(f, 3, 0);
    spec.site = HTW_HERE(probe_run, NULL);
    spec.when_ns = HTW_NEVER_NS;
    arm_spec(f, 3, &spec);
    struct seen seen = look(f->scheduler);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.pending, 4);
    assert_int_equal(seen.stats[0].pending, 2);
    assert_int_equal(seen.stats[0].next_ns, 5 * MS);
    assert_ptr_equal(seen.stats[0].origin.callback, probe_run);
    assert_string_equal(seen.names[0], "idle");
    assert_string_equal(seen.functions[0], "arm_here");
    assert_string_equal(seen.files[0], __FILE__);
    assert_true(seen.lines[0] > 0 && seen.lines[0] < __LINE__);
    size_t bare = seen.stats[1].origin.address == NULL ? 1 : 2;
    assert_int_equal(seen.stats[bare].next_ns, 3 * MS);
    assert_null(seen.stats[bare].origin.site);
    assert_ptr_equal(seen.stats[bare].origin.callback, probe_run);
    assert_ptr_equal(seen.stats[3 - bare].origin.address, spec.site);
    assert_int_equal(seen.stats[3 - bare].next_ns, HTW_NEVER_NS);
    assert_string_equal(seen.names[3 - bare], "");
}

/* As when a library was unloaded: no text, then no site at all. */
SCHEDULER_TEST(site_whose_memory_is_gone_is_left_out) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    struct htw_site *site = (struct htw_site *)(void *)memory;
    strcpy(memory + page, "gone");
    *site = (struct htw_site) { probe_run, memory + page, memory + page - 3, "kept", 1 };
    memcpy(memory + page - 3, "abc", 3); /* its end is on the second page */
    assert_int_equal(htw_schedule_here(f->scheduler, MS, site, &f->probes[0], NULL), 0);
    struct seen seen = look(f->scheduler);
    assert_string_equal(seen.names[0], "gone");
    assert_string_equal(seen.files[0], "abcgone");
    assert_int_equal(munmap(memory + page, page), 0);
    seen = look(f->scheduler);
    assert_string_equal(seen.names[0], "");
    assert_string_equal(seen.files[0], "");
    assert_string_equal(seen.functions[0], "kept");
    assert_int_equal(mprotect(memory, page, PROT_NONE), 0);
    seen = look(f->scheduler);
    assert_int_equal(seen.count, 1);
    assert_null(seen.stats[0].origin.site);
    assert_null(seen.stats[0].origin.callback);
    assert_ptr_equal(seen.stats[0].origin.address, site);
    char *dump = scheduler_dump(f->scheduler);
    assert_non_null(strstr(dump, ", which cannot be read\n"));
    free(dump);
    assert_int_equal(mprotect(memory, page, PROT_READ), 0);
    advance(f, MS);
    assert_ran(f, 0);
    munmap(memory, page);
}

/* ---- copies */

SCHEDULER_TEST(site_is_kept_once_with_its_texts) {
    char name[] = "fetches", function[] = "timeouts";
    struct htw_site site = { probe_run, name, NULL, function, 7 };
    const struct htw_site *kept = htw_scheduler_keep_site(f->scheduler, &site);
    assert_non_null(kept);
    assert_ptr_equal(htw_scheduler_keep_site(f->scheduler, kept), kept);
    uint64_t bytes = scheduler_stats(f).memory_bytes;
    strcpy(name, "changed");
    const struct htw_site *other = htw_scheduler_keep_site(f->scheduler, &site);
    assert_ptr_not_equal(other, kept);
    assert_true(scheduler_stats(f).memory_bytes > bytes);
    assert_string_equal(kept->name, "fetches");
    assert_null(kept->file);
    assert_string_equal(kept->function, "timeouts");
    assert_int_equal(kept->line, 7);
    assert_ptr_equal(kept->callback, probe_run);
    site.name = NULL;
    assert_ptr_not_equal(htw_scheduler_keep_site(f->scheduler, &site), other);
    site.file = "";
    site.line = 8;
    assert_null(htw_scheduler_keep_site(f->scheduler, &site)->name);
    assert_int_equal(htw_schedule_here(f->scheduler, MS, kept, &f->probes[0], NULL), 0);
    assert_string_equal(look(f->scheduler).names[0], "fetches");
    advance(f, MS);
}

SCHEDULER_TEST(site_that_cannot_be_kept_is_null) {
    struct htw_site site = { probe_run, "name", "file", "function", 0 };
    failing_allocator_fail(&f->memory, 1, true);
    assert_null(htw_scheduler_keep_site(f->scheduler, &site));
    failing_allocator_relent(&f->memory);
    assert_null(htw_scheduler_keep_site(NULL, &site));
    assert_null(htw_scheduler_keep_site(f->scheduler, NULL));
    for (; site.line < HTW_SITES_MAX; site.line++)
        assert_non_null(htw_scheduler_keep_site(f->scheduler, &site));
    assert_null(htw_scheduler_keep_site(f->scheduler, &site));
    site.line = 0;
    assert_non_null(htw_scheduler_keep_site(f->scheduler, &site));
    site.callback = NULL;
    assert_null(htw_scheduler_keep_site(f->scheduler, &site));
}

/* The dump, with the handles as 0x, and so the places of callbacks in this program, of which some systems know the
   name, too. */
static void assert_dump(struct htw_scheduler *scheduler, const char *expected) {
    char *text = scheduler_dump(scheduler), *to = text;
    size_t length = strlen(program_invocation_short_name);
    bool is_named = false;
    for (const char *from = text; *from != 0;) {
        if (strncmp(from, "probe_run (", 11) == 0) {
            from += 11;
            is_named = true;
        }
        if (strncmp(from, program_invocation_short_name, length) == 0 && from[length] == '+')
            from += length + 1;
        *to++ = *from++;
        if (to - text >= 2 && to[-2] == '0' && to[-1] == 'x')
            from += strspn(from, "0123456789abcdef");
        if (is_named && *from == ')') {
            from++;
            is_named = false;
        }
    }
    *to = 0;
    assert_string_equal(text, expected);
    free(text);
}

SCHEDULER_TEST(dump_lists_sites_and_the_next_wakeups) {
    static const struct htw_site sites[] = {
        { probe_run, "idle\033[2J", "server.c", "accept_one", 88 },
        { probe_run, NULL, NULL, NULL, 0 },
    };
    assert_dump(f->scheduler, "scheduler htw: 0 pending, 0 sites\n");
    assert_int_equal(htw_schedule_here(f->scheduler, 570 * HTW_SECOND, &sites[0], f->probes, NULL),
                     0);
    assert_int_equal(htw_schedule_here(f->scheduler, 0, &sites[0], f->probes, NULL), 0);
    assert_int_equal(htw_schedule_here(f->scheduler, 25 * HTW_HOUR, &sites[0], f->probes, NULL), 0);
    assert_int_equal(htw_schedule_here(f->scheduler, HTW_NEVER_NS, &sites[1], f->probes, NULL), 0);
    assert_int_equal(htw_schedule_here(f->scheduler, 15 * MS, &sites[1], f->probes, NULL), 0);
    arm(f, 1, 12 * HTW_DAY);
    assert_dump(f->scheduler, "scheduler htw: 6 pending, 3 sites\n"
                              "   pending  the first  site\n"
                              "         3        due  idle?[2J accept_one() server.c:88\n"
                              "         2     15 ms   -\n"
                              "         1     12 d    callback 0x\n"
                              "next        timers  the first    site\n"
                              "      due        1  0x  idle?[2J accept_one() server.c:88\n"
                              "   15 ms         1  0x  -\n"
                              "  570 s          1  0x  idle?[2J accept_one() server.c:88\n"
                              "   25 h          1  0x  idle?[2J accept_one() server.c:88\n"
                              "   12 d          1  0x  callback 0x\n");
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(htw_scheduler_dump(f->scheduler, full), -EIO);
    fclose(full);
}

SCHEDULER_TEST(dump_lists_groups) {
    struct htw_spec spec = probe_spec(f, 0, 25 * HTW_HOUR);
    struct htw_group *other;
    create_group(f);
    assert_int_equal(htw_group_create(f->scheduler, &other), 0);
    assert_int_equal(htw_group_set_name(f->group, "tenant\t7"), 0);
    assert_dump(f->scheduler, "scheduler htw: 0 pending, 0 sites\n"
                              "    timers  of 2 groups\n"
                              "         0  tenant?7\n"
                              "         0  -\n");
    spec.group = other;
    arm_spec(f, 0, &spec);
    assert_int_equal(htw_group_pause(other), 0);
    htw_group_destroy(f->group);
    f->group = NULL;
    assert_dump(f->scheduler, "scheduler htw: 1 pending, 1 site\n"
                              "   pending  the first  site\n"
                              "         1     25 h    callback 0x\n"
                              "    timers  of 1 group\n"
                              "         1  -, paused\n");
    htw_group_destroy(other);
    assert_int_equal(cancel(f, 0), HTW_CANCELLED);
}
