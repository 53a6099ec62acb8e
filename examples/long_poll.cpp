/* SPDX-License-Identifier: MIT */
/*
 * long_poll.cpp - a log that producers append to and consumers read from: a fetch waits until there
 * are enough records, or is answered with what there is when its time is over; a produce waits until
 * a replica has its record.
 */
#include <htw/htw.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

struct partition {
    std::string name;
    std::vector<std::string> records;
};

/* Waits for `least` records from an offset on. The purgatory owns it while it waits. */
class fetch : public htw::request {
  public:
    fetch(const partition &partition, std::size_t offset, std::size_t least, int &answers)
        : partition_(partition), offset_(offset), least_(least), answers_(answers) {
    }

    bool try_complete() {
        return partition_.records.size() >= offset_ + least_;
    }

    void on_complete(htw::reason reason) {
        std::cout << "fetch from " << offset_ << (reason == htw::reason::expired ? ", late" : "")
                  << ':';
        for (std::size_t i = offset_; i < partition_.records.size(); i++)
            std::cout << ' ' << partition_.records[i];
        std::cout << '\n';
        answers_++;
    }

  private:
    const partition &partition_;
    std::size_t offset_, least_;
    int &answers_;
};

/* Waits until the replica has the record. Here it belongs to its producer, who keeps it. */
class produce : public htw::request {
  public:
    void on_complete(htw::reason reason) {
        safe = reason == htw::reason::completed;
    }

    bool safe = false;
};

int main() {
    htw::scheduler_options options;
    options.clock = htw::clock::manual; // so that the example takes no time
    options.workers = 0;
    htw::scheduler scheduler(options);

    htw::purgatory<fetch> fetches(scheduler);
    htw::purgatory<produce> produces(scheduler);
    htw::threshold replicated(produces, 0);
    partition orders { "orders-3", {} };
    int answers = 0;
    auto append = [&](std::string record) {
        orders.records.push_back(std::move(record)); // first the change, then the event
        fetches.check(orders.name);
    };

    fetches.try_complete_else_watch(std::make_unique<fetch>(orders, 0, 2, answers), orders.name,
                                    500ms);
    fetches.try_complete_else_watch(std::make_unique<fetch>(orders, 0, 9, answers), orders.name,
                                    500ms);
    append("apples");
    append("pears"); // the first fetch is answered
    bool first = answers == 1;

    produce acknowledged, forgotten;
    replicated.await(acknowledged, 1, 1s);
    replicated.await(forgotten, 2, 1s);
    replicated.advance(1); // the replica has fetched one record

    scheduler.advance(2s); // the second fetch is answered with what there is
    std::cout << "apples are " << (acknowledged.safe ? "safe" : "not known to be safe")
              << ", pears are " << (forgotten.safe ? "safe" : "not known to be safe") << '\n';
    return first && answers == 2 && acknowledged.safe && !forgotten.safe ? 0 : 1;
}
