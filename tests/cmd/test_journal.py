# SPDX-License-Identifier: MIT
"""test_journal.py - `htw journal`: looking at a journal, and changing it."""
import base64
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import time

from programs import PROGRAM, command, content_of, file_with, needs, read_until, stop, wait_for

pytestmark = needs("journal")
STATES = ("delayed", "ready", "leased", "buried")


def change(*words, data=b""):
    """Runs an action that succeeds; returns what it printed."""
    got = command("journal", *words, input=data)
    assert (got.status, got.err) == (0, ""), words
    return got.out.decode().rstrip("\n")


def refused(*words, status=1):
    """What an action says that fails, and prints nothing else."""
    got = command("journal", *words)
    assert (got.status, got.out) == (status, b""), (words, got.out)
    return got.err


def rows_of(journal, *options):
    return [json.loads(line) for line in change("-J", *options, "list", journal).splitlines()]


def states_of(journal, state, *options):
    return rows_of(journal, "--state", state, *options)


def queues_of(journal):
    """The numbers of each queue: delayed, ready, leased, buried."""
    return {queue["queue"]: [queue[state] for state in STATES] for queue in json.loads(change("-J", "stats", journal))["queues"]}


def alter(journal, statements):
    connection = sqlite3.connect(journal)
    connection.executescript(statements)
    connection.close()


def journal_with(directory, *jobs):
    """A journal with these, each an instant or a duration, a blank, and a payload, which no process has open."""
    journal = os.path.join(directory, "journal")
    for job in jobs:
        change("put", journal, *job.split(b" ", 1))
    return journal


def journal_of_many(directory, count, payload):
    """A journal with so many jobs of one instant."""
    journal = journal_with(directory, b"+1h " + payload)
    alter(journal, "CREATE TEMP TABLE number AS WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) "
          "SELECT n FROM number LIMIT {0} - 1;"
          "UPDATE htw_meta SET jobs = {0}, next_sequence = 1 << 40;"
          "INSERT INTO htw_block SELECT place, first + 256 * n FROM htw_block, number WHERE n <= {0} / 256;"
          "INSERT INTO htw_job SELECT id + n, deadline, key, payload, queue, priority, put, lease FROM htw_job, number".format(count))
    return journal


def open_with(directory, *jobs):
    """A process that has a journal with these jobs open; and the journal."""
    journal = journal_with(directory, *jobs, b"+0s up")
    process = subprocess.Popen([PROGRAM, "journal", "lease", journal], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, bufsize=0)
    read_until(process.stdout.fileno(), b"up\n")
    process.stdin.write(b"\n")
    wait_for(lambda: len(rows_of(journal)) == len(jobs), "the end of that job")
    return process, journal


# holds: delay-17
def test_journal_list_is_in_order_of_deadline_and_works_while_it_is_open(directory):
    process, journal = open_with(directory, b"+3h c", b"+1h a", b"2200-01-01T00:00:00.5Z d", b"+2h b")
    rows = rows_of(journal)
    assert [job["payload"] for job in rows] == list("abcd")
    assert [rows[-1][name] for name in ("deadline", "deadline_ns", "size", "key")] == [
        "2200-01-01T00:00:00.500000Z", "7258118400500000000", 1, None]
    lines = command("journal", "list", "-n", "2", journal).lines
    assert [line.split()[-1] for line in lines] == [b"PAYLOAD", b"a", b"b"] and lines[1].split()[0] == rows[0]["id"].encode()
    copy = os.path.join(directory, "copy")
    source, target = sqlite3.connect(journal), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()
    stop(process, signal.SIGTERM)
    assert change("check", copy) == f"{copy}: no problem found, 4 jobs" and rows_of(copy) == rows


