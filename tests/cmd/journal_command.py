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

from harness import PROGRAM, command, content_of, equal, file_with, has, run, start_with, stop, test, wait_for


def journal_with(directory, data, *options):
    """A journal with these lines, which no process has open."""
    journal = os.path.join(directory, "journal")
    end = b"\0" if "-0" in options else b"\n"
    stop(start_with(b"0 x" + end + data, "-j", journal, *options, until=b"x" + end), signal.SIGTERM)
    return journal


def open_with(journal, data):
    """A run that has the journal open, with these lines in it."""
    process = start_with(b"0 x\n" + data, "-j", journal)
    wait_for(lambda: len(jobs_of(journal)) == data.count(b"\n"), "the end of the job of x")
    return process


def jobs_of(journal):
    got = command("journal", "--json", "list", journal)
    equal((got.status, got.err), (0, ""))
    return [json.loads(line) for line in got.lines]


@test
def journal_list_is_in_order_of_deadline_and_works_while_it_is_open(directory):
    journal = os.path.join(directory, "journal")
    process = open_with(journal, b"3h c\n1h a\n@2200-01-01T00:00:00.5Z d\n2h b\n")
    equal([job["payload"] for job in jobs_of(journal)], list("abcd"))
    last = jobs_of(journal)[-1]
    equal((last["deadline"], last["deadline_ns"], last["size"], last["key"]),
          ("2200-01-01T00:00:00.500000Z", "7258118400500000000", 1, None))
    got = command("journal", "list", "-n", "2", journal)
    equal([line.split()[-1] for line in got.lines], [b"PAYLOAD", b"a", b"b"])
    equal(got.lines[1].split()[0], jobs_of(journal)[0]["id"].encode())
    equal(stop(process, signal.SIGTERM).status, 143)


@test
def journal_show_tells_of_the_journal_and_of_jobs(directory):
    journal = journal_with(directory, b"1h a b\n-1s bad\n@2200-01-01T00:00:00Z " + b"y" * 100 + b"\n")
    summary = json.loads(command("journal", "-J", "show", journal).out)
    equal([summary[name] for name in ("jobs", "keyed", "overdue")], [2, 0, 0])
    jobs = jobs_of(journal)
    equal(summary["next"]["deadline_ns"], jobs[0]["deadline_ns"])
    assert summary["file_bytes"] > 4096 and summary["mark"].startswith("htw-delay 1\n"), summary
    got = command("journal", "show", journal)
    has(got.out, b"jobs     2\n")
    has(got.out, b"next     " + jobs[0]["deadline"].encode())
    got = command("journal", "show", journal, *(job["id"] for job in jobs))
    has(got.out, b"payload   " + b"y" * 100 + b"\n")
    has(got.out, b"bytes     3\npayload   a b\n")
    got = command("journal", "show", journal, jobs[0]["id"], "5")
    equal((got.status, got.err), (1, f"htw journal: {journal}: there is no job 5\n"))


