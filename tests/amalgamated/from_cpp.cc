// SPDX-License-Identifier: MIT
// from_cpp.cc - a C++ program that links the wheel, compiled as C.
#include "htw_wheel.h"

#include <cstdio>
#include <vector>

namespace {

struct session {
    int number = 0;
    htw_timer timer {};
};

} // namespace

int main() {
    htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.strict_fifo = true;
    htw_wheel *wheel = nullptr;
    if (htw_wheel_create(&wheel, &options) != 0)
        return 1;
    std::vector<session> sessions(1000);
    for (int i = 0; i < 1000; i++) {
        session &each = sessions[static_cast<size_t>(i)];
        each.number = i;
        if (htw_wheel_schedule(wheel, &each.timer, 5000 - static_cast<uint64_t>(i)) != 0)
            return 1;
    }
    if (!htw_wheel_cancel(wheel, &sessions[500].timer))
        return 1;
    int expected = 999;
    while (htw_timer *timer = htw_wheel_poll(wheel, 5000)) {
        if (HTW_CONTAINER_OF(timer, session, timer)->number != expected)
            return 1;
        expected -= expected == 501 ? 2 : 1;
    }
    htw_wheel_destroy(wheel);
    std::printf("htw %s: 999 of 1000 timers expired, the latest first\n", htw_version());
    return expected == -1 ? 0 : 1;
}
