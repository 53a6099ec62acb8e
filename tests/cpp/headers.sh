#!/bin/sh
# SPDX-License-Identifier: MIT
# Each C++ header compiles alone, and twice, in each standard and with each compiler that is there,
# without a warning, also without exceptions and RTTI; so does the use of what is a template. What
# must not compile does not.
# usage: headers.sh ROOT_OF_THE_PROJECT
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -I, not -isystem: the warnings of the headers count.
warnings='-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-align
    -Wnon-virtual-dtor -Woverloaded-virtual -pedantic'

# compile COMPILER STANDARD FILE [OPTION]...
compile() {
    compiler=$1 standard=$2 file=$3
    shift 3
    # shellcheck disable=SC2086 # a list of words
    "$compiler" -x c++ "-std=$standard" $warnings -Werror -I "$root/include" -I "$root/bindings/cpp" -fsyntax-only "$@" "$file"
}

compilers=
for compiler in g++ clang++; do
    ! command -v "$compiler" >"$work/found" || compilers="$compilers $compiler"
done
[ -n "$compilers" ] || { echo 'no C++ compiler'; exit 1; }

for header in "$root"/bindings/cpp/htw/*.hpp "$root"/bindings/cpp/htw/cpp/*.hpp; do
    name=${header#"$root/bindings/cpp/"}
    printf '#include <%s>\n#include <%s>\n' "$name" "$name" >>"$work/all"
    printf '#include <%s>\nint main() {}\n' "$name" >"$work/alone"
    compile "${compilers##* }" c++17 "$work/alone"
    echo "ok $name"
done

cat >"$work/use" <<'PROGRAM'
#include <string>
#include <vector>

using namespace std::chrono_literals;

struct session {
    htw_timer timer{};
};
struct fetch : htw::request {
    bool try_complete() {
        return true;
    }
    void on_complete(htw::reason) {
    }
};
struct no_request {
    void on_complete(htw::reason);
};
struct no_hook : htw::request {};
class hidden_hook : public htw::request {
    bool try_complete();

  public:
    void on_complete(htw::reason);
};
struct other_clock {
    using duration = std::chrono::seconds;
};

void use(htw::scheduler &scheduler, htw::wheel<session, &session::timer> &wheel, session &session);
void use_purgatory(htw::purgatory<fetch> &purgatory, fetch &request);
void use_purgatory(htw::purgatory<fetch> &purgatory, fetch &request) {
    std::error_code error;
    const int number = 3;
    std::string text = "key";
    std::vector<htw::key> keys = { "key", htw::key_bytes(number) };
    purgatory.try_complete_else_watch(request, keys, 1s, error);
    purgatory.try_complete_else_watch(std::make_shared<fetch>(), { text }, 1min, error);
    purgatory.try_complete_else_watch(std::make_unique<fetch>(), text, htw::never);
    purgatory.check_at_most(htw::key_bytes(number), 1, error);
    purgatory.cancel_key("key", [](fetch &each) { static_cast<void>(each); });
    purgatory.set_timeout(request, 1.5s, error);
    htw::threshold threshold(purgatory, 1);
    threshold.await(request, 2, 1s, error);
    threshold.end_all(htw::reason::closed);
}
void use(htw::scheduler &scheduler, htw::wheel<session, &session::timer> &wheel, session &session) {
    std::error_code error;
    const std::string text = "text";
    htw::timer_options options;
    auto quiet = []() noexcept {};
    auto large = [text](const htw::expiration &expiration) {
        expiration.reschedule(std::chrono::duration<float>(1));
    };
    htw::timer timer = scheduler.schedule(1ms, quiet);
    timer = scheduler.schedule(1min, options, large, error);
    timer = scheduler.schedule_at(std::chrono::system_clock::now(), options, large);
    timer = scheduler.schedule_every(1.5s, htw::repeat::after, large);
    scheduler.reschedule_at(timer, htw::manual_clock::time_point(1h));
    htw::calendar daily = htw::calendar::daily(3);
    timer = scheduler.schedule_calendar(daily, quiet, error);
    static_cast<void>(daily.next(std::chrono::system_clock::now(), htw::zone("UTC")));
    htw::journal journal(scheduler, "jobs");
    journal.put_later(htw::job { text }, [](std::error_code) {});
    htw::lease lease = journal.lease({ "mail", nullptr });
    journal.apply_later(htw::change().done(std::move(lease)));
    journal.kick_later("mail", 3, [](std::error_code, std::uint32_t count) { static_cast<void>(count); });
    static_cast<void>(journal.peek(journal.put(htw::job { "payload" }))->key.value_or(text));
    wheel.schedule(session, 1);
    static_cast<void>(wheel.poll(1));
    for (struct session *due : wheel.poll_batch<8>(1, 100))
        wheel.cancel(*due);
#if __cplusplus >= 202002L
    htw::scheduler other({ .workers = 1, .clock = htw::clock::manual });
    timer = other.schedule(1s, { .slack = 1ms, .key = "key" }, large);
    journal.put({ .payload = text, .queue = "mail" });
    timer = other.schedule_calendar(daily, { .grace = 1s, .key = "key" }, large);
#endif
#ifdef REFUSED
    REFUSED;
#endif
}
PROGRAM
cat "$work/all" "$work/use" >"$work/program"
for compiler in $compilers; do
    compile "$compiler" c++17 "$work/program"
    compile "$compiler" c++20 "$work/program"
    compile "$compiler" c++17 "$work/program" -fno-exceptions -fno-rtti
    echo "ok $compiler"
done

# The headers compiled once for all that follow: both compilers look for such a file beside the one that is included.
# shellcheck disable=SC2086 # a list of words
"${compilers##* }" -x c++-header -std=c++17 $warnings -Werror -I "$root/include" -I "$root/bindings/cpp" -o "$work/all.gch" "$work/all"
# refused STATEMENT TEXT: a compiler refuses the statement, and says why.
refused() {
    ! compile "${compilers##* }" c++17 "$work/use" -include "$work/all" "-DREFUSED=$1" 2>"$work/errors" ||
        { echo "accepted: $1"; exit 1; }
    grep -q "$2" "$work/errors" || { cat "$work/errors"; echo "not refused for: $2"; exit 1; }
    echo "ok refused: $1"
}
refused 'scheduler.schedule(1ms, quiet)' 'nodiscard'
refused 'timer = scheduler.schedule_at(std::chrono::time_point<other_clock>(), quiet)' 'htw takes time points'
refused 'timer = scheduler.schedule(1ms, [](int) {})' 'a callback takes nothing'
refused 'htw::timer copy = timer; copy.detach()' 'deleted'
refused 'options.key = htw::key_bytes(42)' 'deleted'
refused 'htw::purgatory<no_request> purgatory(scheduler)' 'derived from htw::request'
refused 'htw::purgatory<no_hook> purgatory(scheduler)' 'a public void on_complete'
refused 'htw::purgatory<hidden_hook> purgatory(scheduler)' 'private'
refused 'htw::purgatory<fetch>(scheduler).close([](int) {})' 'a visitor takes a request'
refused 'fetch first; fetch second = first; second.is_pending()' 'deleted'
refused 'journal.lease("mail")' 'nodiscard'
refused 'htw::lease second = lease; second.done()' 'deleted'
refused 'journal.put_later(htw::job {}, [](int *) {})' 'a notice takes a std::error_code'
refused 'options.key = htw::key_bytes(options)' 'equal objects of this type'

# C++14 is told what it lacks.
! compile "${compilers##* }" c++14 "$work/all" 2>"$work/errors" || { echo 'C++14 is accepted'; exit 1; }
grep -q 'needs C++17' "$work/errors" || { cat "$work/errors"; exit 1; }
echo 'ok C++14 is refused'
