/* SPDX-License-Identifier: MIT */
/* failing_new.cc - memory of C++ that is refused on demand, in the whole program. */
#include "failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int> left { -1 };
static std::atomic<long> blocks { 0 };

void failing_new_after(int successes) {
    left = successes;
}

long failing_new_blocks() {
    return blocks;
}

bool failing_new_works() {
    /* The compiler must not know which function this is: a tool replaces it in the binary. */
    void *(*volatile allocate)(std::size_t, const std::nothrow_t &) = operator new;
    left = 0;
    void *memory = allocate(1, std::nothrow);
    left = -1;
    operator delete(memory);
    return memory == nullptr;
}

void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    int now = left;
    while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
    }
    void *memory = now == 0 ? nullptr : std::malloc(size > 0 ? size : 1);
    blocks += memory != nullptr;
    return memory;
}

void *operator new(std::size_t size) {
    void *memory = operator new(size, std::nothrow);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

void operator delete(void *memory) noexcept {
    blocks -= memory != nullptr;
    std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept {
    operator delete(memory);
}

void operator delete(void *memory, const std::nothrow_t &) noexcept {
    operator delete(memory);
}
