# SPDX-License-Identifier: MIT
"""`htw journal`: looking at a journal, and mending it."""
import base64
import json
import os
import random
import re
import signal
import sqlite3
import struct
import subprocess
import time

from harness import PROGRAM, command, content_of, equal, file_with, has, read_until, stop, test, wait_for


def put(journal, when, payload):
    got = command("journal", "put", journal, when, payload)
    equal((got.status, got.err), (0, ""))
    return got.out.decode().strip()


def journal_with(directory, *jobs):
    """A journal with these, each an instant or a duration, a blank, and a payload, which no process has open."""
    journal = os.path.join(directory, "journal")
    for job in jobs:
        put(journal, *job.split(b" ", 1))
    return journal


def journal_of_many(directory, count, payload):
    """A journal with so many jobs of one instant."""
    journal = journal_with(directory, b"+1h " + payload)
    alter(journal, "CREATE TEMP TABLE number AS WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) "
          "SELECT n FROM number LIMIT {0} - 1;"
          "UPDATE meta SET jobs = {0}, next_sequence = 1 << 40;"
          "INSERT INTO block SELECT place, first + 256 * n, last + 256 * n FROM block, number WHERE n <= {0} / 256;"
          "INSERT INTO job SELECT id + n, deadline, key, payload, queue, priority, put, lease FROM job, number".format(count))
    return journal


def open_with(directory, *jobs):
    """A process that has a journal with these jobs open; and the journal."""
    journal = journal_with(directory, *jobs, b"+0s up")
    process = subprocess.Popen([PROGRAM, "journal", "lease", journal], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, bufsize=0)
    read_until(process.stdout.fileno(), b"up\n")
    process.stdin.write(b"\n")
    wait_for(lambda: len(jobs_of(journal)) == len(jobs), "the end of that job")
    return process, journal


def jobs_of(journal):
    got = command("journal", "--json", "list", journal)
    equal((got.status, got.err), (0, ""))
    return [json.loads(line) for line in got.lines]


@test
# holds: delay-17
def journal_list_is_in_order_of_deadline_and_works_while_it_is_open(directory):
    process, journal = open_with(directory, b"+3h c", b"+1h a", b"2200-01-01T00:00:00.5Z d", b"+2h b")
    equal([job["payload"] for job in jobs_of(journal)], list("abcd"))
    last = jobs_of(journal)[-1]
    equal((last["deadline"], last["deadline_ns"], last["size"], last["key"]),
          ("2200-01-01T00:00:00.500000Z", "7258118400500000000", 1, None))
    got = command("journal", "list", "-n", "2", journal)
    equal([line.split()[-1] for line in got.lines], [b"PAYLOAD", b"a", b"b"])
    equal(got.lines[1].split()[0], jobs_of(journal)[0]["id"].encode())
    stop(process, signal.SIGTERM)


@test
def journal_show_tells_of_the_journal_and_of_jobs(directory):
    journal = journal_with(directory, b"+1h a b", b"2200-01-01T00:00:00Z " + b"y" * 100)
    alter(journal, "UPDATE meta SET mark = 'a mark'")
    summary = json.loads(command("journal", "-J", "show", journal).out)
    equal([summary[name] for name in ("jobs", "delayed", "ready", "leased", "buried")], [2, 2, 0, 0, 0])
    jobs = jobs_of(journal)
    equal(summary["next_ns"], jobs[0]["deadline_ns"])
    assert summary["file_bytes"] > 4096 and summary["mark"] == "a mark", summary
    got = command("journal", "show", journal)
    has(got.out, b"jobs     2\n")
    has(got.out, b"next     " + jobs[0]["deadline"].encode())
    got = command("journal", "show", journal, *(job["id"] for job in jobs))
    has(got.out, b"payload   " + b"y" * 100 + b"\n")
    has(got.out, b"bytes     3\npayload   a b\n")
    got = command("journal", "show", journal, jobs[0]["id"], "5")
    equal((got.status, got.err), (1, f"htw journal: {journal}: there is no job 5\n"))


