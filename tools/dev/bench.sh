# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# bench.sh - verbs that measure. Part of ../../dev.

help_bench() {
    cat <<'END'
  bench [LAYER] [ARG]...
                    measure the wheel, or LAYER (scheduler, purgatory, journal, relay, serve), beside its peers, and write
                    build/bench-LAYER/results.json; try --quick, and --help for what else ARG may be
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

# need_layer LAYER [ARG]...
need_layer() {
    case $1 in
    calendar) need "$calendar_packages" ;;
    journal) need "$journal_bench_packages" ;;
    relay) need "$bench_packages $relay_packages $jvm_packages" ;;
    serve) need "$bench_packages $journal_packages beanstalkd" ;;
    *)
        case " $* " in *' --in-c '*) return ;; esac
        need_peers 'javac mvn' "$jvm_packages"
        [ "$1" = scheduler ] || return 0
        need_peers go "$go_packages"
        need_peers 'cargo rustc' "$tokio_packages"
        ;;
    esac
}

verb_bench() {
    layer=wheel
    case ${1:-} in
    calendar | wheel | scheduler | purgatory | journal | relay | serve)
        layer=$1
        shift
        ;;
    esac
    need_layer "$layer" "$@"
    build_bench
    place=build/bench-$layer
    program=benchmarks/$layer
    [ "$layer" != relay ] || program=programs/relay/benchmark
    case $layer in
    calendar)
        build/bench/benchmarks/htw-bench-calendar
        return
        ;;
    relay) # a Kafka for each run
        fetch_kafka
        mkdir -p "$place/classes"
        javac -Xlint:all -Werror -cp "$kafka/*" -d "$place/classes" \
            benchmarks/common/jvm/Histogram.java programs/relay/benchmark/jvm/Counter.java
        set -- --kafka "$PWD/$kafka" "$@"
        ;;
    esac
    result=0
    python3 benchmarks/run.py "$layer" --program "build/bench/$program/htw-bench-$layer" --build build/peers \
        --json "$place/results.json" "$@" || result=$?
    [ "$layer" != wheel ] || [ ! -s "$place/results.json" ] ||
        python3 benchmarks/wheel/plot.py "$place/results.json" "$place"
    return "$result"
}
