# SPDX-License-Identifier: MIT
"""What others wrote: the suites of two libraries. The same results on beanstalkd and on htw serve.

npm, pip and go fetch the libraries by name, once, into the folder --peers; that of PHP is Debian's package. What cannot be fetched
or is not installed is skipped, with the reason.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import Skipped, compared, equal, note, settings

LIMIT_S = 300
NPM = ["fivebeans@1.5.0", "mocha@3.0.2", "must@0.13.2", "jackd@2.2.2"]
PYTHON = ["pystalkd==1.3.0", "greenstalk==2.1.1", "PyYAML"]
GO = "github.com/beanstalkd/go-beanstalk@v0.2.0"


def folder(name):
    settings.peers = settings.peers or tempfile.mkdtemp(prefix="htw-serve-peers-")
    return pathlib.Path(settings.peers).resolve() / name


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skipped(f"not installed: {tool}")


def execute(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=LIMIT_S, check=False, **more)
    return done.returncode, done.stdout


def fetched(name, commands):
    """The folder, in which the commands were run once."""
    place = folder(name)
    if (place / "fetched").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for command in commands:
        status, output = execute(command, cwd=place)
        if status != 0:
            raise Skipped(f"cannot fetch: {' '.join(command[:3])}: {(output.strip().splitlines() or ['no reason'])[-1]}")
    (place / "fetched").touch()
    return place


def npm():
    need("node", "npm")
    return fetched("npm", [["npm", "init", "--yes"], ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *NPM]])


def python():
    return fetched("python", [
        [sys.executable, "-m", "pip", "install", "--quiet", "--target", ".", *PYTHON],
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "pystalkd", PYTHON[0]],
        ["tar", "-xf", "pystalkd-1.3.0.tar.gz", "--strip-components=1", "pystalkd-1.3.0/test.py"]])


def pheanstalk():
    need("php")
    if not os.path.exists("/usr/share/php/Pheanstalk/autoload.php"):
        raise Skipped("not installed: php-pda-pheanstalk")


@compared
def the_tests_of_fivebeans_give_the_same(server):
    """Its files have the port 11300, which is replaced in a copy of them."""
    place = npm()
    with tempfile.TemporaryDirectory(prefix="htw-serve-") as copy:
        copied = pathlib.Path(copy) / "node_modules/fivebeans"
        shutil.copytree(place / "node_modules/fivebeans", copied)
        for file in [*copied.glob("lib/*.js"), *copied.glob("test/*.js"), *copied.glob("test/fixtures/*.yml")]:
            file.write_text(file.read_text().replace("11300", str(server.port)))
        _, output = execute(["node", place / "node_modules/mocha/bin/_mocha", "--reporter", "json", "--timeout", "8000",
                             "test/"], cwd=copied, env={**os.environ, "NODE_PATH": str(place / "node_modules")})
    told = []
    for kind in ("passes", "failures", "pending"):
        found = re.search(rf'^  "{kind}": (\d+)', output, re.MULTILINE) or re.search(rf'"{kind}": (\d+)', output)
        assert found, output[-2000:]
        told.append((kind, found[1]))
    assert int(told[0][1]) >= 50, output[-2000:]
    titles = re.search(r'"failures": \[.*?\n  \]', output, re.DOTALL)
    told.append(("what fails", str(sorted(set(re.findall(r'"fullTitle": "(.*)"', titles[0] if titles else ""))))))
    note(server, ", ".join(f"{kind} {count}" for kind, count in told))
    return told


@compared
def the_tests_of_pystalkd_give_the_same(server):
    place = python()
    run = f"import runpy; from pystalkd import Beanstalkd; Beanstalkd.DEFAULT_PORT = {server.port}; " \
        "runpy.run_path('test.py', run_name='__main__')"
    _, output = execute([sys.executable, "-c", run], cwd=place)
    ran = re.search(r"^Ran (\d+) tests?", output, re.MULTILINE)
    assert ran and int(ran[1]) >= 10, output[-2000:]
    result = re.search(r"^(OK|FAILED.*)$", output, re.MULTILINE)[0]
    note(server, f"{ran[1]} tests: {result}")
    equal(result, "OK", output[-2000:])
    return [("ran", ran[1])]
