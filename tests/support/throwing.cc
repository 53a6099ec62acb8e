// SPDX-License-Identifier: MIT
#include "throwing.h"

#include <stdexcept>

void throwing_throw() {
    throw std::runtime_error("thrown by a test");
}

bool throwing_catch(void (*call)(void *arg), void *arg) {
    try {
        call(arg);
    } catch (const std::runtime_error &) {
        return true;
    }
    return false;
}
