/* SPDX-License-Identifier: MIT */
/* test_purgatory.cpp - requests, purgatories and thresholds as classes: who owns a request, and until
   when. */
#include "harness.hpp"

#include <thread>
#include <type_traits>

namespace {

/* Logs its hooks: "?" asked, then the first letter of its reason, and "r" for release(). */
class fetch : public htw::request {
  public:
    explicit fetch(std::string &log) : log_(&log) {
    }

    ~fetch() {
        if (destroyed != nullptr)
            ++*destroyed;
    }

    bool try_complete() {
        *log_ += '?';
        if (throws)
            throw std::string("asked");
        return ready;
    }

    void on_complete(htw::reason reason) {
        static const char letters[] = { 'C', 'E', 'X', 'L' };
        *log_ += letters[static_cast<int>(reason)];
        CHECK(is_pending());
        if (throws)
            throw std::string("ended");
    }

    void release() {
        *log_ += 'r';
        CHECK(!is_pending());
    }

    bool ready = false;
    bool throws = false;
    std::atomic<int> *destroyed = nullptr;

  private:
    std::string *log_;
};

/* With what is needed alone. */
class plain : public htw::request {
  public:
    void on_complete(htw::reason reason) {
        reasons.push_back(reason);
    }
    std::vector<htw::reason> reasons;
};

} // namespace

static_assert(!std::is_copy_constructible_v<fetch> && !std::is_move_constructible_v<fetch>);
static_assert(!std::is_copy_constructible_v<htw::purgatory<fetch>>);
static_assert(sizeof(htw::request) <= sizeof(htw_request) + 24);
static_assert(!std::is_constructible_v<htw::request>, "only as a base");

TEST(request_waits_for_an_event_on_any_of_its_keys) {
    std::string log;
    htw::scheduler scheduler(test::manual());
    htw::purgatory<fetch> purgatory(scheduler);
    fetch first(log), second(log);
    const std::vector<htw::key> keys { "orders-3", "orders-4" };
    CHECK(purgatory.try_complete_else_watch(first, keys, 1s) == htw::submission::watched);
    CHECK(purgatory.try_complete_else_watch(second, { "orders-4", std::string("orders-5") }, 1s) ==
          htw::submission::watched);
    CHECK(purgatory.count_key("orders-3") == 1 && purgatory.count_key("orders-4") == 2);
    second.ready = true;
    log.clear();
    CHECK(purgatory.check("orders-4") == 1 && log == "??Cr");
    CHECK(first.is_pending() && !second.is_pending() && purgatory.count_key("orders-5") == 0);
    first.ready = true;
    log.clear();
    purgatory.check_later("orders-4");
    CHECK(log.empty());
    scheduler.advance(0s);
    CHECK(log == "?Cr" && !first.is_pending());
    CHECK(purgatory.stats().submitted == 2 && purgatory.stats().completed == 2);
}

TEST(request_ends_by_a_timeout_or_a_call) {
    std::string log;
    htw::scheduler scheduler(test::manual());
    htw::purgatory<fetch> purgatory(scheduler);
    fetch first(log), second(log), third(log);
    const int key = 7;
    purgatory.try_complete_else_watch(first, htw::key_bytes(key), 10ms);
    purgatory.try_complete_else_watch(second, { htw::key_bytes(key), "other" }, 10ms);
    purgatory.try_complete_else_watch(third, "other", htw::never);
    log.clear();
    CHECK(purgatory.set_timeout(second, 20ms) && !purgatory.set_timeout(third, 20ms));
    scheduler.advance(11ms);
    CHECK(log == "Er" && !first.is_pending() && second.is_pending());
    scheduler.advance(10ms);
    CHECK(log == "ErEr" && !purgatory.set_timeout(second, 1s));
    CHECK(purgatory.cancel(third) && !purgatory.cancel(third) && log == "ErErXr");
    purgatory.try_complete_else_watch(third, "other", 1s);
    log.clear();
    CHECK(purgatory.complete(third) && !purgatory.complete(third) && log == "Cr");
}

