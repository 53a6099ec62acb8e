#!/bin/sh
# SPDX-License-Identifier: MIT
# kcat.sh - a record later, from the shell. Each of the four cases is one call of kcat.
#
# usage: kcat.sh BROKERS INPUT DESTINATION at TIME ID KEY VALUE      at TIME, in ms since 1970
#        kcat.sh BROKERS INPUT DESTINATION after DELAY ID KEY VALUE  after DELAY, in ms
#        kcat.sh BROKERS INPUT cancel ID KEY                         not at all
#        kcat.sh BROKERS TOPIC read COUNT                            print id, key and value of what comes
set -eu

# send KEY VALUE OPTION...: the partitioner is that of Kafka's Java library, so that the cancels of all
# clients meet their records, and a second record with an id replaces the first.
send() {
    key=$1
    value=$2
    shift 2
    printf '%s\n' "$value" |
        kcat -P -b "$brokers" -t "$topic" -X enable.idempotence=true -X partitioner=murmur2_random -k "$key" "$@"
}

brokers=${1:-} topic=${2:-}
case $#-${3:-}-${4:-} in
5-cancel-*) send "$5" cancel -H "htw-cancel=$4" ;;
8-*-at) send "$7" "$8" -H "htw-deliver-at=$5" -H "htw-id=$6" -H "htw-deliver-to=$3" ;;
8-*-after) send "$7" "$8" -H "htw-delay=$5" -H "htw-id=$6" -H "htw-deliver-to=$3" ;;
4-read-*)
    kcat -C -q -u -b "$brokers" -t "$topic" -X isolation.level=read_committed -o beginning -c "$4" \
        -f '%h\t%k\t%s\n' | sed -u 's/^[^\t]*htw-id=\([^,\t]*\)[^\t]*/\1/'
    ;;
*)
    sed -n 's/^# \(usage:\)/\1/p; s/^#  \( *kcat.sh\)/ \1/p' "$0" >&2
    exit 2
    ;;
esac
