#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks a relay to deliver a record later, or cancels that, with confluent-kafka.

usage: producer.py BROKERS INPUT DESTINATION at TIME ID KEY VALUE     at TIME
       producer.py BROKERS INPUT DESTINATION after DELAY ID KEY VALUE  after DELAY
       producer.py BROKERS INPUT cancel ID KEY                         not at all

TIME is in milliseconds since 1970, and DELAY in milliseconds. A second record with the same id and key replaces the first.
"""
import sys

from confluent_kafka import Producer


def connect(brokers):
    return Producer({
        "bootstrap.servers": brokers,
        "enable.idempotence": True,  # what the client sends again after a failure is not written twice
        "partitioner": "murmur2_random",  # that of Kafka's Java library, so that cancels of all clients meet their records
        "message.timeout.ms": 20000,
    })


def send(producer, topic, key, value, headers):
    """Returns when the brokers have the record; raises an error if they have not."""
    results = []
    producer.produce(topic, key=key, value=value, headers=headers, on_delivery=lambda error, _: results.append(error))
    producer.flush(30)
    if not results or results[0]:
        raise RuntimeError(results[0] if results else "no answer from the brokers")


def main(words):
    match words:
        case [brokers, topic, "cancel", name, key]:
            send(connect(brokers), topic, key, None, [("htw-cancel", name)])
        case [brokers, topic, destination, ("at" | "after") as how, time, name, key, value]:
            when = "htw-deliver-at" if how == "at" else "htw-delay"
            send(connect(brokers), topic, key, value, [(when, time), ("htw-id", name), ("htw-deliver-to", destination)])
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RuntimeError as error:
        sys.exit(f"producer.py: {error}")
