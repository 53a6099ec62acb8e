#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests campaign.py with fuzzers that are scripts: an edge is a byte that is in an input."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CAMPAIGN = pathlib.Path(__file__).resolve().parent / "campaign.py"
README = """before
<!-- campaign: written by ./dev campaign -->
| `fuzz_other` | 2000-01-01 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
<!-- end of campaign -->
after
"""
FUZZER = """#!{python}
import pathlib, sys
options = dict(word[1:].split("=", 1) for word in sys.argv[1:] if word.startswith("-"))
folders = [pathlib.Path(word) for word in sys.argv[1:] if not word.startswith("-")]
if "max_total_time" in options:
    if "{found}":
        (folders[0] / "f0").write_text("{found}")
    print("stat::number_of_executed_units: 1500")
    pathlib.Path(options["artifact_prefix"] + "slow-unit-1").write_text("slow")
    artifact = pathlib.Path(options["artifact_prefix"] + "crash-1")
    if {crashes} and not artifact.exists():
        artifact.write_text("bad")
        sys.exit(77)
    sys.exit({status})
if options.get("runs") == "0":
    print("#1 INITED cov:", len(set("".join(path.read_text() for path in folders[0].iterdir()))))
if "set_cover_merge" in options:
    for folder in folders[1:]:
        for path in folder.iterdir():
            (folders[0] / path.name).write_text(path.read_text())
"""


class Campaign(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.corpus = self.root / "corpora/one"
        self.corpus.mkdir(parents=True)
        (self.corpus / "0a").write_text("ab")
        (self.corpus / "by-hand").write_text("c")
        (self.root / "README.md").write_text(README)

    def tearDown(self):
        self.folder.cleanup()

    def run_with(self, found="", crashes=False, status=0):
        program = self.root / "fuzz_one"
        program.write_text(FUZZER.format(python=sys.executable, found=found, crashes=crashes, status=status))
        program.chmod(0o755)
        return subprocess.run([sys.executable, CAMPAIGN, self.root / "found", self.root / "README.md", self.root / "corpora",
                               "5", f"one={program}"], stdout=subprocess.PIPE, text=True)

    def row(self):
        return [line for line in (self.root / "README.md").read_text().splitlines() if "`fuzz_one`" in line]

    def stored(self):
        return {path.name for path in self.corpus.iterdir()}

    def test_new_edges_are_stored_and_counted(self):
        self.assertEqual(self.run_with(found="axyz").returncode, 0)
        self.assertEqual(self.stored(), {"0a", "by-hand", "f0"})
        self.assertEqual(self.row()[0].split("|")[4:10], [" 1 500 ", " 6 ", " 3 ", " 3 ", " 1 ", " 0 "])

    def test_without_new_edges_nothing_is_stored(self):
        self.assertEqual(self.run_with(found="abc").returncode, 0)
        self.assertEqual(self.stored(), {"0a", "by-hand"})
        self.assertEqual(self.row()[0].split("|")[5:7], [" 3 ", " 0 "])

    def test_a_finding_is_kept_and_told_and_the_fuzzer_goes_on(self):
        done = self.run_with(found="d", crashes=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"FOUND: {self.root}/fuzz_one {self.root}/found/one-crash-1", done.stdout)
        self.assertEqual(self.row()[0].split("|")[4:10], [" 3 000 ", " 4 ", " 1 ", " 3 ", " 1 ", " 1 "])

    def test_a_fuzzer_that_does_not_run_fails_and_changes_nothing(self):
        done = self.run_with(found="d", status=2)
        self.assertEqual(done.returncode, 1)
        self.assertIn("fuzz_one does not run", done.stdout)
        self.assertEqual(self.stored(), {"0a", "by-hand"})
        self.assertEqual((self.root / "README.md").read_text(), README)

    def test_other_rows_and_the_text_stay(self):
        self.run_with()
        self.run_with()
        text = (self.root / "README.md").read_text()
        self.assertEqual(len(self.row()), 1)
        self.assertIn(README.splitlines()[2], text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))


if __name__ == "__main__":
    unittest.main()
