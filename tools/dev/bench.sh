# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# bench.sh - verbs that measure. Part of ../../dev.

help_bench() {
    cat <<'END'
  bench [ARG]...    measure the wheel and its peers on one core, and draw build/bench/*.svg;
                    try --quick, and --help for what else ARG may be
  bench scheduler [ARG]...
                    measure the scheduler and its peers in C, on the JVM, in Go and tokio, which Maven and
                    cargo fetch once, and write build/bench-scheduler/results.json; ARG: --quick,
                    --no-jvm, --no-go, --no-tokio, --help
  bench purgatory [ARG]...
                    measure the purgatory and Kafka's, which Maven fetches once, and write
                    build/bench-purgatory/results.json; ARG: --quick, --no-jvm, --help
  bench journal [ARG]...
                    measure the journal beside SQLite alone and Redis, and
                    write build/bench-journal/results.json; ARG: --quick, --no-servers, --help
  bench relay [ARG]...
                    measure htw relay over a Kafka on this machine, beside a ladder of delay topics and
                    a polled table, and write build/bench-relay/results.json; ARG: --quick,
                    --seconds N, --help
  bench serve [ARG]...
                    measure htw serve beside beanstalkd, and write build/bench-serve/results.json; ARG: --quick,
                    --help
  bench calendar    measure the next instant of calendars
END
}

# With the flags that a user who cares for speed would choose.
build_bench() {
    need "$bench_packages"
    configure bench -Dbuildtype=release -Db_lto=true -Dtests=false -Dbenchmarks=true \
        -Dc_args=-march=native -Dcpp_args=-march=native
    compile bench
}

# run_bench NAME RESULTS [ARG]...
run_bench() {
    name=$1
    results=$2
    shift 2
    python3 benchmarks/run.py "$name" --program "build/bench/benchmarks/$name/htw-bench-$name" \
        --json "$results" "$@"
}

# need_peers "TOOL..." PACKAGES: what fetches and builds optional peers, unless the tools are there. Without
# them the benchmark says which peers it leaves out.
need_peers() {
    for tool in $1; do
        if ! command -v "$tool" >/dev/null 2>&1; then
            # shellcheck disable=SC2310 # the benchmark goes on
            (need "$2") || true
            return
        fi
    done
}

bench_scheduler() {
    case " $* " in *' --no-jvm '*) ;; *) need_peers 'javac mvn' "$jvm_packages" ;; esac
    case " $* " in *' --no-go '*) ;; *) need_peers go "$go_packages" ;; esac
    case " $* " in *' --no-tokio '*) ;; *) need_peers 'cargo rustc' "$tokio_packages" ;; esac
    build_bench
    run_bench scheduler build/bench-scheduler/results.json --build build/peers "$@"
}

bench_purgatory() {
    case " $* " in *' --no-jvm '*) ;; *) need_peers 'javac mvn' "$jvm_packages" ;; esac
    build_bench
    run_bench purgatory build/bench-purgatory/results.json --build build/peers "$@"
}

# The servers are run by the benchmark itself, with files of its own.
bench_journal() {
    case " $* " in
    *' --no-servers '*) need "$bench_packages $journal_packages" ;;
    *) need "$journal_bench_packages" ;;
    esac
    build_bench
    run_bench journal build/bench-journal/results.json "$@"
}

# Starts a Kafka for each run. A polled table is measured by the benchmark of the journal.
bench_relay() {
    need "$bench_packages $journal_packages $relay_packages $kafka_packages"
    build_bench
    fetch_kafka
    mkdir -p build/bench-relay/classes
    javac -Xlint:all -Werror -cp "$kafka/*" -d build/bench-relay/classes \
        benchmarks/common/jvm/Histogram.java benchmarks/relay/jvm/Counter.java
    run_bench relay build/bench-relay/results.json --kafka "$PWD/$kafka" "$@"
}

bench_serve() {
    need "$bench_packages $journal_packages beanstalkd"
    build_bench
    run_bench serve build/bench-serve/results.json "$@"
}

verb_bench() {
    case ${1:-} in
    calendar)
        need "$calendar_packages"
        build_bench
        build/bench/benchmarks/htw-bench-calendar
        return
        ;;
    scheduler | purgatory | journal | relay | serve)
        part=$1
        shift
        "bench_$part" "$@"
        return
        ;;
    esac
    case " $* " in *' --no-jvm '*) ;; *) need_peers 'javac mvn' "$jvm_packages" ;; esac
    build_bench
    result=0
    run_bench wheel build/bench/results.json --build build/peers "$@" || result=$?
    [ ! -s build/bench/results.json ] ||
        python3 benchmarks/wheel/plot.py build/bench/results.json build/bench
    return "$result"
}
