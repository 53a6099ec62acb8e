#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo of ./dev demo broker; fails if an answer is not as expected. usage: demo.sh BROKER
# shellcheck disable=SC2317 # some functions are called through others
set -eu
broker=$1

folder=$(mktemp -d)
pid=
end() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

# until_so COMMAND...: repeats it until it succeeds, for ten seconds at most.
until_so() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 500 ] || { echo "demo: never: $*" >&2; exit 1; }
        sleep 0.02
    done
}

is_ready() {
    grep -q '^ready on ' "$folder/broker"
}

is_blocked() { # COUNT: whether so many clients are blocked
    redis-cli -p "$port" INFO clients | grep -q "^blocked_clients:$1"
}

# ends_with FILE TEXT: fails unless the last line of an answer ends with the text.
ends_with() {
    case $(tail -n 1 "$folder/$1") in
    *"$2") ;;
    *)
        echo "demo: expected $2" >&2
        exit 1
        ;;
    esac
}

# shows TEXT WORD...: runs redis-cli, and shows the command and the answer, which ends with the text.
shows() {
    wanted=$1
    shift
    echo "\$ redis-cli $*"
    redis-cli --no-raw -p "$port" "$@" | tee "$folder/shown"
    ends_with shown "$wanted"
}

# waits NAME WORD...: runs redis-cli in the background, as the client of that name.
waits() {
    name=$1
    shift
    echo "\$ redis-cli $* &    # the $name"
    redis-cli --no-raw -p "$port" "$@" >"$folder/$name" &
    eval "pid_of_$name=\$!"
}

# answer NAME TEXT: waits for the answer of that client, and shows it.
answer() {
    eval "wait \"\$pid_of_$1\""
    sed "s/^/the $1: /" "$folder/$1"
    ends_with "$1" "$2"
}

: >"$folder/broker" # is_ready reads it
"$broker" --port 0 >"$folder/broker" &
pid=$!
until_so is_ready
port=$(sed 's/^ready on .*://' "$folder/broker")
echo "The broker is $(cat "$folder/broker"). A worker is blocked until a job is pushed:"
echo
waits worker BLPOP jobs 10
until_so is_blocked 1
shows '(integer) 1' RPUSH jobs report
answer worker '"report"'

echo
echo 'If no job arrives within half a second, the answer is nil:'
echo
shows '(nil)' BLPOP jobs 0.5

echo
echo 'A delayed job reaches a blocked worker after its second:'
echo
shows OK LPUSHIN jobs 1000 tea
waits worker BLPOP urgent jobs 10
answer worker '"tea"'

echo
echo 'The statistics of the purgatory with three blocked clients, two with a timeout, one on two keys:'
echo
waits first BLPOP urgent jobs 60
waits second BRPOP jobs 60
waits third BLMOVE jobs finished LEFT RIGHT 0
until_so is_blocked 3
shows '' INFO purgatory

echo
echo 'SIGTERM: each blocked client gets nil, and the broker ends with status 0:'
echo
echo "\$ kill $pid"
kill "$pid"
for name in first second third; do
    answer "$name" '(nil)'
done
status=0
wait "$pid" || status=$?
pid=
echo "the broker ended with status $status"
exit "$status"
