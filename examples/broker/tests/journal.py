# SPDX-License-Identifier: MIT
"""LPUSHIN and LPUSHAT with --journal: what was answered with OK survives kill -9."""
import os
import random
import shutil
import subprocess
import tempfile
import time

from clients import Wire, cli, command
from harness import equal, has, note, own, settings, wait_for
from servers import broker


def list_of(server, key):
    with Wire(server) as wire:
        return wire.ask("LRANGE", key, 0, -1)


class Folder:
    """A folder for a journal, and the brokers that use it."""

    def __enter__(self):
        self.path = tempfile.mkdtemp()
        self.file = os.path.join(self.path, "values")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def broker(self, *options):
        return broker("--journal", self.file, *options)


@own()
def values_survive_kill_9(_):
    with Folder() as folder:
        soon = int(time.time() * 1000) + 3000 * settings.slowness
        with folder.broker() as server, Wire(server) as wire:
            equal(wire.ask("LPUSHAT", "at", soon, "a"), b"+OK")
            equal(wire.ask("LPUSHIN", "in", soon - int(time.time() * 1000), "b"), b"+OK")
            equal(wire.ask("LPUSHAT", "late", soon + 3600000, "c"), b"+OK")
            equal(wire.ask("LPUSHAT", b"bytes\r\n\0", 1, b"\0\xff"), b"+OK")
            wait_for(lambda: list_of(server, b"bytes\r\n\0") == [b"\0\xff"], "what is due at once")
            wait_for(lambda: server.info("deliveries_pending") == "3", "that it is done durably")
            server.kill()
        with folder.broker() as server, Wire(server) as wire:
            equal(server.info("deliveries_pending"), "3", "values in the file")
            equal(wire.ask("BLPOP", "at", "in", 60)[1], b"a")
            assert time.time() * 1000 >= soon, "early"
            equal(wire.ask("BLPOP", "in", 60)[1], b"b")
            equal(list_of(server, "late"), [])
            equal(list_of(server, b"bytes\r\n\0"), [], "what was pushed before the kill")
            wait_for(lambda: server.info("deliveries_pending") == "1", "that they are done durably")
            server.finish()
        with folder.broker() as server:
            equal(server.info("deliveries_pending"), "1", "after an ordinary end")
            server.finish()


@own()
def what_was_due_meanwhile_is_pushed_in_order_of_time(_):
    with Folder() as folder:
        count, now = 500, int(time.time() * 1000)
        order = list(range(count))
        random.shuffle(order)
        with folder.broker() as server, Wire(server) as wire:
            wire.send_bytes(b"".join(command("LPUSHAT", "l", now + 3000 + i, i) for i in order))
            for _i in order:
                equal(wire.reply(), b"+OK")
            server.kill()
        time.sleep(max(0, (now + 3500) / 1000 - time.time()))
        with folder.broker() as server:
            wait_for(lambda: len(list_of(server, "l")) == count, "all values")
            equal(list_of(server, "l"), [b"%d" % i for i in reversed(range(count))])
            server.finish()


@own()
def each_ok_before_a_kill_at_a_random_moment_is_kept(_):
    """Kills the broker while clients put, and compares what they were told with what the file has."""
    with Folder() as folder:
        far, told, sent = int(time.time() * 1000) + 3600000, 0, 0
        for _round in range(5):
            with folder.broker() as server:
                wires = [Wire(server) for _ in range(4)]
                for wire in wires:
                    wire.send_bytes(b"".join(command("LPUSHAT", "l", far, i) for i in range(2000)))
                    sent += 2000
                time.sleep(random.uniform(0, 0.05))
                server.kill()
                for wire in wires:
                    told += wire.until_closed().count(b"+OK\r\n")
                    wire.close()
        with folder.broker() as server:
            kept = int(server.info("deliveries_pending"))
            note(server, f"{sent} sent, {told} told, {kept} kept")
            assert told <= kept <= sent, f"{told} were answered with OK, and {kept} were kept"
            server.finish()