TEST(check_at_most_and_cancel_key_end_some) {
    std::string log;
    htw::scheduler scheduler(test::manual());
    htw::purgatory<fetch> purgatory(scheduler);
    fetch first(log), second(log), third(log);
    for (fetch *request : { &first, &second, &third })
        purgatory.try_complete_else_watch(*request, "key", htw::never);
    first.ready = second.ready = true;
    CHECK(purgatory.check_at_most("key", 1) == 1 && !first.is_pending() && second.is_pending());
    std::vector<fetch *> visited;
    log.clear();
    CHECK(purgatory.cancel_key("key", [&](fetch &request) {
        CHECK(request.is_pending());
        visited.push_back(&request);
    }) == 2);
    CHECK(visited == (std::vector<fetch *> { &second, &third }) && log == "XrXr");
    CHECK(purgatory.cancel_key("key") == 0);
}

TEST(request_with_an_owner_lives_until_it_has_ended) {
    std::string log;
    std::atomic<int> destroyed { 0 };
    htw::scheduler scheduler(test::manual());
    htw::purgatory<fetch> purgatory(scheduler);
    auto shared = std::make_shared<fetch>(log);
    shared->destroyed = &destroyed;
    CHECK(purgatory.try_complete_else_watch(shared, "key", 1s) == htw::submission::watched);
    std::weak_ptr<fetch> weak = shared;
    shared.reset();
    CHECK(!weak.expired() && purgatory.cancel(*weak.lock()));
    CHECK(weak.expired() && destroyed == 1 && log == "??Xr");
    auto unique = std::make_unique<fetch>(log);
    unique->destroyed = &destroyed;
    unique->ready = true;
    CHECK(purgatory.try_complete_else_watch(std::move(unique), "key", 1s) ==
          htw::submission::finished);
    CHECK(destroyed == 2);
    /* What the program keeps stays, and can be submitted again. */
    shared = std::make_shared<fetch>(log);
    shared->destroyed = &destroyed;
    for (int i = 0; i < 3; i++) {
        CHECK(purgatory.try_complete_else_watch(shared, "key", 1ms) == htw::submission::watched);
        scheduler.advance(2ms);
        CHECK(!shared->is_pending() && destroyed == 2 && shared.use_count() == 1);
    }
}

TEST(request_can_be_submitted_again_from_release) {
    class retry : public htw::request, public std::enable_shared_from_this<retry> {
      public:
        explicit retry(htw::purgatory<retry> &purgatory) : purgatory_(purgatory) {
        }
        void on_complete(htw::reason) {
            ends++;
        }
        void release() {
            if (ends == 3)
                return;
            if (owned)
                purgatory_.try_complete_else_watch(shared_from_this(), "key", 1ms);
            else
                purgatory_.try_complete_else_watch(*this, "key", 1ms);
        }
        int ends = 0;
        bool owned = false;

      private:
        htw::purgatory<retry> &purgatory_;
    };
    htw::scheduler scheduler(test::manual());
    htw::purgatory<retry> purgatory(scheduler);
    retry request(purgatory);
    purgatory.try_complete_else_watch(request, "key", 1ms);
    auto shared = std::make_shared<retry>(purgatory);
    shared->owned = true;
    purgatory.try_complete_else_watch(shared, "key", 1ms);
    CHECK(shared.use_count() == 2);
    scheduler.advance(1s);
    CHECK(request.ends == 3 && shared->ends == 3);
    CHECK(!request.is_pending() && !shared->is_pending() && shared.use_count() == 1);
}

TEST(hooks_that_a_class_has_not_got_are_not_needed) {
    htw::scheduler scheduler(test::manual());
    htw::purgatory<plain> purgatory(scheduler);
    plain request;
    purgatory.try_complete_else_watch(request, "key", 1s);
    CHECK(purgatory.check("key") == 0 && request.is_pending());
    CHECK(purgatory.complete(request) && !request.is_pending());
    purgatory.try_complete_else_watch(request, "key", 0s);
    scheduler.advance(0s);
    CHECK(request.reasons ==
          (std::vector<htw::reason> { htw::reason::completed, htw::reason::expired }));
}

