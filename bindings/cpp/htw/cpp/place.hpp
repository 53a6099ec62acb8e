/* SPDX-License-Identifier: MIT */
/* htw/cpp/place.hpp - where a timer is armed: a struct htw_site for each place, made when it is needed first. */
#ifndef HTW_CPP_PLACE_HPP
#define HTW_CPP_PLACE_HPP

#include <htw/scheduler.h>
#include <htw/timer.h>

#include <atomic>
#include <cstdint>
#include <new>

namespace htw {

/** A place in the source, as std::source_location of C++20. As a default argument, current() is the place of
    the call. */
struct place {
    const char *file;
    const char *function;
    std::uint32_t line;

    static constexpr place current(const char *file = __builtin_FILE(),
                                   const char *function = __builtin_FUNCTION(),
                                   std::uint32_t line = __builtin_LINE()) noexcept {
        return place { file, function, line };
    }
};

namespace detail {

/* How many places are kept for a type of callable; timers of further ones have no site. A lambda has one. */
inline constexpr int places_max = 64;

struct known_site {
    htw_site site;
    const known_site *next;
};

/* The site of a callable of type F; nullptr: none. The first place of a type takes no memory, each further one a
   block that stays until the program ends. Hidden, or a library that arms timers could not be unloaded. */
template <class F>
__attribute__((visibility("hidden"))) const htw_site *
site_of(htw_callback *callback, const char *name, const place &where) noexcept {
    static known_site own;
    static std::atomic<bool> own_is_taken { false };
    static std::atomic<const known_site *> sites { nullptr };
    known_site *made = nullptr;
    const known_site *first = sites.load(std::memory_order_acquire);
    do {
        int count = 0;
        for (const known_site *known = first; known != nullptr; known = known->next, count++) {
            const htw_site &site = known->site;
            if (site.line == where.line && site.file == where.file && site.name == name &&
                site.callback == callback) {
                if (made != &own)
                    delete made;
                return &site;
            }
        }
        if (made == nullptr && count < places_max)
            made = own_is_taken.exchange(true) ? new (std::nothrow) known_site : &own;
        if (made == nullptr)
            return nullptr;
        made->site = htw_site { callback, name, where.file, where.function, where.line };
        made->next = first;
    } while (!sites.compare_exchange_weak(first, made, std::memory_order_acq_rel));
    return &made->site;
}

} // namespace detail
} // namespace htw

#endif // HTW_CPP_PLACE_HPP
