#!/usr/bin/env bash
# Builds the fuzz targets and runs each for some seconds, two at a time. An input that fails is kept in build/fuzz.
#
# usage: Tests/Fuzz/run.sh SCRATCH-PATH SECONDS     with SWIFT in the environment
#        Tests/Fuzz/run.sh SCRATCH-PATH corpus      takes what runs have found so far into Tests/Fuzz/Corpus
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/temporary.sh
scratch="$1"
mode="$2"
targets=(rows keybag exports queries)
# A crash would wait for Swift's backtrace program; secrets that live as long as the process are no leaks.
export WHORL_FUZZ=1 SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
# Inputs of the kind that the corpus has; the limits turn a hang or a flood of memory into a failure.
limits=(-max_len=4096 -timeout=10 -rss_limit_mb=2048)

"${SWIFT:-swift}" build -c release --scratch-path "$scratch" -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer,address
bin="$(cd "$scratch/release" && pwd)"
found="$scratch/found" # What a run finds is for the next one here, and not for the repository by itself.
failures="$PWD/build/fuzz"
mkdir -p "$failures"

run() { # TARGET: its report goes to standard output as a whole
  local name="fuzz-$1" log="$failures/$1.log"
  mkdir -p "$found/$1"
  if timeout -k 5 $((mode + 120)) "$bin/$name" "${limits[@]}" "-max_total_time=$mode" -print_final_stats=1 \
    "-artifact_prefix=$failures/$1-" "$found/$1" "Tests/Fuzz/Corpus/$1" > "$log" 2>&1; then
    local coverage
    coverage="$(sed -nE 's/.*DONE +(cov: [0-9]+ ft: [0-9]+ corp: [0-9]+).*/\1/p' "$log")"
    echo "fuzz: $1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs, $coverage"
    return 0
  fi
  local report
  report="$(grep -vE '^#[0-9]+[[:space:]]|^"|^#####' "$log" | tail -60)"
  echo "$report
fuzz: $1 FAILED; the whole log is $log
fuzz: its input is kept; run it again with: make fuzz-one TARGET=$1 INPUT=$(ls -t "$failures/$1"-* 2>/dev/null | head -1)"
  return 1
}

if [ "$mode" = corpus ]; then
  for name in "${targets[@]}"; do
    seeds="$(mktemp -d)"
    "$bin/fuzz-$name" "-seeds=$seeds"
    mkdir -p "$found/$name" "Tests/Fuzz/Corpus/$name"
    mv "Tests/Fuzz/Corpus/$name" "$seeds/old"
    mkdir "Tests/Fuzz/Corpus/$name"
    # By places reached, and not by how often; it takes what reaches the most first, so that the last ones are let go.
    "$bin/fuzz-$name" "${limits[@]}" -set_cover_merge=1 -use_counters=0 "Tests/Fuzz/Corpus/$name" \
      "$seeds" "$seeds/old" "$found/$name" 2>&1 | tail -1
    rm -rf "$seeds"
    (cd "Tests/Fuzz/Corpus/$name" && ls -tr | tail -n +51 | xargs -r rm --)
    echo "fuzz: $name: $(ls "Tests/Fuzz/Corpus/$name" | wc -l) files"
  done
  exit
fi

status=0
for ((i = 0; i < ${#targets[@]}; i += 2)); do
  run "${targets[i]}" & first=$!
  run "${targets[i + 1]}" & second=$!
  wait "$first" || status=1
  wait "$second" || status=1
done
exit "$status"
