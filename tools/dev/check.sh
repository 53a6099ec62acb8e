# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# check.sh - verbs that look for mistakes: warnings, analysis, coverage, mutations, fuzzing, costs, the binary interface. Part of ../../dev.

help_check() {
    cat <<'END'
  lint              all warnings of clang, layout, shell
  analyze [--quick] gcc -fanalyzer, clang-tidy and cppcheck; --quick: without gcc and what follows each path
  coverage [LAYER]  branches and MC/DC conditions that the tests reach, by clang 19; LAYER: what no test reaches
  mutate [LAYER]... [--seed N] [--count N] [--survivors]
                    break each LAYER (or all) in 40 small ways, or N: which do its tests not notice?
  mutate permanent [WORD]...
                    each mistake of permanent.txt and planted.txt, or those with WORD: the named test must fail
  proof wp [PART]   prove the contracts of the sources, or of parts, by Frama-C (docs/proof.md)
  proof eva         run histories of a wheel by Frama-C: nothing is undefined, all is as its oracle says
  proof mistakes    make each mistake of tests/proof/mistakes.txt: a goal must fail
  fuzz [SECONDS]    fuzz each input from outside for 60 seconds, or SECONDS (tests/fuzz)
  fuzz keep         store the inputs that these runs have found, where they reach more
  instructions [--accept]
                    count the instructions of the main workloads; fail if they have risen
  weigh [--lower]   lines of code and words of documents, beside their ceilings in tests/weight.txt
  abi [--accept]    compare the binary interface with the accepted one (docs/abi.md)
END
}

# Built anew each time: the compiler names the decisions that it cannot count only when it
# compiles. Without assertions, whose failing no test can reach, and what bpftrace and valgrind turn on.
verb_coverage() {
    need "$coverage_packages $serve_packages"
    rm -rf build/coverage
    CC=clang-19 CXX=clang++-19 configure coverage -Dbuildtype=debug -Dcheck_level=0 -Dprobes=disabled -Dannotations=disabled -Doptimization=1 -Dexamples=false \
        -Dc_args="-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc -include $PWD/tests/support/coverage_exit.h" \
        -Dc_link_args=-fprofile-instr-generate -Dcpp_link_args=-fprofile-instr-generate >/dev/null
    ninja -C build/coverage >build/coverage/build.log || fail "see build/coverage/build.log"
    export LLVM_PROFILE_FILE="$PWD/build/coverage/profiles/%4m.profraw"
    run_tests coverage --quiet --timeout-multiplier 4 --suite unit --suite model --suite fault --suite stress --suite cmd --suite fuzz ||
        say 'some tests failed: two compare standard error, to which the profiler complains'
    run_serve coverage --quiet --slowness 4 || say 'some tests of htw serve failed'
    python3 tests/coverage.py build/coverage "$@"
}

verb_mutate() {
    need "$test_packages git"
    if [ "${1:-}" = permanent ]; then
        shift
        python3 tests/mutate/permanent.py . build/permanent "$@"
        return
    fi
    python3 tests/mutate/mutate.py "$@"
}

# Why3 keeps what it knows of the provers in a file, which is made anew: not that of the user.
verb_proof() {
    need "$proof_packages"
    mkdir -p build/proof
    case ${1:-wp} in
    wp) python3 -B tests/proof/proof.py . "${@:-wp}" ;;
    eva | mistakes) python3 -B tests/proof/proof.py . "$1" build/proof ;;
    *) fail "proof: no such proof: $1" ;;
    esac
}

# What sources and documents say is checked by programs of tests/api/, which are tests.
verb_lint() {
    need "$lint_packages git"
    say 'all warnings of clang'
    # Except those about padding, declarations between statements, casts that are meant, what the macros
    # of the C library, SystemTap and xxHash do, and the name _FORTIFY_SOURCE.
    find src programs -name '*.c' ! -path '*/tests/*' ! -name alloc_jemalloc.c -exec clang -fsyntax-only \
        -std=c11 -D_GNU_SOURCE -DHTW_ANNOTATE=1 -DHTW_PROBES=1 -DHTW_CHECK_LEVEL=1 -Iinclude -Iprograms/kit -Werror -Weverything \
        -Wno-padded -Wno-declaration-after-statement -Wno-cast-qual -Wno-bad-function-cast \
        -Wno-disabled-macro-expansion -Wno-used-but-marked-unused -Wno-extra-semi-stmt -Wno-gnu-zero-variadic-macro-arguments \
        -Wno-reserved-macro-identifier {} +
    say 'layout (clang-format)'
    find include bindings/cpp src programs tests examples benchmarks \( -name '*.[ch]' -o -name '*.cc' -o -name '*.[ch]pp' \) \
        -exec clang-format --dry-run -Werror {} +
    say 'shell scripts'
    shellcheck -x -a dev
    git grep -lE '^#!/bin/(sh|bash)|^#!/usr/bin/env bash|^# shellcheck shell=bash' | grep -vx dev | xargs shellcheck
}

