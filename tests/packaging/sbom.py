#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tools/sbom.py prints of this build has each package once, with a version, and names each library that meson.build has found.

usage: sbom.py ROOT BUILD LIBRARY...
"""

import json
import re
import shutil
import subprocess
import sys

root, build, *libraries = sys.argv[1:]
if shutil.which("dpkg-query") is None:
    print("SKIP: this is not Debian")
    sys.exit(77)
text = subprocess.run([f"{root}/tools/sbom.py", build, f"{root}/LICENSE"], check=True, stdout=subprocess.PIPE, text=True).stdout
document = json.loads(text)
names = [package["name"] for package in document["packages"]]
ids = [package["SPDXID"] for package in document["packages"]]
ends = {relation["relatedSpdxElement"] for relation in document["relationships"]}
lost = [library for library in ["libc6", "xxhash", *libraries] if not any(library in name for name in names)]
wrong = [package["name"] for package in document["packages"] if not re.match(r"\d", package["versionInfo"])]
is_alone = sum(name.startswith("libc6") for name in names) == 1
if lost or wrong or not is_alone or ends != set(ids) or len(ends) < len(ids):
    sys.exit(f"not listed: {lost}; without a version: {wrong}; relations to {ends} of {ids}")
print(f"{len(ids)} packages: {' '.join(names)}")
