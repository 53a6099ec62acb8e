# SPDX-License-Identifier: MIT
"""The relay over a real Kafka: test_relay.py [--quick | --long] RELAY BUILD JARS [NAME...]

RELAY is the program htw-relay, BUILD the folder of the build, with examples and what is preloaded, JARS that of
Kafka's artifacts. NAME: tests whose name contains it. --quick: those that CI runs; --long: also those that take minutes. Ends with
status 77 where Java, Maven or the network is missing.
"""
import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kafka"))

from client import Client  # noqa: E402
from cluster import Cluster, Missing  # noqa: E402
import judge  # noqa: E402
# Each of the scenarios_*.py collects its tests in `cases`.
import case as cases  # noqa: E402
import scenarios_brokers  # noqa: E402,F401
import scenarios_documents  # noqa: E402,F401
import scenarios_members  # noqa: E402,F401
import scenarios_records  # noqa: E402,F401
import scenarios_waiting  # noqa: E402,F401


class World:
    """A running cluster with a client, for all tests that need one like it."""

    def __init__(self, arguments, nodes, settings):
        self.program = os.path.abspath(arguments.relay)
        build = os.path.abspath(arguments.build)
        self.suspend = os.path.join(build, "programs/relay/tests/relay_suspend.so")
        examples = os.path.join(build, "examples")
        self.examples = [os.path.join(examples, name) for name in ("relay_producer", "relay_consumer")]
        self.cluster = Cluster(arguments.jars, nodes, **settings)

    def __enter__(self):
        with contextlib.ExitStack() as stack:  # what has been started is stopped, if the rest fails
            stack.enter_context(self.cluster)
            self.client = Client(self.cluster)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.client.close()
        self.stack.close()


def run_scenario(function, world):
    case = cases.Case(world)
    try:
        function(case)
    except BaseException:
        for relay in case.relays:
            print(f"--- {relay.log}\n{relay.text()[-3000:]}", flush=True)
        raise
    finally:
        case.close()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--quick", action="store_true")
    amount.add_argument("--long", action="store_true")
    for name in ("relay", "build", "jars"):
        parser.add_argument(name)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()

    with tempfile.TemporaryDirectory() as folder:
        judge.self_test(folder)

    plan = [(function, nodes, settings) for function, kind, nodes, settings in cases.tests
             if kind == cases.CI or kind == cases.USUAL and not arguments.quick or arguments.long]
    plan = [one for one in plan if not arguments.names or any(name in one[0].__name__ for name in arguments.names)]

    passed, failed = 0, []
    while plan:
        nodes, settings = plan[0][1:]
        group = [one for one in plan if one[1:] == (nodes, settings)]
        plan = [one for one in plan if one not in group]
        with World(arguments, nodes, settings) as world:
            for function, *_ in group:
                name, begin = function.__name__, time.monotonic()
                print(f"{name} ...", flush=True)
                try:
                    run_scenario(function, world)
                except Exception:
                    failed.append(name)
                    traceback.print_exc(file=sys.stdout)
                    print(f"FAILED {name} ({time.monotonic() - begin:.1f} s)", flush=True)
                else:
                    passed += 1
                    print(f"ok {name} ({time.monotonic() - begin:.1f} s)", flush=True)
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no Kafka is left behind
    try:
        sys.exit(main())
    except Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
