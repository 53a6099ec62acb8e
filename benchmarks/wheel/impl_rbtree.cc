/* SPDX-License-Identifier: MIT */
/*
 * impl_rbtree.cc - timers in a red-black tree ordered by deadline, as in the kernel's hrtimers and
 * many servers: the intrusive one of Boost, which keeps its first node at hand and the colour in
 * the parent pointer.
 */
#include "bench.h"

#include <boost/intrusive/set.hpp>
#include <boost/version.hpp>

#include <new>

namespace {

namespace intrusive = boost::intrusive;

/* No node is unlinked before it is inserted, so none needs to know whether it is linked. */
using hook = intrusive::set_base_hook<intrusive::optimize_size<true>,
                                      intrusive::link_mode<intrusive::normal_link>>;

struct timer : hook {
    uint64_t deadline;
    void (*callback)(timer *self, void *argument);
    void *argument;
};

struct deadline_of {
    using type = uint64_t;
    uint64_t operator()(const timer &timer) const {
        return timer.deadline;
    }
};

using timer_set =
    intrusive::multiset<timer, intrusive::base_hook<hook>, intrusive::key_of_value<deadline_of>,
                        intrusive::constant_time_size<true>>;

struct tree {
    timer_set timers;
    struct bench_tally *tally;
};

tree *tree_of(void *self) {
    return static_cast<tree *>(self);
}

timer *timer_of(void *memory) {
    return static_cast<timer *>(memory);
}

void fire(timer *timer, void *tally) {
    bench_fired(static_cast<struct bench_tally *>(tally), timer);
}

void *create(size_t, struct bench_tally *tally) {
    tree *made = new (std::nothrow) tree;
    if (made != nullptr)
        made->tally = tally;
    return made;
}

void init(void *self, void *memory) {
    timer *made = new (memory) timer;
    made->deadline = 0;
    made->callback = fire;
    made->argument = tree_of(self)->tally;
}

void schedule(void *self, void *memory, uint64_t deadline) {
    timer_of(memory)->deadline = deadline;
    tree_of(self)->timers.insert(*timer_of(memory));
}

void cancel(void *self, void *memory) {
    tree_of(self)->timers.erase(timer_set::s_iterator_to(*timer_of(memory)));
}

void move(void *self, void *memory, uint64_t deadline) {
    cancel(self, memory);
    schedule(self, memory, deadline);
}

void advance(void *self, uint64_t now) {
    timer_set &timers = tree_of(self)->timers;
    while (!timers.empty()) {
        timer &first = *timers.begin();
        if (first.deadline > now)
            break;
        timers.erase(timers.begin());
        first.callback(&first, first.argument);
    }
}

uint64_t next(void *self) {
    timer_set &timers = tree_of(self)->timers;
    return timers.empty() ? UINT64_MAX : timers.begin()->deadline;
}

size_t count(void *self) {
    return tree_of(self)->timers.size();
}

/* Designated initialisers need C++20. */
constexpr bench_implementation describe() {
    bench_implementation described = {};
    described.name = "rbtree";
    described.about = "red-black tree, Boost.Intrusive " BOOST_LIB_VERSION;
    described.timer_size = sizeof(timer);
    described.create = create;
    described.init = init;
    described.schedule = schedule;
    described.cancel = cancel;
    described.move = move;
    described.advance = advance;
    described.next = next;
    described.count = count;
    return described;
}

} // namespace

extern "C" {
extern const struct bench_implementation bench_rbtree;
const struct bench_implementation bench_rbtree = describe();
}