@test
# holds: delay-17
def journal_json_has_the_bytes_of_any_payload(directory):
    rng = random.Random(5)
    payloads = [b"", b'"\\/\x07\x1f\x7f', "zürich \u2028 \U0001f552".encode(), b"\xff", b"\xc0\x80",
                b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xc2", b"a\x80", b"\xf0\x80\x80\x80"]
    payloads += [rng.randbytes(n).replace(b"\0", b"") for n in range(1, 40)]
    payloads += ["".join(chr(rng.choice((rng.randrange(1, 0x7ff), rng.randrange(0xe000, 0x10ffff))))
                         for _ in range(20)).encode() for _ in range(20)]
    journal = journal_with(directory, *(b"+1h " + payload for payload in payloads))
    jobs = jobs_of(journal)
    equal(len(jobs), len(payloads))
    for job, wanted in zip(jobs, payloads):
        if "payload" in job:
            equal(job["payload"].encode(), wanted)
        else:
            try:
                wanted.decode()
                raise AssertionError(f"Base64 for what is UTF-8: {wanted!r}")
            except UnicodeDecodeError:
                equal(base64.b64decode(job["payload_base64"], validate=True), wanted)
        equal(command("journal", "-p", "show", journal, job["id"]).out, wanted)
    table = command("journal", "list", journal).out
    assert all(byte >= 32 or byte == 10 for byte in table) and b"\x7f" not in table, "controls"


@test
def journal_cancel_removes_jobs_for_good(directory):
    journal = journal_with(directory, b"+1h a", b"+2h b", b"+3h c")
    ids = {job["payload"]: job["id"] for job in jobs_of(journal)}
    got = command("journal", "cancel", journal, ids["a"], ids["b"], "7")
    equal((got.status, got.err), (1, f"htw journal: {journal}: there is no job 7\n"))
    equal([job["payload"] for job in jobs_of(journal)], ["c"])
    equal(command("journal", "cancel", journal, ids["c"]).status, 0)
    equal(command("journal", "cancel", journal, ids["c"]).status, 1)
    equal(json.loads(command("journal", "--json", "show", journal).out)["next"], None)


@test
# holds: delay-17
def journal_changes_are_refused_while_it_is_open(directory):
    process, journal = open_with(directory, b"+1h a")
    job = jobs_of(journal)[0]["id"]
    for words in (("put", journal, "+1h", "b"), ("cancel", journal, job), ("move", journal, job, "+1h"), ("kick", journal, job),
                  ("compact", journal)):
        got = command("journal", *words)
        equal((got.status, got.out), (1, b""))
        equal(got.err, f"htw journal: {journal}: the journal is open in process {process.pid}, which is no htw serve that can be asked\n")
    equal(command("journal", "check", journal).out, f"{journal}: no problem found, 1 job\n".encode())
    equal(queues_of(journal), {None: [1, 0, 0, 0]})
    stop(process, signal.SIGTERM)
    equal(command("journal", "cancel", journal, job).status, 0)


@test
def journal_backup_while_it_is_open_is_a_journal(directory):
    copy = os.path.join(directory, "copy")
    process, journal = open_with(directory, b"+1h a", b"+2h b")
    source, target = sqlite3.connect(journal), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()
    stop(process, signal.SIGTERM)
    equal(command("journal", "check", copy).status, 0)
    equal([job["payload"] for job in jobs_of(copy)][-1], "b")


@test
def journal_compact_gives_space_back(directory):
    journal = journal_of_many(directory, 20000, b"y" * 200)
    alter(journal, "DELETE FROM job; DELETE FROM block; UPDATE meta SET jobs = 0")
    before = os.path.getsize(journal)
    got = command("journal", "--json", "compact", journal)
    equal((got.status, got.err), (0, ""))
    sizes = json.loads(got.out)
    equal((sizes["bytes_before"], sizes["bytes"]), (before, os.path.getsize(journal)))
    assert sizes["bytes"] < before / 2, sizes
    equal(command("journal", "check", journal).status, 0)


@test
def journal_check_finds_what_does_not_agree(directory):
    journal = journal_with(directory, b"+1h a", b"+2h b")
    for change, back, wanted in (
            ("UPDATE meta SET jobs = jobs + 1", "UPDATE meta SET jobs = jobs - 1",
             "1 jobs differ between the counter and the table"),
            ("UPDATE job SET deadline = deadline - 7200000000000",
             "UPDATE job SET deadline = deadline + 7200000000000",
             "2 jobs are in no block of their place"),
            ("INSERT INTO block SELECT place + 1, first + 1, last FROM block LIMIT 1",
             "DELETE FROM block WHERE first % 256 = 1", "1 blocks are out of range"),
            ("INSERT INTO block SELECT 0, first, last FROM block LIMIT 1",
             "DELETE FROM block WHERE place = 0", "1 blocks overlap"),
            ("INSERT INTO moved_place VALUES (1, 1, 1)", "DELETE FROM moved_place",
             "1 places have a job that was not moved there"),
            ("UPDATE meta SET moved = 1", "UPDATE meta SET moved = 0",
             "1 jobs that were moved differ between the counter and the table"),
            ("UPDATE meta SET next_sequence = 256", "UPDATE meta SET next_sequence = 1 << 40",
             "1 rows of counters are behind the jobs or out of range"),
            ("UPDATE meta SET next_sequence = 3 << 51", "UPDATE meta SET next_sequence = 1 << 40",
             "75 percent of all ids have been given: begin a new file before they end"),
            ("INSERT INTO job_key VALUES (x'61', 1); UPDATE meta SET keyed = 1",
             "DELETE FROM job_key; UPDATE meta SET keyed = 0", "1 keys lead to a job that does not have them"),
    ):
        for statement, status in ((change, 1), (back, 0)):
            connection = sqlite3.connect(journal)
            connection.executescript(statement)
            connection.close()
            got = command("journal", "check", journal)
            equal(got.status, status, statement)
            if status == 1:
                equal(got.out.decode(), wanted + "\n")
                equal(json.loads(command("journal", "-J", "check", journal).out)["problems"], [wanted])


@test
def journal_check_finds_a_damaged_page(directory):
    journal = journal_of_many(directory, 5000, b"x")
    with open(journal, "r+b") as stream:
        stream.seek(os.path.getsize(journal) - 4096 * 3)
        stream.write(random.Random(3).randbytes(4096))
    got = command("journal", "check", journal)
    equal(got.status, 1)
    assert got.out or got.err, "no problem was named"


@test
def journal_check_finds_a_file_that_sqlite_will_not_write(directory):
    journal = journal_with(directory, b"+1h job")
    with open(journal, "r+b") as stream:
        stream.seek(18)  # the version that a writer has to know
        stream.write(b"\xaf")
    got = command("journal", "check", journal)
    equal((got.status, got.out), (1, b"the file has a version that SQLite only reads\n"))


@test
def journal_file_that_is_none_is_refused(directory):
    journal = journal_with(directory, b"+1h a")
    with open(os.path.join(directory, "text"), "wb") as stream:
        stream.write(b"no journal\n" * 1000)
    for name, wanted in (("none", "No such file or directory"), ("text", "not a database"), ("", "directory")):
        path = os.path.join(directory, name)
        for action in ("list", "show", "check", "compact"):
            got = command("journal", action, path)
            equal((got.status, got.out), (1, b""), action)
            has(got.err, wanted)
    assert not os.path.exists(os.path.join(directory, "none"))
    connection = sqlite3.connect(journal)
    connection.executescript("PRAGMA user_version = 3")
    connection.close()
    has(command("journal", "list", journal).err, "the journal has format 3, and this version of libhtw knows format 2 alone")
    equal(content_of(os.path.join(directory, "text")), b"no journal\n" * 1000)


def alter(journal, statements):
    connection = sqlite3.connect(journal)
    connection.executescript(statements)
    connection.close()


@test
def journal_whose_creation_was_interrupted_is_an_empty_one(directory):
    for name in ("file", "header"):
        journal = os.path.join(directory, name)
        file_with(directory, name, b"")
        if name != "file":
            alter(journal, "PRAGMA journal_mode = WAL")
        before = content_of(journal)
        equal(jobs_of(journal), [])
        equal(command("journal", "check", journal).out, f"{journal}: no problem found, 0 jobs\n".encode())
        equal(json.loads(command("journal", "-J", "show", journal).out)["jobs"], 0)
        equal(content_of(journal), before)
        has(command("journal", "cancel", journal, "7").err, "there is no job 7")
        equal(command("journal", "compact", journal).status, 0)


def file_is_refused(journal, actions):
    """Each action ends, with a sentence, and leaves the file as it is."""
    before = content_of(journal)
    for action in actions:
        got = command("journal", action, journal)
        equal(got.status, 1, action)
        assert got.err or action == "check" and got.out, action
        equal(content_of(journal), before)


@test
# holds: delay-17
def journal_whose_tables_are_others_is_refused(directory):
    journal = journal_with(directory, b"+1h a")
    whole = content_of(journal)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x"
    for number, statements in enumerate((
            f"DROP TABLE job; CREATE VIEW job AS {endless} AS id, x AS deadline, NULL AS key, x'61' AS payload FROM n",
            f"ALTER TABLE meta RENAME TO a; CREATE VIEW meta AS {endless} AS one, 1 AS jobs, 0 AS keyed, NULL AS mark FROM n",
            f"CREATE TRIGGER t AFTER INSERT ON job BEGIN INSERT INTO job_key {endless}, 1 FROM n; END",
            "CREATE INDEX i ON job (deadline, payload)",
            "CREATE TABLE other (a INTEGER)",
            "ALTER TABLE job ADD COLUMN zeros BLOB AS (zeroblob(900000000))",
    )):
        with open(journal, "wb") as stream:
            stream.write(whole)
        alter(journal, statements)
        file_is_refused(journal, ("list", "show", "check", "compact"))
        with open(journal, "rb") as stream:
            equal(command("journal", "lease", journal).status, 1, number)
            equal(stream.read(), content_of(journal))


@test
# holds: delay-17
def journal_whose_pages_lead_to_each_other_is_read_to_an_end(directory):
    """Seven pages of one table, each of which is beneath the one before many times over."""
    journal = journal_of_many(directory, 3000, b"y" * 99)
    connection = sqlite3.connect(journal)
    for table in ("job", "meta"):
        root, = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'job'").fetchone()
        pages = bytearray(content_of(journal))
        page = bytearray(pages[(root - 1) * 4096:root * 4096])
        cells = struct.unpack_from(">H", page, 3)[0]
        places = struct.unpack_from(f">{cells}H", page, 12)
        children = [struct.unpack_from(">I", page, place)[0] for place in places]
        if table == "meta":
            root, = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'meta'").fetchone()
        for at, child in zip([root, *children[:6]], children):
            for place in (*places, 8):
                struct.pack_into(">I", page, place, child)
            pages[(at - 1) * 4096:at * 4096] = page
        damaged = file_with(directory, table, pages)
        got = command("journal", "check", damaged)
        equal(got.status, 1)
        assert got.out or got.err, "no problem was named"
        if table == "job":
            file_is_refused(damaged, ("list", "show"))
    connection.close()


def change(*words, data=b""):
    """Runs an action that succeeds; returns what it printed."""
    got = subprocess.run([PROGRAM, "journal", *words], input=data, capture_output=True)
    equal((got.returncode, got.stderr), (0, b""), words)
    return got.stdout.decode().rstrip("\n")


def rows_of(journal, *options):
    return [json.loads(line) for line in change("-J", *options, "list", journal).splitlines()]


def queues_of(journal):
    """The numbers of each queue: delayed, ready, leased, buried."""
    return {queue["queue"]: [queue[state] for state in ("delayed", "ready", "leased", "buried")]
            for queue in json.loads(change("-J", "stats", journal))["queues"]}


@test
def journal_put_makes_a_job_of_a_queue(directory):
    journal = os.path.join(directory, "journal")
    before = time.time_ns()
    job = change("-q", "mail", "--priority", "7", "--key", "k", "put", journal, "+0s", "a job")
    got, = rows_of(journal)
    equal([got[name] for name in ("id", "state", "queue", "priority", "key", "payload", "attempts", "lease_ns")],
          [job, "ready", "mail", 7, "k", "a job", 0, None])
    assert before // 1000 * 1000 <= int(got["put_ns"]) <= time.time_ns(), got
    data = random.Random(7).randbytes(200000)
    second = json.loads(change("-J", "-q", "mail", "--key", "k", "put", journal, "2200-01-01T00:00:00Z", data=data))
    got, = rows_of(journal)
    equal([got[name] for name in ("id", "state", "priority", "deadline")],
          [second["put"], "delayed", 0, "2200-01-01T00:00:00.000000Z"])
    equal(command("journal", "-p", "show", journal, second["put"]).out, data)
    third = change("put", journal, "+1h", "")
    equal([(row["id"], row["queue"], row["size"]) for row in rows_of(journal, "-q", "")], [(third, None, 0)])
    equal(change("check", journal), f"{journal}: no problem found, 2 jobs")


@test
def journal_steps_change_the_state_of_a_job(directory):
    journal = os.path.join(directory, "journal")
    job = change("-q", "mail", "put", journal, "+1h", "a")

    def is_now(state, counts):
        row, = rows_of(journal)
        equal((row["state"], queues_of(journal)["mail"]), (state, counts))
        equal([rows_of(journal, "--state", other) for other in ("delayed", "ready", "leased", "buried")],
              [[row] if other == state else [] for other in ("delayed", "ready", "leased", "buried")])
        return row

    is_now("delayed", [1, 0, 0, 0])
    for words, state, counts in ((("bury", journal, job), "buried", [0, 0, 0, 1]), (("kick", journal, job), "ready", [0, 1, 0, 0]),
                                 (("move", journal, job, "2200-01-01T00:00:00Z"), "delayed", [1, 0, 0, 0])):
        done = {"bury": "buried", "kick": "kicked", "move": "moved"}[words[0]]
        equal(json.loads(change("-J", *words)), {done: job})
        row = is_now(state, counts)
    equal((row["deadline"], row["buries"], row["kicks"], row["releases"]), ("2200-01-01T00:00:00.000000Z", 1, 1, 0))
    change("--priority", "3", "move", journal, job, "+0s")
    equal(is_now("ready", [0, 1, 0, 0])["priority"], 3)
    text = change("show", journal, job)
    for part in ("state     ready\n", "queue     mail\n", "priority  3\n", "attempts  0, 0 released, 0 timed out, 1 buried, 1 kicked\n"):
        has(text, part)
    assert re.search(r"put       20\S+Z, .* ago\n", text), text
    for words, wanted in ((("kick", journal, job), "another one"), (("release", journal, job), "another one"),
                          (("move", journal, "7", "+1s"), "there is no job 7")):
        got = command("journal", *words)
        equal((got.status, got.out), (1, b""), words)
        has(got.err, wanted)
    equal(json.loads(change("-J", "delete", journal, job)), {"deleted": job})
    equal((rows_of(journal), queues_of(journal)), ([], {None: [0, 0, 0, 0]}))


@test
def journal_durable_lease_is_shown_until_it_ends(directory):
    """As a program leaves it that has crashed. The library itself is tested elsewhere."""
    journal = os.path.join(directory, "journal")
    job = change("-q", "mail", "put", journal, "+1h", "a")
    change("move", journal, job, "+2h")
    alter(journal, "UPDATE moved SET state = 1, attempts = 1; UPDATE queue SET leased = 1, delayed = 0")
    row, = rows_of(journal, "--state", "leased")
    equal((row["state"], row["attempts"], queues_of(journal)["mail"]), ("leased", 1, [0, 0, 1, 0]))
    equal(rows_of(journal, "--state", "delayed"), [])
    equal(command("journal", "cancel", journal, job).status, 1)
    equal(json.loads(change("-J", "release", journal, job)), {"released": job})
    row, = rows_of(journal)
    equal((row["state"], row["attempts"], row["releases"]), ("ready", 1, 1))
    change("cancel", journal, job)


@test
def journal_kick_takes_the_buried_jobs_of_a_queue_first(directory):
    journal = os.path.join(directory, "journal")
    jobs = [change("-q", "mail", "put", journal, f"+{hours}h", "a") for hours in range(1, 6)]
    change("put", journal, "+1m", "of the default queue")
    change("bury", journal, jobs[4], jobs[3])
    equal(change("-q", "mail", "-n", "5", "kick", journal), "2")
    equal(queues_of(journal), {None: [1, 0, 0, 0], "mail": [3, 2, 0, 0]})
    equal(json.loads(change("-J", "-q", "mail", "-n", "2", "kick", journal)), {"kicked": 2})
    equal([row["id"] for row in rows_of(journal, "--state", "delayed", "-q", "mail")], [jobs[2]])
    equal(change("-q", "none", "-n", "2", "kick", journal), "0")
    equal(change("-q", "", "-n", "2", "kick", journal), "1")


@test
# holds: delay-13
def journal_lease_prints_jobs_as_they_come_due_and_ends_those_that_were_asked_behind(directory):
    journal = journal_with(directory, b"+1h later", b"+0s a", b"+0.1s b", b"+0.5s c")
    got = command("journal", "lease", journal, input=b"\n\n")
    equal((got.status, got.out, got.err), (0, b"a\nb\nc\n", ""))
    equal([row["payload"] for row in rows_of(journal)], ["later", "c"])


@test
# holds: delay-13
def journal_lease_executes_a_command_until_it_succeeds(directory):
    journal, seen = os.path.join(directory, "journal"), os.path.join(directory, "seen")
    job = change("-q", "mail", "put", journal, "+0s", "fails once")
    other = change("-q", "mail", "put", journal, "+0s", "fails")
    script = f"""(cat; echo " $JOB_ID") >> {seen}; test $(grep -c "$JOB_ID" {seen}) = 2 && ! grep -q "fails $JOB_ID" {seen}"""
    with subprocess.Popen([PROGRAM, "journal", "lease", "-q", "mail", "--exec", script, "--attempts", "2", journal]) as process:
        wait_for(lambda: queues_of(journal).get("mail") == [0, 0, 0, 1], "a job that is done, and one that is buried")
        process.kill()
    equal(sorted(content_of(seen).decode().splitlines()), sorted([f"fails once {job}", f"fails {other}"] * 2))
    row, = rows_of(journal)
    equal([row[name] for name in ("id", "state", "attempts", "releases", "buries")], [other, "buried", 2, 1, 1])


@test
# holds: delay-13
def journal_lease_that_creates_its_file_takes_what_others_put_and_repeats_it_after_a_kill(directory):
    journal = os.path.join(directory, "journal")

    def lease():
        return subprocess.Popen([PROGRAM, "journal", "lease", "--json", journal], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                bufsize=0)

    process = lease()
    wait_for(lambda: os.path.exists(journal) and os.path.getsize(journal) > 0, "the tables")
    for payload in ("a", "b"):
        before = time.time()
        job = put(journal, "+0.2s", payload)
        got = json.loads(read_until(process.stdout.fileno(), b"\n"))
        assert time.time() >= before + 0.2, "early"
        equal((got["id"], got["payload"], got["attempts"]), (job, payload, 1))
        if payload == "a":
            process.stdin.write(b"\n")
    process.kill()
    process.wait()
    process = lease()
    equal(json.loads(read_until(process.stdout.fileno(), b"\n"))["id"], job)
    process.stdin.close()  # not asked for the next: it stays
    equal(process.wait(), 0)
    equal([row["payload"] for row in rows_of(journal)], ["b"])


@test
# holds: delay-17
def journal_list_has_all_jobs_once_and_in_order(directory):
    rng = random.Random(8)
    journal = os.path.join(directory, "journal")
    jobs = [change("-q", rng.choice(("", "a", "b")), "--priority", rng.choice(("0", "9")), "put", journal,
                   rng.choice(("+0s", "2001-01-01T00:00:00Z", "+30m", "+30m", "+99d")), "x") for _ in range(40)]
    for words in (("bury", journal, *jobs[:9]), *(("move", journal, job, "+40m") for job in jobs[5:15]),
                  ("kick", journal, jobs[4], jobs[7])):
        change(*words)
    rows = rows_of(journal)
    equal(sorted(row["id"] for row in rows), sorted(jobs))
    states = ("delayed", "ready", "leased", "buried")
    places = [(row["queue"] or "", states.index(row["state"]), row["state"] == "delayed" and int(row["deadline_ns"])) for row in rows]
    equal(places, sorted(places))
    for queue in (None, "", "a", "b", "none"):
        for state in (None, *states):
            options = (["-q", queue] if queue is not None else []) + (["--state", state] if state else [])
            wanted = [row for row in rows if queue in (None, row["queue"] or "") and state in (None, row["state"])]
            for limit in (1, 3, 1000):
                equal(rows_of(journal, "-n", str(limit), *options), wanted[:limit], (queue, state, limit))
    for name, numbers in queues_of(journal).items():
        equal(numbers, [sum(row["queue"] == name and row["state"] == state for row in rows) for state in states], name)


@test
def journal_done_jobs_are_in_a_list_of_their_own(directory):
    journal = os.path.join(directory, "journal")
    jobs = [change("-q", "mail", "--key", text, "put", journal, "+1h", text) for text in "abc"]
    minute = 60 * 10**9
    ends = [29000000 * minute + 5, 29000001 * minute]
    alter(journal, "UPDATE meta SET moved = 2, keyed = 1; DELETE FROM job_key WHERE key != x'63';"
          "UPDATE queue SET delayed = 1, done = 2;" +
          "".join(f"INSERT INTO moved VALUES ({job}, {(3 << 61) + (end // minute << 32) + 1}, {end}, {end}, 0, 0, 4, 0, 0, 0, 0);"
                  for job, end in zip(jobs, ends)) + "INSERT INTO moved_place SELECT place, rank, id FROM moved")
    equal(change("check", journal), f"{journal}: no problem found, 3 jobs")
    equal([row["id"] for row in rows_of(journal)], jobs[2:])
    for options in ([], ["-q", "mail"]):
        rows = rows_of(journal, "--state", "done", *options)
        equal([(row["id"], row["state"], row["attempts"], int(row["deadline_ns"])) for row in rows],
              [(job, "done", 4, end) for job, end in zip(jobs, ends)])
    equal(rows_of(journal, "--state", "done", "-q", ""), [])
    has(change("show", journal, jobs[1]), "ended     2025-02-19T21:21:00.000000Z\n")
    equal(json.loads(change("-J", "show", journal))["jobs"], 1)
    mail = json.loads(change("-J", "stats", journal))["queues"][1]
    equal((mail["delayed"], mail["done"]), (1, 2))
    equal(command("journal", "delete", journal, jobs[0]).status, 1)
    again = change("-q", "mail", "--key", "a", "put", journal, "+1h", "again")
    equal([row["id"] for row in rows_of(journal)], [jobs[2], again])
    equal(change("check", journal), f"{journal}: no problem found, 4 jobs")
    alter(journal, "UPDATE queue SET done = 3")
    has(command("journal", "check", journal).out, b"1 jobs that are done differ")


@test
def journal_recurring_jobs_are_set_listed_and_removed(directory):
    journal = os.path.join(directory, "journal")
    change("-q", "mail", "--key", "k", "--priority", "3", "--zone", "Europe/Berlin", "--catch-up", "0",
           "recur", journal, "nightly", "0 3 * * *", "a job")
    data = bytes(range(256))
    change("recur", journal, "backup", "@hourly", data=data)
    if os.path.exists(PROGRAM + "-cron"):  # built with the calendar
        got = command("journal", "recur", journal, "wrong", "0 3 31 foo *", "a job")
        equal(got.status, 2)
        has(got.err, "not a cron expression: foo *")
    empty = {"next": None, "next_ns": None}
    rules = [json.loads(line) for line in change("-J", "recurring", journal).splitlines()]
    equal(rules, [
        {**empty, "name": "backup", "schedule": "@hourly", "zone": None, "catch_up": 1, "priority": 0, "queue": None, "key": None,
         "payload_base64": base64.b64encode(data).decode()},
        {**empty, "name": "nightly", "schedule": "0 3 * * *", "zone": "Europe/Berlin", "catch_up": 0, "priority": 3,
         "queue": "mail", "key": "k", "payload": "a job"}])
    lines = change("recurring", journal).splitlines()
    equal(lines[2].split(), "- nightly 0 3 * * * Europe/Berlin mail [k] a job".split())
    equal(change("check", journal), f"{journal}: no problem found, 0 jobs")
    change("unrecur", journal, "backup")
    got = command("journal", "unrecur", journal, "backup")
    equal(got.status, 1)
    has(got.err, "no job recurs by the name backup")
    equal(len(change("recurring", journal).splitlines()), 2)


@test
def journal_stats_count_jobs_by_the_clock(directory):
    journal = os.path.join(directory, "journal")
    change("-q", "mail", "put", journal, "+1h", "a")
    change("-q", "mail", "put", journal, "2001-01-01T00:00:00Z", "b")
    change("-q", "mail", "put", journal, "+0s", "c")
    stats = json.loads(change("-J", "stats", journal))
    assert stats["file_bytes"] >= 4096 and "log_bytes" in stats, stats
    text = change("stats", journal).splitlines()
    equal(text[2].split(), ["1", "2", "0", "0", "0", "mail"])


@test
def journal_command_line_that_is_wrong_is_refused(directory):
    for words, wanted in (
            ([], "ACTION expected"), (["bogus", "f"], "unknown action: bogus"),
            (["list"], "FILE expected after list"), (["list", "f", "1"], "not expected: 1"),
            (["cancel", "f"], "ID expected after f"), (["cancel", "f", "-1"], "invalid option"),
            (["show", "f", "1x"], "not an id: 1x"), (["-n", "x", "list", "f"], "--limit: not a number"),
            (["-n", "1", "show", "f"], "--limit: not with this action"), (["-p", "list", "f"], "--payload: not"),
            (["-p", "-J", "show", "f"], "--payload: not with --json"), (["-q", "a", "cancel", "f", "1"], "--queue: not"),
            (["--state", "gone", "list", "f"], "--state: not one of delayed, ready, leased, buried, done: gone"),
            (["put", "f"], "WHEN expected after f"),
            (["put", "f", "soon", "a"], "WHEN: number expected: soon"), (["move", "f", "1", "+99999999999d"], "WHEN: delay too long"), (["put", "f", "+106000d"], "WHEN: later than 2262"), (["put", "f", "+1s", "a", "b"], "not expected: b"),
            (["move", "f", "1"], "WHEN expected after 1"), (["move", "f", "1", "2", "3"], "not expected: 3"),
            (["recur", "f"], "NAME expected after f"), (["recur", "f", "a"], "SCHEDULE expected after a"),
            (["--zone", "UTC", "list", "f"], "--zone: not with"), (["unrecur", "f", "a", "b"], "not expected: b"),
            (["--catch-up", "1001", "recur", "f", "a", "b"], "--catch-up"),
            (["kick", "f"], "ID or --limit expected after f"), (["kick", "-n", "1", "f", "1"], "not with an ID"),
            (["kick", "-n", "65537", "f"], "--limit: at most 65536 with kick"),
            (["--exec", "true", "list", "f"], "--exec: not with this action"), (["lease", "f", "1"], "not expected: 1"),
            (["show", "f", "99999999999999999999"], "not an id"),
    ):
        got = command("journal", *words)
        equal((got.status, got.out), (2, b""), words)
        has(got.err, wanted)
        has(got.err, "Try 'htw journal --help'")
    own = command("journal", "--help")
    equal((own.status, own.out), (0, command("help", "journal").out))
    for part in (b"list FILE", b"cancel FILE ID...", b"Exit status:"):
        has(own.out, part)


@test
def journal_job_that_never_comes_is_shown_as_such(directory):
    journal = journal_with(directory, b"+1h a")
    alter(journal, f"UPDATE job SET deadline = {2**63 - 1}")
    job = jobs_of(journal)[0]
    equal((job["deadline"], job["deadline_ns"]), (None, str(2**63 - 1)))
    equal(command("journal", "list", journal).lines[1].split()[1], b"never")


@test
def journal_list_that_cannot_be_printed_fails(directory):
    journal = journal_with(directory, b"+1h a")
    with open("/dev/full", "wb") as full:
        got = subprocess.run([PROGRAM, "journal", "list", journal], stdout=full, stderr=subprocess.PIPE)
    equal((got.returncode, got.stderr), (1, b"htw journal: standard output: No space left on device\n"))


@test
def journal_list_ends_when_its_reader_has_enough(directory):
    journal = journal_of_many(directory, 20000, b"x")
    got = subprocess.run(["sh", "-c", '"$0" journal list "$1" | head -2', PROGRAM, journal],
                         capture_output=True)
    equal((got.stderr, len(got.stdout.splitlines())), (b"", 2))


@test
def journal_shows_nothing_that_changes_the_terminal(directory):
    payload = b"\x1b[2J\x7f\xc2\x9b31m\xc2\x9f\xe2\x82\xac\\"
    journal = journal_with(directory, b"+1h " + payload)
    for words in (["list"], ["-J", "list"], ["-p", "list"], ["show"], ["-J", "show"]):
        out = command("journal", *words, journal).out
        assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", out.decode()), (words, out)
    equal(jobs_of(journal)[0]["payload"], payload.decode())
    has(command("journal", "list", journal).out, rb"\x1b[2J\x7f\xc2\x9b31m\xc2\x9f" + b"\xe2\x82\xac" + b"\\\\")
    got = command("journal", "check", os.path.join(directory, "\x1b[2J"))
    equal((got.status, got.err), (1, f"htw journal: {directory}/\\x1b[2J: No such file or directory\n"))
