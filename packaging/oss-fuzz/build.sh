#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# build.sh - in the root of the sources, builds the fuzzers of tests/fuzz as OSS-Fuzz wants them: into $OUT, with their inputs and
# the shared libraries that its machines may lack. ./dev fuzz is for everybody else.
export CXXFLAGS="${CXXFLAGS//-stdlib=libc++/}" # the cctz of the system uses the other one
export LDFLAGS="${LDFLAGS:-} -Wl,-rpath,\$ORIGIN"
meson setup "$WORK/htw" -Dbuildtype=plain -Dprefer_static=true -Dhardening=false -Dtests=false -Dexamples=false -Ddocs=false \
    -Dfuzz=true -Dfuzz_engine="$LIB_FUZZING_ENGINE" -Dcheck_level=1 -Db_lundef=false -Drelay=disabled \
    -Dcalendar=enabled -Djournal=enabled -Dmonitor=enabled -Dtop=enabled
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    ninja -C "$WORK/htw" --quiet "tests/fuzz/$name"
    cp "$WORK/htw/tests/fuzz/$name" "$OUT/"
    ldd "$WORK/htw/tests/fuzz/$name" | awk '/cctz|stdc[+][+]/ { print $3 }' | xargs -r cp -t "$OUT"
    zip -qrj "$OUT/${name}_seed_corpus.zip" "tests/fuzz/corpus/${name#fuzz_}"
    printf '[libfuzzer]\nmax_len = 4096\n' >"$OUT/$name.options"
done
