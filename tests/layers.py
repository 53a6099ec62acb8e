# SPDX-License-Identifier: MIT
"""The layers, as the tools that go through them one by one see them."""

import re

# By layer: the files under src/, or of programs/, that it is made of, and the tests (Meson's names) that are its own. What
# base has for one layer counts for that layer.
LAYERS = {
    "wheel": (
        r"(wheel/.*|base/(bitmap|list))\.[ch]",
        r"wheel.*|bitmap|model|enumerate_wheel"),
    "scheduler": (
        r"((scheduler|port)/.*|base/(slab|lock|divisor|backoff|fork|clock|cpu|random|thread|alloc))\.[ch]",
        r"scheduler_.*|observe_.*|model_sc(heduler|ope)|slab|alarm|cpu|random|lock|lock_rank|backoff|alloc|explore_orders|fault_(threads|alarm)|stress_(?!purgatory|journal|monitor).*"),
    "purgatory": (
        r"((purgatory|threshold)/.*|base/(heap|key_table))\.[ch]",
        r"purgatory_.*|threshold.*|heap|cell_pool|key_table|value_tree|model_purgatory|stress_purgatory"),
    "calendar": (
        r"calendar/.*\.(c|h|cc)",
        r"calendar_.*"),
    "journal": (
        r"journal/.*\.[ch]",
        r"journal_.*|fault_journal.*|model_journal|stress_journal.*|enumerate_journal"),
    "observe": (
        r"(observe/.*|base/histogram)\.[ch]",
        r"observe_.*|explore_orders|model_scheduler|monitor_answers"),
    "monitor": (
        r"monitor/.*\.[ch]",
        r"monitor.*|(fault|fuzz|stress)_monitor"),
    "programs": (
        r"programs/(?!relay/).*\.[ch]",
        r"duration|safe_file|signals|delay(?!_queue).*|draw.*|replay_.*|fault_delay.*|cron.*|cmd|demo"),
}


def path_of(root, name):
    return root / name if name.startswith("programs/") else root / "src" / name


def name_of(root, path):
    return str(path.relative_to(root)).removeprefix("src/")


def layer_of(name):
    """The layer of a file, by its name; None for one of no layer."""
    return next((layer for layer, (files, _) in LAYERS.items() if re.fullmatch(files, name)), None)
