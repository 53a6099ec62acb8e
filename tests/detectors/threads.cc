// SPDX-License-Identifier: MIT
// threads.cc - objects pass between std::thread and callbacks; a race detector must be silent.
#include <htw/htw.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Message {
    std::string text;
    std::vector<std::string> answers;
};

void answer(void *arg, const struct htw_expiration *) {
    std::unique_ptr<Message> message(static_cast<Message *>(arg));
    message->answers.push_back(message->text + ", too");
}

bool send(struct htw_scheduler *scheduler, int count) {
    for (int i = 0; i < count; i++) {
        std::unique_ptr<Message> message(new Message { "hello " + std::to_string(i), {} });
        htw_handle handle = 0;
        if (htw_schedule(scheduler, i % 5 * HTW_MILLISECOND, answer, message.get(), &handle) != 0)
            return false;
        Message *sent = message.release();
        if (i % 4 == 0 && htw_cancel(scheduler, handle) == HTW_CANCELLED)
            answer(sent, nullptr);
    }
    return true;
}

} // namespace

int main() {
    struct htw_scheduler *scheduler = nullptr;
    bool sent[2] = { false, false };
    if (htw_scheduler_create(&scheduler, nullptr) != 0)
        return 2;
    std::thread first([&] { sent[0] = send(scheduler, 300); });
    std::thread second([&] { sent[1] = send(scheduler, 300); });
    first.join();
    second.join();
    while (htw_pending(scheduler) > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    htw_scheduler_destroy(scheduler);
    return sent[0] && sent[1] ? 0 : 2;
}
