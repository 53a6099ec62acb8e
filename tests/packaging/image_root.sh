#!/bin/sh
# SPDX-License-Identifier: MIT
# The image of the relay is one that others read, is small, holds no shell and no program with more rights, and its
# relay starts as the user of the image.
# usage: image_root.sh IMAGE_TAR
set -eu
image=$(readlink -f "$1")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"

if command -v skopeo >found; then
    skopeo inspect --config "oci-archive:$image" >config
else
    echo 'NOT TESTED: skopeo is not installed'
fi
mkdir image root
tar -xf "$image" -C image
# The blobs have the names of their digests.
for blob in image/blobs/sha256/*; do
    echo "$(basename "$blob")  $blob"
done | sha256sum --check --quiet
python3 - <<'END' >layer
import json
def blob(descriptor):
    return "image/blobs/" + descriptor["digest"].replace(":", "/")
manifest = json.load(open(blob(json.load(open("image/index.json"))["manifests"][0])))
config = json.load(open(blob(manifest["config"])))["config"]
assert config["User"] == "65532:65532" and config["Entrypoint"] == ["/usr/bin/htw-relay"], config
print(blob(manifest["layers"][0]))
END
tar -xzf "$(cat layer)" -C root --exclude='./dev/*'

for name in sh bash dash apt dpkg perl openssl; do
    found=$(find root -path "*bin/$name")
    [ -z "$found" ] || { echo "the image holds $found"; exit 1; }
done
found=$(find root -type f -perm /6000)
[ -z "$found" ] || { echo "with rights of others: $found"; exit 1; }
grep -q 'BEGIN CERTIFICATE' root/etc/ssl/certs/ca-certificates.crt
kib=$(du -sk root | cut -f 1)
[ "$kib" -lt 81920 ] || { echo "$kib KiB are much"; du -k root | sort -rn | head -n 20; exit 1; }

# As the user of the image, in its root, with no network.
inside() {
    unshare --map-root-user --net chroot --userspec=0:0 root "$@"
}
[ "$(id -u)" != 0 ] || inside() {
    unshare --net chroot --userspec=65532:65532 root "$@"
}
inside /usr/bin/htw-relay --version >version
grep -q '^htw relay ' version
status=0
inside /usr/bin/htw-relay --brokers localhost:1 --width 0 later 2>said || status=$?
[ "$status" -eq 2 ] || { cat said; exit 1; }
echo "$kib KiB, $(du -sk "$image" | cut -f 1) packed: 1 passed, 0 failed"