TEST(purgatory_closed_or_destroyed_ends_all) {
    std::string log;
    std::atomic<int> destroyed { 0 };
    htw::scheduler scheduler(test::manual());
    fetch first(log), second(log);
    {
        htw::purgatory<fetch> purgatory(scheduler);
        purgatory.try_complete_else_watch(first, "key", 1s);
        int visits = 0;
        log.clear();
        CHECK(purgatory.close([&](fetch &request) { visits += &request == &first; }) == 1);
        CHECK(visits == 1 && log == "Lr" && purgatory.close() == 0);
        std::error_code error;
        auto unique = std::make_unique<fetch>(log);
        unique->destroyed = &destroyed;
        CHECK(purgatory.try_complete_else_watch(std::move(unique), "key", 1s, error) ==
              htw::submission::refused);
        CHECK(error.value() == ESHUTDOWN && destroyed == 1);
        CHECK(purgatory.try_complete_else_watch(second, "key", 1s, error) ==
                  htw::submission::refused &&
              !second.is_pending() && log == "Lr");
    }
    {
        htw::purgatory<fetch> purgatory(scheduler);
        purgatory.try_complete_else_watch(second, "key", 1s);
        log.clear();
    }
    CHECK(log == "Lr" && !second.is_pending());
}

TEST(threshold_completes_what_it_reaches) {
    std::string log;
    htw::scheduler scheduler(test::manual());
    htw::purgatory<fetch> purgatory(scheduler);
    htw::threshold watermark(purgatory, 10);
    fetch first(log), second(log), third(log);
    CHECK(watermark.await(first, 10, 1s) == htw::submission::finished);
    CHECK(watermark.await(first, 12, 1s) == htw::submission::watched);
    CHECK(watermark.await(second, 11, 1s) == htw::submission::watched);
    CHECK(watermark.await(third, 20, 1s) == htw::submission::watched && log == "Cr");
    CHECK(watermark.advance(12) == 2 && watermark.value() == 12);
    CHECK(!first.is_pending() && !second.is_pending() && third.is_pending());
    watermark.lower(5);
    CHECK(watermark.value() == 5);
    CHECK(watermark.await(std::make_shared<fetch>(log), 6, 1s) == htw::submission::watched);
    int visits = 0;
    log.clear();
    CHECK(watermark.end_all(htw::reason::cancelled, [&](fetch &) { visits++; }) == 2);
    CHECK(visits == 2 && log == "XrXr" && watermark.end_all(htw::reason::closed) == 0);
    CHECK_FAILS(watermark.end_all(htw::reason::expired), std::errc::invalid_argument);
    watermark.await(first, 100, 1s);
    log.clear();
    htw::threshold<fetch> moved(std::move(watermark));
    CHECK(!watermark && moved && first.is_pending());
    moved = htw::threshold<fetch>();
    CHECK(log == "Lr" && !first.is_pending());
    std::error_code error;
    CHECK(moved.await(first, 1, 1s, error) == htw::submission::refused &&
          error == std::errc::invalid_argument && moved.value() == 0);
    htw::threshold<fetch> other(purgatory, 3, error);
    CHECK(!error && other.advance(4, error) == 0 && !error);
}

TEST(purgatory_gives_its_timers_a_name) {
    std::string log;
    htw::scheduler scheduler(test::manual());
    htw::purgatory_options options;
    options.name = "fetches";
    htw::purgatory<fetch> purgatory(scheduler, options);
    fetch request(log);
    CHECK(purgatory.try_complete_else_watch(request, "key", 1s) == htw::submission::watched);
    std::string name;
    test::visit_sites(scheduler, [&name](const htw_site_stats &stats) {
        if (stats.origin.site != nullptr)
            name = stats.origin.site->name;
    });
    CHECK(name == "fetches");
    CHECK(purgatory.cancel_key("key") == 1);
}

TEST(exceptions_of_hooks_go_to_the_handler) {
    std::string log, caught;
    htw::scheduler scheduler(test::manual());
    htw::purgatory_options options;
    options.exception_handler = [&caught](std::exception_ptr exception) {
        try {
            std::rethrow_exception(exception);
        } catch (const std::string &text) {
            caught += text + ' ';
        }
    };
    htw::purgatory<fetch> first(scheduler, options);
    htw::purgatory<fetch> purgatory(std::move(first)); // the handler is where it was
    fetch request(log);
    request.ready = request.throws = true;
    CHECK(purgatory.try_complete_else_watch(request, "key", 1s) == htw::submission::watched);
    CHECK(caught == "asked asked " && request.is_pending());
    caught.clear();
    CHECK(purgatory.check("key") == 0 && caught == "asked ");
    purgatory.cancel_key("key", [](fetch &) { throw std::string("visited"); });
    CHECK(caught == "asked visited ended " && !request.is_pending());
    htw::threshold threshold(purgatory);
    threshold.await(request, 1, 1s);
    caught.clear();
    threshold.end_all(htw::reason::closed, [](fetch &) { throw std::string("visited"); });
    CHECK(caught == "visited ended ");
}

