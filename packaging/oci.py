# SPDX-License-Identifier: MIT
"""Packs the root of a file system as an OCI image of one layer: oci.py ROOT_TAR ARCHITECTURE VERSION IMAGE_TAR

IMAGE_TAR is what `podman load`, `skopeo copy oci-archive:...` and others read. SOURCE_DATE_EPOCH is its time.
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
import time

TYPE = "application/vnd.oci.image."
CREATED = int(os.environ["SOURCE_DATE_EPOCH"])
# The names that OCI has for architectures of Debian where they differ.
ARCHITECTURES = {"i386": "386", "armhf": "arm", "ppc64el": "ppc64le"}


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def main(root, architecture, version, image):
    with open(root, "rb") as stream:
        layer = stream.read()
    packed = gzip.compress(layer, mtime=0)
    blobs = [packed]

    def descriptor(kind, data):
        return {"mediaType": TYPE + kind, "digest": digest(data), "size": len(data)}

    def add(value):
        blobs.append(json.dumps(value, sort_keys=True).encode())
        return blobs[-1]

    config = add({
        "architecture": ARCHITECTURES.get(architecture, architecture), "os": "linux",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(CREATED)),
        "config": {"User": "65532:65532", "Entrypoint": ["/usr/bin/htw-relay"], "WorkingDir": "/", "StopSignal": "SIGTERM",
                   "ExposedPorts": {"9644/tcp": {}},
                   "Labels": {"org.opencontainers.image.title": "htw-relay", "org.opencontainers.image.version": version,
                              "org.opencontainers.image.licenses": "MIT AND BSD-2-Clause"}},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]}})
    manifest = add({"schemaVersion": 2, "mediaType": TYPE + "manifest.v1+json", "config": descriptor("config.v1+json", config),
                    "layers": [descriptor("layer.v1.tar+gzip", packed)]})
    reference = descriptor("manifest.v1+json", manifest)
    reference["annotations"] = {"org.opencontainers.image.ref.name": "latest"}
    files = {"oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode(),
             "index.json": json.dumps({"schemaVersion": 2, "manifests": [reference]}).encode()}
    files.update(("blobs/" + digest(blob).replace(":", "/"), blob) for blob in blobs)
    with tarfile.open(image, "w") as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), CREATED
            archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    main(*sys.argv[1:])