@own()
def replies_of_a_pipeline_are_in_order(_):
    with Folder() as folder, folder.broker() as server, Wire(server) as wire:
        far = int(time.time() * 1000) + 3600000
        count = 1000
        pipeline = [command("ECHO", 0)]
        for i in range(count):
            pipeline += [command("LPUSHAT", "l", far, i), command("ECHO", i)]
            if i % 50 == 7:
                pipeline += [command("RPUSH", "now", i), command("BLPOP", "now", 0)]
        began = time.monotonic()
        wire.send_bytes(b"".join(pipeline))
        equal(wire.reply(), b"0")
        for i in range(count):
            equal(wire.reply(), b"+OK")
            equal(wire.reply(), b"%d" % i)
            if i % 50 == 7:
                equal(wire.reply(), 1)
                equal(wire.reply(), [b"now", b"%d" % i])
        note(server, f"{count / (time.monotonic() - began):.0f} LPUSHAT/s in a pipeline")
        wire.send_bytes(command("LPUSHAT", "l", far, "v") + command("BLPOP", "empty", 0))
        equal(wire.reply(), b"+OK", "before the client is blocked")
        server.wait_until_blocked(1)
        server.finish()
        equal(wire.reply(), None, "at the end")


@own()
def a_client_that_closes_its_end_gets_all_replies(_):
    with Folder() as folder, folder.broker() as server, Wire(server) as wire:
        far = int(time.time() * 1000) + 3600000
        wire.send_bytes(command("LPUSHAT", "l", far, "v") * 300 + command("QUIT"))
        equal(wire.until_closed(), b"+OK\r\n" * 301)
        equal(server.info("deliveries_pending"), "300")
        server.finish()


def in_tiny_file_system(folder):
    """A program that runs the broker where the folder has little room; None: that is not allowed here."""
    script = os.path.join(tempfile.gettempdir(), f"tiny-{os.getpid()}.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"""#!/bin/sh
exec unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=3m none "$0" && exec "$@"' \\
    '{folder.path}' '{settings.broker}' "$@"
""")
    os.chmod(script, 0o755)
    return script if subprocess.run([script, "--help"], capture_output=True).returncode == 0 else None


@own()
def a_full_disk_is_an_error_for_those_whose_value_is_not_kept(_):
    with Folder() as folder:
        script, ordinary = in_tiny_file_system(folder), settings.broker
        if script is None:
            return
        far, value, count = int(time.time() * 1000) + 3600000, b"v" * 1000, 6000
        settings.broker = script
        try:
            with folder.broker() as server, Wire(server) as wire:
                oks = 0
                for _i in range(count // 50):
                    wire.send_bytes(b"".join(command("LPUSHAT", "l", far, value) + command("ECHO", i)
                                             for i in range(50)))
                    for i in range(50):
                        answer = wire.reply()
                        oks += answer == b"+OK"
                        assert answer == b"+OK" or b"-ERR the journal does not take" in answer, answer
                        equal(wire.reply(), b"%d" % i, "what follows it")
                assert 500 < oks < count, oks
                equal(server.info("deliveries_pending"), str(oks))
                note(server, f"{oks} of {count} values of 1000 bytes in 3 MiB")
                server.kill()
        finally:
            settings.broker = ordinary
            os.remove(script)


@own()
def clients_that_go_before_their_values_are_durable_do_no_harm(_):
    with Folder() as folder, folder.broker() as server:
        far = int(time.time() * 1000) + 3600000
        for _i in range(300):
            with Wire(server) as wire:
                wire.send_bytes(command("LPUSHAT", "l", far, "v") * 20 + command("BLPOP", "none", 0))
        server.wait_until_blocked(0)
        count = int(server.info("deliveries_pending"))
        assert 0 < count <= 6000, count
        server.finish()


@own()
def it_works_with_redis_cli(_):
    with Folder() as folder, folder.broker() as server:
        said = cli(server, "LPUSHIN l 100 value\nBLPOP l 60\n")
        equal(said[0][1], "OK\n")
        has(said[1][1], '"value"')
        server.finish()


@own()
def a_file_that_is_no_journal_is_refused(_):
    with Folder() as folder:
        with open(folder.file, "wb") as file:
            file.write(b"x" * 5000)
        result = subprocess.run([settings.broker, "--port", "0", "--journal", folder.file],
                                capture_output=True, timeout=60)
        equal(result.returncode, 1)
        has(result.stderr, b"values: ")