TEST(purgatory_reports_errors) {
    std::string log;
    std::error_code error;
    htw::scheduler scheduler(test::manual());
    htw::purgatory_options wrong;
    wrong.shards = 3;
    CHECK_FAILS(htw::purgatory<fetch>(scheduler, wrong), std::errc::invalid_argument);
    htw::purgatory<fetch> none(scheduler, wrong, error);
    CHECK(!none && error == std::errc::invalid_argument && none.native() == nullptr);
    fetch request(log);
    CHECK_FAILS(none.try_complete_else_watch(request, "key", 1s), std::errc::invalid_argument);
    CHECK_FAILS(none.check("key"), std::errc::invalid_argument);
    CHECK(none.check("key", error) == 0 && error == std::errc::invalid_argument);
    CHECK_FAILS(none.check_later("key"), std::errc::invalid_argument);
    CHECK_FAILS(none.close(), std::errc::invalid_argument);
    CHECK_FAILS(none.stats(), std::errc::invalid_argument);
    CHECK_FAILS(htw::threshold<fetch>(none), std::errc::invalid_argument);
    CHECK(none.count_key("key") == 0 && !none.cancel(request) && !request.is_pending());
    htw::purgatory<fetch> purgatory(scheduler, {}, error);
    CHECK(purgatory && !error);
    CHECK_FAILS(purgatory.try_complete_else_watch(request, std::vector<htw::key>(), 1s),
                std::errc::invalid_argument);
    CHECK_FAILS(purgatory.try_complete_else_watch(std::shared_ptr<fetch>(), "key", 1s),
                std::errc::invalid_argument);
    CHECK(!request.is_pending() && log.empty());
    /* A request that is pending stays as it was, whoever owned it. */
    auto shared = std::make_shared<fetch>(log);
    purgatory.try_complete_else_watch(shared, "key", 1s);
    CHECK_FAILS(purgatory.try_complete_else_watch(shared, "key", 1s),
                std::errc::device_or_resource_busy);
    purgatory.try_complete_else_watch(*shared, "key", 1s, error);
    CHECK(error == std::errc::device_or_resource_busy && shared->is_pending());
    CHECK(shared.use_count() == 2 && purgatory.cancel_key("key") == 1 && shared.use_count() == 1);
    CHECK(purgatory.check_at_most("key", 1, error) == 0 && !error);
    none = std::move(purgatory);
    CHECK(none && !purgatory && none.check("key") == 0);
}

/* ---- the end of the program */

TEST(objects_destroyed_in_use_end_the_program) {
    CHECK(test::signal_of([] {
              std::string log;
              htw::scheduler scheduler(test::manual());
              htw::purgatory<fetch> purgatory(scheduler);
              fetch request(log); // destroyed before the purgatory
              purgatory.try_complete_else_watch(request, "key", 1s);
          }) == SIGABRT);
    CHECK(test::signal_of([] {
              htw::scheduler scheduler(test::manual());
              auto purgatory = std::make_unique<htw::purgatory<plain>>(scheduler);
              htw::threshold threshold(*purgatory);
              purgatory.reset();
          }) == SIGABRT);
    CHECK(test::signal_of([] {
              htw::scheduler scheduler(test::manual());
              auto purgatory = std::make_unique<htw::purgatory<plain>>(scheduler);
              purgatory->try_complete_else_watch(std::make_shared<plain>(), "key", 1s);
              purgatory->cancel_key("key", [&](plain &) { purgatory.reset(); });
          }) == SIGABRT);
    CHECK(test::signal_of([] {
              std::string log;
              htw::scheduler scheduler(test::manual());
              htw::purgatory<fetch> purgatory(scheduler);
              auto request = std::make_shared<fetch>(log);
              request->throws = true;
              purgatory.try_complete_else_watch(request, "key", 1s);
          }) == SIGABRT);
}

