/* SPDX-License-Identifier: MIT */
/*
 * zone.cc - time zones by the library cctz. The only file that knows it, and the only one in C++.
 *
 * cctz keeps each zone that it has read until the process ends, and remembers names that it could not
 * read. So that a strange name takes no memory, and a shortage of file descriptors does not make a zone
 * unknown for ever, this file first opens the zone's file itself.
 */
#include "zone.h"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

struct htw_zone {
    std::atomic<unsigned> references { 1 };
    cctz::time_zone rules;
};

namespace {

using instant = cctz::time_point<cctz::seconds>;

instant instant_of(int64_t seconds) {
    return instant(cctz::seconds(seconds));
}

int64_t seconds_of(const instant &when) {
    return when.time_since_epoch().count();
}

const cctz::civil_second epoch(1970, 1, 1, 0, 0, 0);

/* No path that leads out of the folder of zones. */
bool is_name(const char *name) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_+-";
    return *name != '\0' && *name != '/' && name[std::strspn(name, allowed)] == '\0';
}

/* Whether the file of a zone can be read: 0 or the error of htw_zone_create(). */
int probe(const char *name) {
    const char *folder = std::getenv("TZDIR"); // NOLINT(concurrency-mt-unsafe): as cctz does
    std::string path = folder != nullptr && *folder != '\0' ? folder : "/usr/share/zoneinfo";
    path += '/';
    path += name;
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        switch (errno) {
        case ENOENT:
        case ENOTDIR:
        case ENAMETOOLONG:
            return -ENOENT;
        case EMFILE:
        case ENFILE:
        case ENOMEM:
            return -errno;
        default:
            return -EIO;
        }
    }
    struct stat about;
    bool is_file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    close(fd);
    return is_file ? 0 : -ENOENT;
}

int load(struct htw_zone *zone, const char *name) {
    if (name == nullptr) {
        zone->rules = cctz::local_time_zone();
        return 0;
    }
    if (std::strcmp(name, "UTC") != 0) {
        int error = probe(name);
        if (error != 0)
            return error;
    }
    return cctz::load_time_zone(name, &zone->rules) ? 0 : -EIO;
}

} // namespace

int htw_zone_create(struct htw_zone **ret_zone, const char *name) {
    if (ret_zone == nullptr || (name != nullptr && !is_name(name)))
        return -EINVAL;
    struct htw_zone *zone = new (std::nothrow) htw_zone;
    if (zone == nullptr)
        return -ENOMEM;
    int error;
    try {
        error = load(zone, name);
    } catch (...) { /* only std::bad_alloc */
        error = -ENOMEM;
    }
    if (error == 0)
        *ret_zone = zone;
    else
        delete zone;
    return error;
}

struct htw_zone *htw__zone_retain(const struct htw_zone *zone) {
    struct htw_zone *retained = const_cast<struct htw_zone *>(zone);
    if (retained != nullptr)
        retained->references.fetch_add(1, std::memory_order_relaxed);
    return retained;
}

void htw_zone_destroy(struct htw_zone *zone) {
    if (zone != nullptr && zone->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete zone;
}

int32_t htw__zone_offset(const struct htw_zone *zone, int64_t instant_s) {
    return zone == nullptr ? 0 : zone->rules.lookup(instant_of(instant_s)).offset;
}

int64_t htw__zone_next_change(const struct htw_zone *zone, int64_t instant_s) {
    cctz::time_zone::civil_transition change;
    if (zone == nullptr || !zone->rules.next_transition(instant_of(instant_s), &change))
        return INT64_MAX;
    return seconds_of(zone->rules.lookup(change.to).trans);
}

int64_t htw__zone_instant(const struct htw_zone *zone, int64_t local_s, int64_t *ret_later_s) {
    *ret_later_s = local_s + 1;
    if (zone == nullptr)
        return local_s;
    cctz::time_zone::civil_lookup found = zone->rules.lookup(epoch + local_s);
    if (found.kind == cctz::time_zone::civil_lookup::SKIPPED)
        return seconds_of(found.trans);
    if (found.kind == cctz::time_zone::civil_lookup::REPEATED)
        *ret_later_s = local_s + seconds_of(found.trans) - seconds_of(found.pre);
    return seconds_of(found.pre);
}

int32_t htw_zone_offset(const struct htw_zone *zone, int64_t instant_ns) {
    return htw__zone_offset(zone, instant_ns / HTW_SECOND - (instant_ns % HTW_SECOND < 0));
}
