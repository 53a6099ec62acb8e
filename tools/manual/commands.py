# SPDX-License-Identifier: MIT
"""commands.py - the commands of htw: their help, and which document says more of each."""

import os
import re
import subprocess
from dataclasses import dataclass

# A new command needs a line here: the part of a document that its man page shows after its help. Several headings
# are separated by `|`; without one it is the whole document.
DOCUMENTS = {
    "cron": "docs/calendar.md#the-command|cron-expressions|daylight-saving",
    "delay": "docs/delay.md#delays-that-survive-a-crash",
    "draw": "docs/draw.md#the-picture",
    "journal": "docs/journal.md#the-command-htw-journal",
    "relay": "docs/relay.md#what-a-record-says|operating|security|when-something-fails",
    "replay": "docs/monitor.md#htw-replay",
    "serve": "docs/serve.md#start|limits|coming-from-beanstalkd|differences-from-beanstalkd",
    "top": "docs/monitor.md#htw-top|who-may-read-it",
}


@dataclass
class Command:
    name: str  # delay; empty for htw itself
    program: str  # htw-delay: the name of its page
    summary: str
    help: str
    document: str  # docs/delay.md#part


def run(htw, *words):
    """What the program prints; None if it was built without that command. Another that is installed does not count."""
    run = subprocess.run([htw, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                         stdin=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C", PATH="/nonexistent"))
    return run.stdout if run.returncode == 0 and run.stdout else None


def read_all(root, htw):
    """All that the program lists. Without a program: none."""
    if htw is None:
        return []
    top = run(os.path.abspath(htw), "--help")
    listed = re.findall(r"^  ([a-z]+) +(.*)", top, re.MULTILINE)
    out = [Command("", "htw", "hierarchical timing wheels as a program", top, "docs/delay.md")]
    for name, summary in listed:
        if name == "help":
            continue
        if name not in DOCUMENTS:
            raise SystemExit(f"tools/manual/commands.py: which document is that of htw {name}?")
        text = run(os.path.abspath(htw), "help", name)
        if text is not None:
            out.append(Command(name, f"htw-{name}", summary, text, DOCUMENTS[name]))
    return out
