/* SPDX-License-Identifier: MIT */
/*
 * harness.hpp - what the tests of the C++ headers share. Each test program is one file, which
 * includes this once: main() is here.
 */
#ifndef HTW_TESTS_CPP_HARNESS_HPP
#define HTW_TESTS_CPP_HARNESS_HPP

#include <htw/htw.hpp>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace test {

struct entry {
    const char *name;
    void (*run)();
};

inline std::vector<entry> &entries() {
    static std::vector<entry> all;
    return all;
}

struct registration {
    registration(const char *name, void (*run)()) {
        entries().push_back(entry { name, run });
    }
};

inline std::atomic<int> failures { 0 };

/* In any thread. */
inline bool check(bool holds, const char *what, const char *file, int line) {
    if (!holds) {
        std::fprintf(stderr, "%s:%d: fails: %s\n", file, line, what);
        failures++;
    }
    return holds;
}

/* Makes one thread wait for another. */
class gate {
  public:
    void open() {
        std::lock_guard<std::mutex> lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }

    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        opened_.wait(lock, [this] { return open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

/* Counts what becomes of what a callable has captured. Can only be moved. */
class token {
  public:
    explicit token(std::atomic<int> &destroyed) noexcept : destroyed_(&destroyed) {
    }
    token(token &&other) noexcept : destroyed_(std::exchange(other.destroyed_, nullptr)) {
    }
    token &operator=(token &&) = delete;
    ~token() {
        if (destroyed_ != nullptr)
            ++*destroyed_;
    }

    bool is_here() const noexcept {
        return destroyed_ != nullptr;
    }

  private:
    std::atomic<int> *destroyed_;
};

#if HTW_CPP_COROUTINES

/* Starts at once and destroys itself at its end; handle() is valid until then. Rethrows what leaves
   the coroutine, to whatever resumes it. */
struct job {
    struct promise_type {
        job get_return_object() noexcept {
            return job { std::coroutine_handle<promise_type>::from_promise(*this) };
        }
        std::suspend_never initial_suspend() noexcept {
            return {};
        }
        std::suspend_never final_suspend() noexcept {
            return {};
        }
        void return_void() noexcept {
        }
        void unhandled_exception() {
            throw;
        }
    };

    std::coroutine_handle<promise_type> handle;
};

#endif

/* A scheduler in which time stands still, and callbacks run in the thread of the test. */
inline htw::scheduler_options manual() {
    htw::scheduler_options options;
    options.clock = htw::clock::manual;
    options.workers = 0;
    options.shards = 1;
    return options;
}

/* Shows each site of a scheduler. */
template <class F> void visit_sites(const htw::scheduler &scheduler, F show) {
    const int result = htw_scheduler_visit(
        scheduler.native(), HTW_VISIT_SITES, 0,
        [](void *context, const htw_visited *visited) {
            (*static_cast<F *>(context))(visited->site);
        },
        &show);
    check(result == 0, "visit", __FILE__, __LINE__);
}

/* Calls `run` in a child process, and returns how that has ended; 0: well, and no check has failed. */
template <class F> int status_in_child(F &&run) {
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        run();
        _exit(failures == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

/* The signal that ends a child process in which `run` is called; 0: none. */
inline int signal_of(void (*run)()) {
    const int status = status_in_child([run] {
        fclose(stderr);
        run();
    });
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

} // namespace test

#define TEST(name)                                                    \
    static void name();                                               \
    static const test::registration registration_##name(#name, name); \
    static void name()

#define CHECK(condition) test::check((condition), #condition, __FILE__, __LINE__)

/* The expression throws std::system_error with this std::errc. */
#define CHECK_FAILS(expression, errc)                                              \
    do {                                                                           \
        bool failed = false;                                                       \
        try {                                                                      \
            static_cast<void>(expression);                                         \
        } catch (const std::system_error &thrown) {                                \
            failed = thrown.code() == (errc);                                      \
        }                                                                          \
        test::check(failed, #expression " fails with " #errc, __FILE__, __LINE__); \
    } while (0)

int main(int argc, char **argv) {
    for (const test::entry &entry : test::entries()) {
        if (argc > 1 && std::strcmp(argv[1], entry.name) != 0)
            continue;
        std::printf("%s\n", entry.name);
        std::fflush(stdout);
        entry.run();
    }
    std::printf("%d checks failed\n", test::failures.load());
    return test::failures == 0 ? 0 : 1;
}

#endif // HTW_TESTS_CPP_HARNESS_HPP