@test
def journal_json_has_the_bytes_of_any_payload(directory):
    rng = random.Random(5)
    payloads = [b"", b'"\\/\x07\x1f\x7f', "zürich \u2028 \U0001f552".encode(), b"\xff", b"\xc0\x80",
                b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xc2", b"a\x80", b"\xf0\x80\x80\x80"]
    payloads += [rng.randbytes(n).replace(b"\0", b"") for n in range(1, 40)]
    payloads += ["".join(chr(rng.choice((rng.randrange(1, 0x7ff), rng.randrange(0xe000, 0x10ffff))))
                         for _ in range(20)).encode() for _ in range(20)]
    journal = journal_with(directory, b"".join(b"1h %s\0" % payload for payload in payloads), "-0")
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
    journal = journal_with(directory, b"1h a\n3 b\n3 c\n")
    ids = {job["payload"]: job["id"] for job in jobs_of(journal)}
    got = command("journal", "cancel", journal, ids["a"], ids["b"], "7")
    equal((got.status, got.err), (1, f"htw journal: {journal}: there is no job 7\n"))
    equal([job["payload"] for job in jobs_of(journal)], ["c"])
    equal(run("-j", journal).lines, [b"c"])
    equal(command("journal", "cancel", journal, ids["c"]).status, 1)
    equal(json.loads(command("journal", "--json", "show", journal).out)["next"], None)


@test
def journal_cancel_and_compact_are_refused_while_it_is_open(directory):
    journal = os.path.join(directory, "journal")
    process = open_with(journal, b"1h a\n")
    job = jobs_of(journal)[0]["id"]
    for words in (("cancel", journal, job), ("compact", journal)):
        got = command("journal", *words)
        equal((got.status, got.out), (1, b""))
        equal(got.err, f"htw journal: {journal}: the journal is open in process {process.pid}\n")
    equal(command("journal", "check", journal).out, f"{journal}: no problem found, 1 job\n".encode())
    stop(process, signal.SIGTERM)
    equal(command("journal", "cancel", journal, job).status, 0)


@test
def journal_backup_while_it_is_open_is_a_journal(directory):
    journal, copy = os.path.join(directory, "journal"), os.path.join(directory, "copy")
    process = start_with(b"0 x\n0.5 a\n1h b\n", "-j", journal)
    source, target = sqlite3.connect(journal), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()
    stop(process, signal.SIGTERM)
    equal(command("journal", "check", copy).status, 0)
    equal([job["payload"] for job in jobs_of(copy)][-1], "b")


@test
def journal_compact_gives_space_back(directory):
    journal = os.path.join(directory, "journal")
    lines = file_with(directory, "in", b"".join(b"0.3 %s\n" % (b"y" * 200) for _ in range(20000)))
    equal(run("-j", journal, lines, stdout=subprocess.DEVNULL).status, 0)
    before = os.path.getsize(journal)
    got = command("journal", "--json", "compact", journal)
    equal((got.status, got.err), (0, ""))
    sizes = json.loads(got.out)
    equal((sizes["bytes_before"], sizes["bytes"]), (before, os.path.getsize(journal)))
    assert sizes["bytes"] < before / 2, sizes
    equal(command("journal", "check", journal).status, 0)


@test
def journal_check_finds_what_does_not_agree(directory):
    journal = journal_with(directory, b"1h a\n2h b\n")
    for change, back, wanted in (
            ("UPDATE meta SET jobs = jobs + 1", "UPDATE meta SET jobs = jobs - 1",
             "1 jobs differ between the counter and the table"),
            ("UPDATE job SET deadline = deadline - 7200000000000",
             "UPDATE job SET deadline = deadline + 7200000000000",
             "2 jobs are in no block of their place"),
            ("INSERT INTO block SELECT place + 1, first + 1, last FROM block LIMIT 1",
             "DELETE FROM block WHERE first % 256 = 1", "1 blocks overlap"),
            ("INSERT INTO moved_place VALUES (1, 1, 1)", "DELETE FROM moved_place",
             "1 places have a job that was not moved there"),
            ("UPDATE meta SET moved = 1", "UPDATE meta SET moved = 0",
             "1 jobs that were moved differ between the counter and the table"),
            ("UPDATE meta SET next_sequence = 256", "UPDATE meta SET next_sequence = 1 << 40",
             "1 rows of counters are behind the jobs or out of range"),
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
def journal_of_format_1_is_read_and_stays_as_it_is(directory):
    journal = os.path.join(directory, "journal")
    header = os.path.join(os.path.dirname(__file__), "..", "support", "journal_format_1.h")
    with open(header, encoding="ascii") as stream:
        tables = "".join(re.findall(r'"(.*?)"', stream.read()))
    connection = sqlite3.connect(journal)
    connection.executescript(tables)
    for minute, second, payload in ((28333393, 30, b"b"), (28333333, 7, b"a"), (28333393, 10, b"c")):
        deadline = minute * 60 * 10**9 + second * 10**9
        connection.execute("INSERT INTO job VALUES (?, ?, NULL, ?)", ((minute << 35) + second, deadline, payload))
    connection.execute("INSERT INTO meta VALUES (1, 3, 0, 31, 0, NULL)")
    connection.commit()
    connection.close()
    jobs = jobs_of(journal)
    equal([job["payload"] for job in jobs], ["a", "c", "b"])
    equal(json.loads(command("journal", "-J", "show", journal, jobs[0]["id"]).out), jobs[0])
    equal(json.loads(command("journal", "-J", "show", journal).out)["overdue"], 3)
    equal(command("journal", "check", journal).out, f"{journal}: no problem found, 3 jobs\n".encode())
    connection = sqlite3.connect(journal)
    equal(connection.execute("PRAGMA user_version").fetchone(), (1,))
    connection.execute("UPDATE job SET deadline = deadline + 60000000000 WHERE payload = x'61'")
    connection.commit()
    connection.close()
    equal(command("journal", "check", journal).out, b"1 jobs have an id that does not fit their deadline\n")
    equal(command("journal", "cancel", journal, jobs[1]["id"]).status, 0)
    equal([job["payload"] for job in jobs_of(journal)][-1], "b")


@test
def journal_check_finds_a_damaged_page(directory):
    journal = journal_with(directory, b"".join(b"1h %d\n" % number for number in range(5000)))
    with open(journal, "r+b") as stream:
        stream.seek(os.path.getsize(journal) - 4096 * 3)
        stream.write(random.Random(3).randbytes(4096))
    got = command("journal", "check", journal)
    equal(got.status, 1)
    assert got.out or got.err, "no problem was named"


@test
def journal_check_finds_a_file_that_sqlite_will_not_write(directory):
    journal = journal_with(directory, b"1h job\n")
    with open(journal, "r+b") as stream:
        stream.seek(18)  # the version that a writer has to know
        stream.write(b"\xaf")
    got = command("journal", "check", journal)
    equal((got.status, got.out), (1, b"the file has a version that SQLite only reads\n"))


@test
def journal_file_that_is_none_is_refused(directory):
    journal = journal_with(directory, b"1h a\n")
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
    has(command("journal", "list", journal).err, "the journal has format 3, and this version of libhtw knows formats up to 2")
    equal(content_of(os.path.join(directory, "text")), b"no journal\n" * 1000)


def alter(journal, statements):
    connection = sqlite3.connect(journal)
    connection.executescript(statements)
    connection.close()


@test
def journal_whose_creation_was_interrupted_is_an_empty_one(directory):
    for name in ("file", "header", "undone"):
        journal = os.path.join(directory, name)
        file_with(directory, name, b"")
        if name != "file":
            alter(journal, "PRAGMA journal_mode = WAL")
        if name == "undone":  # SQLite's copy says that there was no page before
            header = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 1, 0, 512, 4096)
            file_with(directory, name + "-journal", header.ljust(512, b"\0"))
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
def journal_whose_tables_are_others_is_refused(directory):
    journal = journal_with(directory, b"1h a\n")
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
            equal(run("-j", journal).status, 1, number)
            equal(stream.read(), content_of(journal))


@test
def journal_whose_pages_lead_to_each_other_is_read_to_an_end(directory):
    """Seven pages of one table, each of which is beneath the one before many times over."""
    journal = journal_with(directory, b"".join(b"1h %d %s\n" % (number, b"y" * 99) for number in range(3000)))
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
        assert got.out, "no problem was named"
        if table == "job":
            file_is_refused(damaged, ("list", "show"))
    connection.close()


@test
def journal_command_line_that_is_wrong_is_refused(directory):
    for words, wanted in (
            ([], "ACTION expected"), (["bogus", "f"], "unknown action: bogus"),
            (["list"], "FILE expected after list"), (["list", "f", "1"], "not expected: 1"),
            (["cancel", "f"], "ID expected after f"), (["cancel", "f", "-1"], "invalid option"),
            (["show", "f", "1x"], "not an id: 1x"), (["-n", "x", "list", "f"], "--limit: not a number: x"),
            (["-n", "1", "show", "f"], "--limit: only with list"), (["-p", "list", "f"], "--payload: only"),
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
    journal = journal_with(directory, b"1h a\n")
    alter(journal, f"UPDATE job SET deadline = {2**63 - 1}")
    job = jobs_of(journal)[0]
    equal((job["deadline"], job["deadline_ns"]), (None, str(2**63 - 1)))
    equal(command("journal", "list", journal).lines[1].split()[1], b"never")


@test
def journal_list_that_cannot_be_printed_fails(directory):
    journal = journal_with(directory, b"1h a\n")
    with open("/dev/full", "wb") as full:
        got = subprocess.run([PROGRAM, "journal", "list", journal], stdout=full, stderr=subprocess.PIPE)
    equal((got.returncode, got.stderr), (1, b"htw journal: standard output: No space left on device\n"))


@test
def journal_list_ends_when_its_reader_has_enough(directory):
    journal = journal_with(directory, b"".join(b"1h %d\n" % number for number in range(20000)))
    got = subprocess.run(["sh", "-c", '"$0" journal list "$1" | head -2', PROGRAM, journal],
                         capture_output=True)
    equal((got.stderr, len(got.stdout.splitlines())), (b"", 2))


@test
def journal_shows_nothing_that_changes_the_terminal(directory):
    payload = b"\x1b[2J\x7f\xc2\x9b31m\xc2\x9f\xe2\x82\xac\\"
    journal = journal_with(directory, b"1h " + payload + b"\n")
    for words in (["list"], ["-J", "list"], ["-p", "list"], ["show"], ["-J", "show"]):
        out = command("journal", *words, journal).out
        assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", out.decode()), (words, out)
    equal(jobs_of(journal)[0]["payload"], payload.decode())
    has(command("journal", "list", journal).out, rb"\x1b[2J\x7f\xc2\x9b31m\xc2\x9f" + b"\xe2\x82\xac" + b"\\\\")
    got = command("journal", "check", os.path.join(directory, "\x1b[2J"))
    equal((got.status, got.err), (1, f"htw journal: {directory}/\\x1b[2J: No such file or directory\n"))
