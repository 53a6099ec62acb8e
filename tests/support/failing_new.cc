/* SPDX-License-Identifier: MIT */
/* failing_new.cc - memory of C++ that is refused on demand, in the whole program. */
#include "failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int> left { -1 };
static std::atomic<long> blocks { 0 }, calls { 0 };

void failing_new_after(int successes) {
    left = successes;
}

long failing_new_blocks() {
    return blocks;
}

long failing_new_calls() {
    return calls;
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

static bool is_refused() {
    int now = left;
    while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
    }
    calls++;
    return now == 0;
}

void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    void *memory = is_refused() ? nullptr : std::malloc(size > 0 ? size : 1);
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

#ifdef __cpp_aligned_new /* since C++17 */
void *operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
    std::size_t unit = static_cast<std::size_t>(alignment), whole = (size + unit - 1) / unit * unit;
    void *memory = is_refused() ? nullptr : std::aligned_alloc(unit, whole);
    blocks += memory != nullptr;
    return memory;
}

void *operator new(std::size_t size, std::align_val_t alignment) {
    void *memory = operator new(size, alignment, std::nothrow);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

void operator delete(void *memory, std::align_val_t) noexcept {
    operator delete(memory);
}

void operator delete(void *memory, std::size_t, std::align_val_t) noexcept {
    operator delete(memory);
}
#endif
