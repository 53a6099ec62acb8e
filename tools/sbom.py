#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what a release is and what it uses, as SPDX 2.3 in JSON: the archive, and each Debian package whose library the installed
libraries and programs of a build load, with its version. The same archive and build make the same bytes.

usage: sbom.py BUILD ARCHIVE
"""

import datetime
import email.utils
import hashlib
import json
import pathlib
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def package(name, version, licence="NOASSERTION", **more):
    return {"name": name, "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def related(one, what, other):
    return {"spdxElementId": one["SPDXID"], "relationshipType": what, "relatedSpdxElement": other["SPDXID"]}


build, archive = map(pathlib.Path, sys.argv[1:])
targets = json.loads(output_of("meson", "introspect", "--targets", str(build)))
binaries = [target["filename"][0] for target in targets if target["installed"] and target["type"] in ("executable", "shared library")]
needed = {library for binary in binaries for library in re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", binary))}
places = dict(re.findall(r"(\S+) => (/\S+)", "".join(output_of("ldd", binary) for binary in binaries)))
files = {pathlib.Path(places[library]).resolve() for library in needed & places.keys()}  # the loader has no place
owners = output_of("dpkg-query", "-S", *(f"*/{file.parent.name}/{file.name}" for file in files if build.resolve() not in file.parents))
names = sorted(set(re.findall(r"^([^:\s]+)", owners, re.M)))
others = [package(*line.split()) for line in output_of("dpkg-query", "-W", "-f=${Package} ${Version}\n", *names).splitlines()]
version = json.loads(output_of("meson", "introspect", "--projectinfo", str(build)))["version"]
digest = hashlib.sha256(archive.read_bytes()).hexdigest()
htw = package("htw", version, "MIT AND BSD-2-Clause", packageFileName=archive.name,
              checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
xxhash = package("xxhash", output_of("pkg-config", "--modversion", "libxxhash").strip(), "BSD-2-Clause")
document = {"SPDXID": "SPDXRef-DOCUMENT"}
changelog = pathlib.Path(__file__).resolve().parents[1] / "debian/changelog"
date = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.*)$", changelog.read_text(), re.M)[1])

print(json.dumps(document | {
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "name": f"htw-{version}",
    "documentNamespace": f"https://spdx.org/spdxdocs/htw-{version}-{digest}",
    "creationInfo": {"created": date.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: tools/sbom.py"]},
    "packages": [htw, xxhash, *others],
    "relationships": [related(document, "DESCRIBES", htw), related(htw, "STATIC_LINK", xxhash),  # its header is compiled in
                      *(related(htw, "DYNAMIC_LINK", one) for one in others)]}, indent=2))