# holds: delay-17
def test_journal_list_has_all_jobs_once_and_in_order(directory):
    rng = random.Random(8)
    journal = os.path.join(directory, "journal")
    jobs = [change("-q", rng.choice(("", "a", "b")), "--priority", rng.choice(("0", "9")), "put", journal,
                   rng.choice(("+0s", "2001-01-01T00:00:00Z", "+30m", "+30m", "+99d")), "x") for _ in range(24)]
    for words in (("bury", journal, *jobs[:9]), *(("move", journal, job, "+40m") for job in jobs[5:15]),
                  ("kick", journal, jobs[4], jobs[7])):
        change(*words)
    rows = rows_of(journal)
    assert sorted(row["id"] for row in rows) == sorted(jobs)
    places = [(row["queue"] or "", STATES.index(row["state"]), row["state"] == "delayed" and int(row["deadline_ns"])) for row in rows]
    assert places == sorted(places)
    for queue in (None, "", "a", "b", "none"):
        for state in (None, *STATES):
            options = (["-q", queue] if queue is not None else []) + (["--state", state] if state else [])
            wanted = [row for row in rows if queue in (None, row["queue"] or "") and state in (None, row["state"])]
            for limit in (1, 3, 1000) if queue in (None, "a") else (1000,):
                assert rows_of(journal, "-n", str(limit), *options) == wanted[:limit], (queue, state, limit)
    for name, numbers in queues_of(journal).items():
        assert numbers == [sum(row["queue"] == name and row["state"] == state for row in rows) for state in STATES], name


def test_journal_list_ends_when_its_reader_has_enough(directory):
    journal = journal_of_many(directory, 20000, b"x")
    got = subprocess.run(["sh", "-c", '"$0" journal list "$1" | head -2', PROGRAM, journal], capture_output=True, check=False)
    assert (got.stderr, len(got.stdout.splitlines())) == (b"", 2)


def test_journal_show_tells_of_the_journal_and_of_jobs(directory):
    journal = journal_with(directory, b"+1h a b", b"2200-01-01T00:00:00Z " + b"y" * 100)
    summary = json.loads(command("journal", "-J", "stats", journal).out)
    jobs = rows_of(journal)
    assert summary["next_ns"] == jobs[0]["deadline_ns"]
    assert summary["file_bytes"] > 4096, summary
    got = command("journal", "stats", journal)
    assert b"next   " + jobs[0]["deadline"].encode() in got.out, got.out
    got = command("journal", "show", journal, *(job["id"] for job in jobs))
    assert b"payload   " + b"y" * 100 + b"\n" in got.out
    assert b"bytes     3\npayload   a b\n" in got.out
    got = command("journal", "show", journal, jobs[0]["id"], "5")
    assert (got.status, got.err) == (1, f"htw journal: {journal}: there is no job 5\n")


