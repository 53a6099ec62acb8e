#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what a relay delivers, with confluent-kafka, and handles each record once, also when it is killed.

usage: consumer.py BROKERS TOPIC GROUP DATABASE [COUNT]

Prints id, key and value of each record; ends after COUNT records, or by SIGTERM or SIGINT. DATABASE is a file of SQLite.

With isolation.level=read_committed it never sees what a relay has published in a transaction that was aborted. What remains
is what no broker can prevent: the program that asked for a record may do so once more after its delivery, and this one may be
killed before it has committed an offset. So the effect of a record and its id are written to the database in one transaction. Where the id
is there already, so is the effect.
"""
import contextlib
import signal
import sqlite3
import sys

from confluent_kafka import Consumer


def subscribe(brokers, topic, group):
    consumer = Consumer({
        "bootstrap.servers": brokers,
        "group.id": group,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "enable.auto.offset.store": False,  # an offset is stored when its record was handled, and then committed
    })
    consumer.subscribe([topic])
    return consumer


def handle(database, name, key, value):
    """False: this was done before. The table stands for whatever the program changes. A record without an id is always new."""
    with database:  # commits, or takes all of it back
        added = database.execute("INSERT OR IGNORE INTO reminders VALUES (?, ?, ?)", (name, key, value)).rowcount
    return added == 1


def main(words):
    if len(words) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    brokers, topic, group, path = words[:4]
    left = int(words[4]) if len(words) == 5 else -1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    with contextlib.closing(sqlite3.connect(path)) as database, contextlib.closing(subscribe(brokers, topic, group)) as consumer:
        database.execute("CREATE TABLE IF NOT EXISTS reminders (id TEXT PRIMARY KEY, key TEXT, value TEXT)")
        while left:
            message = consumer.poll(0.2)
            if message is None:
                continue
            if message.error():  # librdkafka goes on by itself
                print(f"consumer.py: {message.error()}", file=sys.stderr)
                continue
            parts = dict(message.headers() or []).get("htw-id"), message.key(), message.value()
            name, key, value = (part and part.decode() for part in parts)
            if handle(database, name, key, value):
                print(name or "", key or "", value or "", sep="\t", flush=True)
                left -= left > 0
            consumer.store_offsets(message)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