/* The objects of the parent do nothing in the child, and can be destroyed there. */
TEST(purgatory_and_requests_can_be_destroyed_after_a_fork) {
    std::string log;
    htw::purgatory_options options;
    options.exception_handler = [](std::exception_ptr) {};
    htw::scheduler scheduler(test::manual());
    auto purgatory = std::make_unique<htw::purgatory<fetch>>(scheduler, options);
    auto threshold = std::make_unique<htw::threshold<fetch>>(*purgatory);
    auto on_key = std::make_unique<fetch>(log), on_threshold = std::make_unique<fetch>(log);
    purgatory->try_complete_else_watch(*on_key, "key", 1s);
    threshold->await(*on_threshold, 1, 1s);
    log.clear();
    CHECK(test::status_in_child([&] {
              CHECK(!purgatory->cancel(*on_key) && on_key->is_pending());
              CHECK_FAILS(purgatory->check("key"), std::errc::owner_dead);
              CHECK_FAILS(threshold->advance(1), std::errc::owner_dead);
              on_key.reset();
              on_threshold.reset();
              threshold.reset();
              purgatory.reset();
              CHECK(log.empty());
          }) == 0);
    threshold.reset();
    purgatory.reset();
    CHECK(log == "LrLr");
}

/* ---- threads */

namespace {

/* Takes an item of a shared stock. */
class consumer : public htw::request {
  public:
    struct counts {
        std::atomic<int> stock { 0 };
        std::atomic<int> taken { 0 }, ended { 0 }, destroyed { 0 };
    };

    explicit consumer(counts &shared) : counts_(shared) {
    }
    ~consumer() {
        counts_.destroyed++;
    }

    bool try_complete() {
        int stock = counts_.stock;
        while (stock > 0)
            if (counts_.stock.compare_exchange_weak(stock, stock - 1))
                return true;
        return false;
    }

    void on_complete(htw::reason reason) {
        answer_ = reason; // not atomic: one thread at a time is in hooks
        if (reason == htw::reason::completed)
            counts_.taken++;
        counts_.ended++;
    }

    htw::reason answer() const {
        return answer_;
    }

  private:
    counts &counts_;
    htw::reason answer_ = htw::reason::closed;
};

constexpr int rounds = 2000;

} // namespace

TEST(requests_with_owners_are_destroyed_once_each) {
    consumer::counts counts;
    {
        htw::scheduler_options options;
        options.tick = 20us;
        htw::scheduler scheduler(options);
        htw::purgatory<consumer> purgatory(scheduler);
        std::vector<std::thread> threads;
        for (int i = 0; i < 2; i++)
            threads.emplace_back([&] {
                for (int round = 0; round < rounds; round++) {
                    auto request = std::make_shared<consumer>(counts);
                    purgatory.try_complete_else_watch(request, { "one", "two" },
                                                      std::chrono::microseconds(round % 100));
                    if (round % 3 == 0)
                        purgatory.cancel(*request);
                }
            });
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; round++) {
                counts.stock++;
                purgatory.check_at_most(round % 2 == 0 ? "one" : "two", 1);
            }
        });
        for (std::thread &thread : threads)
            thread.join();
    }
    CHECK(counts.ended == 2 * rounds && counts.destroyed == 2 * rounds);
    CHECK(counts.taken + counts.stock == rounds);
}

/* Without release(), the thread that submitted a request may destroy it when it is not pending. */
TEST(request_that_is_not_pending_can_be_destroyed_at_once) {
    consumer::counts counts;
    htw::scheduler_options options;
    options.tick = 20us;
    htw::scheduler scheduler(options);
    htw::purgatory<consumer> purgatory(scheduler);
    for (int round = 0; round < rounds / 4; round++) {
        auto request = std::make_unique<consumer>(counts);
        purgatory.try_complete_else_watch(*request, "key", 1us);
        while (request->is_pending())
            std::this_thread::yield();
        CHECK(request->answer() == htw::reason::expired);
        request.reset();
    }
    CHECK(counts.ended == rounds / 4 && counts.destroyed == rounds / 4);
}
