/* SPDX-License-Identifier: MIT */
/*
 * zone.cc - time zones by the library cctz. The only file that knows it, and the only one in C++.
 *
 * cctz keeps each zone that it has read until the process ends, and remembers names that it could not
 * read. So that a strange name takes no memory, and a shortage of file descriptors does not make a zone
 * unknown for ever, this file first opens the zone's file itself. And it refuses all spellings of a
 * name but one: cctz would keep the zone once for each, and users may choose names.
 *
 * What the local time zone is, is decided here, too: cctz takes UTC for a TZ that it does not understand.
 */
#include "zone.h"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include <fcntl.h>
#include <limits.h>
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

/* No path that leads out of the folder of zones, and one spelling for each file. The number of parts
   has a bound because a link may lead back to its folder. */
bool is_name(const char *name) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-";
    for (unsigned parts = 1; parts <= 4; parts++) {
        std::size_t length = std::strspn(name, allowed);
        if (length == 0 || name[length] != '/')
            return length > 0 && name[length] == '\0';
        name += length + 1;
    }
    return false;
}

/* Those that need no file, so that they work where tzdata is not installed. */
bool is_utc(const char *name) {
    return std::strcmp(name, "UTC") == 0 || std::strcmp(name, "Etc/UTC") == 0;
}

/* The file of a zone; an absolute name is one. */
std::string path_of(const char *name) {
    if (*name == '/')
        return name;
    const char *folder = std::getenv("TZDIR"); // NOLINT(concurrency-mt-unsafe): as cctz does
    std::string path = folder != nullptr && *folder != '\0' ? folder : "/usr/share/zoneinfo";
    return path + '/' + name;
}

/* Whether the file of a zone can be read: 0 or the error of htw_zone_create(). */
int probe(const char *name) {
    int fd = open(path_of(name).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
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

int load(const char *name, cctz::time_zone *rules) {
    if (is_utc(name)) {
        *rules = cctz::utc_time_zone();
        return 0;
    }
    int error = probe(name);
    if (error != 0)
        return error;
    return cctz::load_time_zone(name, rules) ? 0 : -EIO;
}

/* Whether /etc/localtime, which cannot be opened, still says UTC: it does not exist, or is a link to that
   where tzdata is not installed. */
bool machine_is_utc() {
    char target[PATH_MAX];
    ssize_t length = readlink("/etc/localtime", target, sizeof(target));
    if (length < 0)
        return errno == ENOENT;
    return length >= 4 && std::memcmp(target + length - 4, "/UTC", 4) == 0;
}

int load_local(cctz::time_zone *rules) {
    const char *name = std::getenv("TZ"); // NOLINT(concurrency-mt-unsafe): as cctz does
    if (name == nullptr) {
        int error = load("/etc/localtime", rules);
        return error == -ENOENT && machine_is_utc() ? load("UTC", rules) : error;
    }
    name += *name == ':';
    if (*name == '\0')
        return load("UTC", rules);
    return *name == '/' || is_name(name) ? load(name, rules) : -EINVAL;
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
        error = name == nullptr ? load_local(&zone->rules) : load(name, &zone->rules);
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