# holds: delay-17
def test_journal_json_has_the_bytes_of_any_payload(directory):
    rng = random.Random(5)
    payloads = [b"", b'"\\/\x07\x1f\x7f', "zürich \u2028 \U0001f552".encode(), b"\xff", b"\xc0\x80",
                b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xc2", b"a\x80", b"\xf0\x80\x80\x80"]
    payloads += [rng.randbytes(n).replace(b"\0", b"") for n in range(1, 40, 4)]
    payloads += ["".join(chr(rng.choice((rng.randrange(1, 0x7ff), rng.randrange(0xe000, 0x10ffff))))
                         for _ in range(20)).encode() for _ in range(5)]
    journal = journal_with(directory, *(b"+1h " + payload for payload in payloads))
    jobs = rows_of(journal)
    assert len(jobs) == len(payloads)
    for job, wanted in zip(jobs, payloads):
        try:
            assert wanted.decode() == job["payload"]
        except UnicodeDecodeError:
            assert base64.b64decode(job["payload_base64"], validate=True) == wanted
    assert command("journal", "-p", "show", journal, *(job["id"] for job in jobs)).out == b"".join(payloads)


def test_journal_job_that_never_comes_is_shown_as_such(directory):
    journal = journal_with(directory, b"+1h a")
    alter(journal, f"UPDATE htw_job SET deadline = {2**63 - 1}")
    job = rows_of(journal)[0]
    assert (job["deadline"], job["deadline_ns"]) == (None, str(2**63 - 1))
    assert command("journal", "list", journal).lines[1].split()[1] == b"never"


def test_journal_put_makes_a_job_of_a_queue(directory):
    journal = os.path.join(directory, "journal")
    before = time.time_ns()
    job = change("-q", "mail", "--priority", "7", "--key", "k", "put", journal, "+0s", "a job")
    got, = rows_of(journal)
    assert [got[name] for name in ("id", "state", "queue", "priority", "key", "payload", "attempts", "lease_ns")] == [job, "ready", "mail", 7, "k", "a job", 0, None]
    assert before // 1000 * 1000 <= int(got["put_ns"]) <= time.time_ns(), got
    data = random.Random(7).randbytes(200000)
    second = json.loads(change("-J", "-q", "mail", "--key", "k", "put", journal, "2200-01-01T00:00:00Z", data=data))
    got, = rows_of(journal)
    assert [got[name] for name in ("id", "state", "priority", "deadline")] == [second["put"], "delayed", 0, "2200-01-01T00:00:00.000000Z"]
    assert command("journal", "-p", "show", journal, second["put"]).out == data
    third = change("put", journal, "+1h", "")
    assert [(row["id"], row["queue"], row["size"]) for row in rows_of(journal, "-q", "")] == [(third, None, 0)]
    assert change("check", journal) == f"{journal}: no problem found, 2 jobs"
    change("-q", "mail", "put", journal, "2001-01-01T00:00:00Z", "b")
    stats = json.loads(change("-J", "stats", journal))
    assert stats["file_bytes"] >= 4096 and "log_bytes" in stats, stats
    assert re.search("^ +1 +1 +0 +0 +mail$", change("stats", journal), re.M)


def test_journal_steps_change_the_state_of_a_job(directory):
    journal = os.path.join(directory, "journal")
    job = change("-q", "mail", "put", journal, "+1h", "a")

    def is_now(state, counts):
        row, = rows_of(journal)
        assert (row["state"], queues_of(journal)["mail"]) == (state, counts)
        assert {other: states_of(journal, other) for other in STATES} == {other: [row] if other == state else [] for other in STATES}
        return row

    is_now("delayed", [1, 0, 0, 0])
    for words, state, counts in ((("bury", journal, job), "buried", [0, 0, 0, 1]), (("kick", journal, job), "ready", [0, 1, 0, 0]),
                                 (("move", journal, job, "2200-01-01T00:00:00Z"), "delayed", [1, 0, 0, 0])):
        done = {"bury": "buried", "kick": "kicked", "move": "moved"}[words[0]]
        assert json.loads(change("-J", *words)) == {done: job}
        row = is_now(state, counts)
    assert (row["deadline"], row["buries"], row["kicks"], row["releases"]) == ("2200-01-01T00:00:00.000000Z", 1, 1, 0)
    change("--priority", "3", "move", journal, job, "+0s")
    assert is_now("ready", [0, 1, 0, 0])["priority"] == 3
    text = change("show", journal, job)
    for part in ("state     ready\n", "queue     mail\n", "priority  3\n", "attempts  0, 0 released, 0 timed out, 1 buried, 1 kicked\n"):
        assert part in text
    assert re.search(r"put       20\S+Z\n", text), text
    for words, wanted in ((("kick", journal, job), "another one"), (("release", journal, job), "another one"),
                          (("move", journal, "7", "+1s"), "there is no job 7")):
        assert wanted in refused(*words)
    other = change("put", journal, "+1h", "b")
    assert command("journal", "cancel", journal, "7", other).err == f"htw journal: {journal}: there is no job 7\n"
    assert json.loads(change("-J", "delete", journal, job)) == {"deleted": job}
    assert (rows_of(journal), queues_of(journal)) == ([], {None: [0, 0, 0, 0]})


def test_journal_kick_takes_the_buried_jobs_of_a_queue_first(directory):
    journal = os.path.join(directory, "journal")
    jobs = [change("-q", "mail", "put", journal, f"+{hours}h", "a") for hours in range(1, 6)]
    change("put", journal, "+1m", "of the default queue")
    change("bury", journal, jobs[4], jobs[3])
    assert change("-q", "mail", "-n", "5", "kick", journal) == "2"
    assert queues_of(journal) == {None: [1, 0, 0, 0], "mail": [3, 2, 0, 0]}
    assert json.loads(change("-J", "-q", "mail", "-n", "2", "kick", journal)) == {"kicked": 2}
    assert [row["id"] for row in rows_of(journal, "--state", "delayed", "-q", "mail")] == [jobs[2]]
    assert change("-q", "none", "-n", "2", "kick", journal) == "0"
    assert change("-q", "", "-n", "2", "kick", journal) == "1"


# holds: delay-17
def test_journal_changes_are_refused_while_it_is_open(directory):
    process, journal = open_with(directory, b"+1h a")
    job = rows_of(journal)[0]["id"]
    for words in (("put", journal, "+1h", "b"), ("cancel", journal, job), ("move", journal, job, "+1h"), ("kick", journal, job),
                  ("compact", journal)):
        assert refused(*words) == f"htw journal: {journal}: the journal is open in process {process.pid}, which is no htw serve that " \
            "can be asked\n"
    assert command("journal", "check", journal).out == f"{journal}: no problem found, 1 job\n".encode()
    assert queues_of(journal) == {None: [1, 0, 0, 0]}
    stop(process, signal.SIGTERM)
    assert command("journal", "cancel", journal, job).status == 0


def test_journal_compact_gives_space_back(directory):
    journal = journal_of_many(directory, 20000, b"y" * 200)
    alter(journal, "DELETE FROM htw_job; DELETE FROM htw_block; UPDATE htw_meta SET jobs = 0")
    before = os.path.getsize(journal)
    got = command("journal", "--json", "compact", journal)
    assert (got.status, got.err) == (0, "")
    sizes = json.loads(got.out)
    assert (sizes["bytes_before"], sizes["bytes"]) == (before, os.path.getsize(journal))
    assert sizes["bytes"] < before / 2, sizes
    assert command("journal", "check", journal).status == 0


def test_journal_check_finds_what_does_not_agree(directory):
    journal = journal_with(directory, b"+1h a", b"+2h b")
    for change, back, wanted in (
            ("UPDATE htw_meta SET jobs = jobs + 1", "UPDATE htw_meta SET jobs = jobs - 1",
             "1 jobs differ between the counter and the table"),
            ("UPDATE htw_job SET deadline = deadline - 7200000000000",
             "UPDATE htw_job SET deadline = deadline + 7200000000000",
             "2 jobs are in no block of their place"),
            ("INSERT INTO htw_block SELECT place + 1, first + 1 FROM htw_block LIMIT 1",
             "DELETE FROM htw_block WHERE first % 256 = 1", "1 blocks are out of range"),
            ("INSERT INTO htw_block SELECT 0, first FROM htw_block LIMIT 1",
             "DELETE FROM htw_block WHERE place = 0", "1 blocks overlap"),
            ("INSERT INTO htw_moved VALUES (1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0)", "DELETE FROM htw_moved",
             "1 jobs that were moved are missing"),
            ("UPDATE htw_meta SET next_sequence = 256", "UPDATE htw_meta SET next_sequence = 1 << 40",
             "1 rows of counters are behind the jobs or out of range"),
            ("UPDATE htw_meta SET next_sequence = 3 << 51", "UPDATE htw_meta SET next_sequence = 1 << 40",
             "75 percent of all ids have been given: begin a new file before they end"),
    ):
        for statement, status in ((change, 1), (back, 0)):
            alter(journal, statement)
            got = command("journal", "check", journal)
            assert got.status == status, statement
            if status == 1:
                assert got.out.decode() == wanted + "\n"
                assert json.loads(command("journal", "-J", "check", journal).out)["problems"] == [wanted]


def test_journal_check_finds_a_damaged_page(directory):
    journal = journal_of_many(directory, 5000, b"x")
    with open(journal, "r+b") as stream:
        stream.seek(os.path.getsize(journal) - 4096 * 3)
        stream.write(random.Random(3).randbytes(4096))
    got = command("journal", "check", journal)
    assert got.status == 1
    assert got.out or got.err, "no problem was named"


def test_journal_file_that_is_none_is_refused(directory):
    journal = journal_with(directory, b"+1h a")
    file_with(directory, "text", b"no journal\n" * 1000)
    for name, wanted in (("none", "No such file or directory"), ("text", "not a database"), ("", "directory")):
        path = os.path.join(directory, name)
        for action in ("list", "stats", "check", "compact"):
            assert wanted in refused(action, path)
    assert not os.path.exists(os.path.join(directory, "none"))
    alter(journal, "PRAGMA user_version = 6")
    assert "the journal has format 6, and this version of libhtw knows format 5 alone" in command("journal", "list", journal).err
    assert content_of(os.path.join(directory, "text")) == b"no journal\n" * 1000


def test_journal_whose_creation_was_interrupted_is_an_empty_one(directory):
    for name in ("file", "header"):
        journal = os.path.join(directory, name)
        file_with(directory, name, b"")
        if name != "file":
            alter(journal, "PRAGMA journal_mode = WAL")
        before = content_of(journal)
        assert rows_of(journal) == []
        assert command("journal", "check", journal).out == f"{journal}: no problem found, 0 jobs\n".encode()
        assert json.loads(command("journal", "-J", "stats", journal).out)["next"] is None
        assert content_of(journal) == before
        assert "there is no job 7" in command("journal", "cancel", journal, "7").err
        assert command("journal", "compact", journal).status == 0


# holds: delay-13
def test_journal_lease_prints_jobs_as_they_come_due_and_ends_those_that_were_asked_behind(directory):
    journal = journal_with(directory, b"+1h later", b"+0s a", b"+0.1s b", b"+0.5s c")
    got = command("journal", "lease", journal, input=b"\n\n")
    assert (got.status, got.out, got.err) == (0, b"a\nb\nc\n", "")
    assert [row["payload"] for row in rows_of(journal)] == ["later", "c"]


# holds: delay-13
def test_journal_lease_executes_a_command_until_it_succeeds(directory):
    journal, seen = os.path.join(directory, "journal"), os.path.join(directory, "seen")
    job = change("-q", "mail", "put", journal, "+0s", "fails once")
    other = change("-q", "mail", "put", journal, "+0s", "fails")
    script = f"""(cat; echo " $JOB_ID") >> {seen}; test $(grep -c "$JOB_ID" {seen}) = 2 && ! grep -q "fails $JOB_ID" {seen}"""
    with subprocess.Popen([PROGRAM, "journal", "lease", "-q", "mail", "--exec", script, "--attempts", "2", journal]) as process:
        wait_for(lambda: queues_of(journal).get("mail") == [0, 0, 0, 1], "a job that is done, and one that is buried")
        process.kill()
    assert sorted(content_of(seen).decode().splitlines()) == sorted([f"fails once {job}", f"fails {other}"] * 2)
    row, = rows_of(journal)
    assert [row[name] for name in ("id", "state", "attempts", "releases", "buries")] == [other, "buried", 2, 1, 1]


# holds: delay-13
def test_journal_lease_that_creates_its_file_takes_what_others_put_and_repeats_it_after_a_kill(directory):
    journal = os.path.join(directory, "journal")

    def lease():
        return subprocess.Popen([PROGRAM, "journal", "lease", "--json", journal], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                bufsize=0)

    process = lease()
    wait_for(lambda: os.path.exists(journal) and os.path.getsize(journal) > 0, "the tables")
    for payload in ("a", "b"):
        before = time.time()
        job = change("put", journal, "+0.2s", payload)
        got = json.loads(read_until(process.stdout.fileno(), b"\n"))
        assert time.time() >= before + 0.2, "early"
        assert (got["id"], got["payload"], got["attempts"]) == (job, payload, 1)
        if payload == "a":
            process.stdin.write(b"\n")
    process.kill()
    process.wait()
    process = lease()
    assert json.loads(read_until(process.stdout.fileno(), b"\n"))["id"] == job
    process.stdin.close()  # not asked for the next: it stays
    assert process.wait() == 0
    assert [row["payload"] for row in rows_of(journal)] == ["b"]
