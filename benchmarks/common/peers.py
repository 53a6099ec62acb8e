# SPDX-License-Identifier: MIT
"""Peers that are not C: fetches and builds them, or says why one is left out.

Versions stand in jvm/pom.xml and in the Cargo.lock of a Rust program; Maven and cargo fetch what these
name, once. Without a network, a tool or a version that is new enough, a peer
is left out, and the rest goes on.
"""

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
POM = BENCHMARKS / "common/jvm/pom.xml"
LIMIT_S = 600  # for one download or one compilation


class Missing(Exception):
    """Why a peer is left out, in a sentence."""


def tool(name, package):
    path = shutil.which(name)
    if not path:
        raise Missing(f"{name} is missing (Debian: {package})")
    return path


def execute(command, failure, **more):
    """Returns the output. `failure`: the start of the sentence."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=LIMIT_S,
                              **more)
    except subprocess.TimeoutExpired:
        raise Missing(f"{failure}: it takes longer than {LIMIT_S} s") from None
    if done.returncode != 0:
        raise Missing(f"{failure}: {reason(done.stdout)}")
    return done.stdout


def reason(output):
    """The line that says most: the first error, or else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)]
    return (errors or lines[-1:] or ["no reason given"])[0]


def made(place, sources, make):
    """The folder `place`, which `make(folder)` makes of these files unless that was done. Several benchmarks may
    run in one checkout: each finds a whole folder, and none that is in use is removed."""
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()

    def is_made():
        complete = place / ".complete"
        return complete.exists() and complete.read_text() == digest

    if is_made():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as space:
        new = pathlib.Path(space) / "new"
        new.mkdir()
        make(new)
        (new / ".complete").write_text(digest)
        try:
            if not is_made():
                if place.exists():
                    place.rename(pathlib.Path(space) / "old")
                new.rename(place)
        except OSError:
            if not is_made():
                raise
    return place


def jars(folder):
    """The folder with the artifacts of the POM."""
    tool("java", "default-jdk-headless")

    def fetch(new):
        execute([tool("mvn", "maven"), "-B", "-q", "-f", POM, "dependency:copy-dependencies",
                 "-DincludeScope=runtime", f"-DoutputDirectory={new}"],
                "Maven cannot fetch it (is there a network?)")

    return made(pathlib.Path(folder).resolve() / "jars", [POM], fetch)


def build_java(options, suite, **artifacts):
    """Returns the class path of the drivers of a suite. `artifacts`: those whose versions the report prints, by peer."""
    place = jars(options.build)
    files = [file for source in ("common", suite) for file in sorted((BENCHMARKS / source / "jvm").glob("*.java"))]

    def compile_into(new):
        execute([tool("javac", "default-jdk-headless"), "-Xlint:all", "-Werror", "-cp", f"{place}/*", "-d", new,
                 *files], "it does not compile")

    classes = made(pathlib.Path(options.build) / "classes" / suite, [*files, POM], compile_into)
    options.versions["JVM"] = java_version()
    for peer, artifact in artifacts.items():
        names = [jar.stem for jar in place.glob(f"{artifact}-[0-9]*.jar")]
        options.versions[peer] = names[0].removeprefix(f"{artifact}-") if names else "of unknown version"
    return f"{classes}:{place}/*"


def java(path, heap_mib):
    """The start of a command: a heap that does not grow, and G1."""
    return ["java", f"-Xms{heap_mib}m", f"-Xmx{heap_mib}m", "-XX:+UseG1GC", "-cp", path, "Bench"]


def java_version():
    return execute(["java", "-version"], "java does not start").splitlines()[0].replace('"', "")


def build_go(folder, source):
    """Returns the program that the files of a folder make, and the version of Go."""
    go = tool("go", "golang-go")
    program = pathlib.Path(folder).resolve() / f"htw-bench-{pathlib.Path(source).name}"
    program.parent.mkdir(parents=True, exist_ok=True)
    place = BENCHMARKS / source
    files = sorted(file.name for file in place.glob("*.go"))
    execute([go, "build", "-buildvcs=false", "-o", program, *files], "it does not compile",
            cwd=place)
    return str(program), execute([go, "env", "GOVERSION"], "go does not start").strip()


def build_rust(folder, source):
    """Returns the shared object of a crate with a Cargo.lock, and the version of rustc."""
    cargo = tool("cargo", "cargo-web")
    manifest = BENCHMARKS / source / "Cargo.toml"
    wanted = re.search(r'rust-version = "(.*)"', manifest.read_text()).group(1)
    rustc = execute([tool("rustc", "rustc-web"), "--version"], "rustc does not start").split()[1]
    if [*map(int, rustc.split(".")[:2])] < [*map(int, wanted.split("."))]:
        raise Missing(f"rustc {rustc} is older than {wanted}, which it needs "
                      "(Debian: rustc-web and cargo-web in place of rustc and cargo)")
    target = pathlib.Path(folder).resolve() / "cargo"
    execute([cargo, "build", "--quiet", "--release", "--locked", "--manifest-path", manifest,
             "--target-dir", target], "cargo cannot fetch or build it (is there a network?)")
    name = re.search(r'\[lib\]\nname = "(.*)"', manifest.read_text()).group(1)
    return str(target / f"release/lib{name}.so"), f"rustc {rustc}"


def locked_version(source, crate):
    """The version of a crate in a Cargo.lock."""
    text = (BENCHMARKS / source / "Cargo.lock").read_text()
    found = re.search(rf'name = "{crate}"\nversion = "(.*)"', text)
    return found.group(1) if found else "of unknown version"


def build(recipes, versions):
    """`recipes`: the name of what is built, and a function that builds it. Says which is left out, and why,
    also in `versions`, which the report prints."""
    for name, recipe in recipes.items():
        try:
            recipe()
        except Missing as missing:
            versions[name] = f"left out: {missing}"
            print(f"run.py: {name} is {versions[name]}", file=sys.stderr, flush=True)