# With assertions, from which the tools learn what holds. Findings are errors, and each tool reports
# all of its own.
verb_analyze() {
    case ${1:-} in
    '') checks='' place=analyze options='-Dbuildtype=debugoptimized -Dc_args=-fanalyzer' ;;
    --quick) checks='-clang-analyzer-*' place=analyze-quick options='-Dbuildtype=plain -Dhardening=false' ;;
    *) fail "analyze: no such option: $1" ;;
    esac
    need "$analyze_packages"
    # shellcheck disable=SC2086 # a list of words
    CC=gcc CXX=g++ configure "$place" -Dcheck_level=1 -Dtests=false -Dwerror=true $options
    found=
    say 'gcc'
    targets=
    [ -z "$checks" ] || targets=$(ninja -C "$folder" -t targets rule CUSTOM_COMMAND | grep '\.c$') # the rest gcc compiles in ./dev test
    # shellcheck disable=SC2086 # a list of words
    ninja -C "$folder" --quiet -k 0 $targets || fail 'analyze: gcc has findings, see above'
    say 'clang-tidy'
    python3 tests/analyze/tidy.py "$folder" "$checks" >"$folder/tidy.ninja"
    ninja -C "$folder" -f tidy.ninja --quiet -k 0 || found="$found clang-tidy"
    say 'cppcheck'
    mkdir -p "$folder/cppcheck"
    # It does not see that a constructor which initialises its base sets the members of the base.
    cppcheck --project="$folder/compile_commands.json" \
        --suppress=uninitDerivedMemberVar --suppress=uninitDerivedMemberVarPrivate \
        --cppcheck-build-dir="$folder/cppcheck" -j "$(nproc)" --quiet \
        --enable=warning,performance,portability --inline-suppr \
        --error-exitcode=1 || found="$found cppcheck"
    [ -z "$found" ] || fail "analyze: findings, see above, of$found"
}

# The program of a fuzzer, and the folder for what it finds and prints, which a fresh build leaves there.
name_fuzzer() {
    name=$1
    found=build/fuzzed
    program=build/fuzz/tests/fuzz/fuzz_$name
    mkdir -p "$found/$name"
}

# run_fuzzer NAME SECONDS
verb_one_fuzzer() {
    name_fuzzer "$1"
    ASAN_OPTIONS=quarantine_size_mb=16 "$program" "-max_total_time=$2" -max_len=4096 -timeout=10 \
        -rss_limit_mb=1024 -malloc_limit_mb=64 -close_fd_mask=3 -print_final_stats=1 \
        "-artifact_prefix=$found/$name-" "$found/$name" "tests/fuzz/corpus/$name" \
        >"$found/$name.log" 2>&1 || {
        tail -n 40 "$found/$name.log"
        fail "fuzz: what fuzz_$name has found is in $found/$name-*; what it has printed, in $found/$name.log"
    }
    awk -v name="$name" '
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
        /stat::number_of_executed_units/ { executions = $2 }
        END { printf "%-10s %10d executions, %6d edges\n", name, executions, edges }' "$found/$name.log"
}

# Stores few of the inputs, stored ones and found ones, that together reach all edges; and those with names, which
# are written by hand.
keep_inputs() {
    name_fuzzer "$1"
    rm -rf "$found/kept"
    mkdir -p "$found/kept"
    find "tests/fuzz/corpus/$name" -type f -name '*[!0-9a-f]*' -exec cp '{}' "$found/kept" ';'
    "$program" -set_cover_merge=1 -use_counters=0 -max_len=4096 -close_fd_mask=3 "$found/kept" \
        "tests/fuzz/corpus/$name" "$found/$name" >"$found/$name.log" 2>&1 ||
        fail "fuzz: see $found/$name.log"
    rm -rf "tests/fuzz/corpus/$name"
    mv "$found/kept" "tests/fuzz/corpus/$name"
}

# Builds all fuzzers; their names are in $names then.
build_fuzzers() {
    need "$fuzz_packages"
    CC=clang CXX=clang++ configure fuzz -Dbuildtype=debugoptimized -Dtests=false -Dfuzz=true \
        -Dcalendar=enabled -Djournal=enabled -Dmonitor=enabled -Drelay=enabled -Dtop=enabled -Dcheck_level=1 \
        -Db_sanitize=address,undefined -Db_lundef=false
    names=
    targets=
    for source in tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        names="$names ${name%.c}"
        targets="$targets tests/fuzz/fuzz_${name%.c}"
    done
    # shellcheck disable=SC2086 # a list of words
    compile fuzz $targets
}

verb_fuzz() {
    [ "${1:-}" = keep ] || number seconds "${1:-60}"
    build_fuzzers
    if [ "${1:-}" = keep ]; then
        for name in $names; do
            keep_inputs "$name"
        done
        return
    fi
    # shellcheck disable=SC2086 # a list of words
    printf '%s\n' $names | xargs -P "$(nproc)" -I '{}' ./dev one-fuzzer '{}' "${1:-60}"
}

# Without -march=native, so that the count is the same everywhere; the figures are those of gcc.
verb_instructions() {
    need "$build_packages valgrind python3"
    CC=gcc configure instructions -Dbuildtype=release -Dtests=false -Dbenchmarks=true
    ninja -C build/instructions --quiet benchmarks/htw-instructions
    python3 benchmarks/instructions.py build/instructions/benchmarks/htw-instructions \
        benchmarks/instructions.txt "$@"
}

verb_weigh() {
    need 'git python3'
    python3 tools/weigh.py tests/weight.txt "$@"
}

verb_abi() {
    need 'gcc libc6-dev python3'
    python3 tests/api/abi.py . gcc "$@"
}
