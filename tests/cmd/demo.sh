#!/bin/sh
# SPDX-License-Identifier: MIT
# What ./dev demo shows. usage: demo.sh HTW [MESSAGES [SECONDS]]
set -eu
htw=$1
messages=${2:-1000000}
seconds=${3:-10}

echo "htw delay releases each line when its delay is over:"
echo
lines=$(cat <<'END'
2.5s the kettle boils
0 start
1s one second
1.5s one and a half
300ms a blink
0.6 six tenths, in plain seconds
2s two seconds
1200ms twelve hundred milliseconds
900ms nine hundred
3s and done
100us a tenth of a millisecond
@0 an instant in the past: at once
END
)
printf '%s\n' "$lines"
printf '%s\n' "$lines" | "$htw" delay --timestamps

echo
echo "Now $messages messages with random delays of up to $seconds seconds, counted by wc:"
echo
awk -v n="$messages" -v seconds="$seconds" 'BEGIN {
    srand(7)
    for (i = 1; i <= n; i++)
        printf "%.3f message %d\n", seconds * rand(), i
}' | "$htw" delay --stats | wc -l
