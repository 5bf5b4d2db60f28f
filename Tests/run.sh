#!/usr/bin/env bash
# Runs every test, in groups: all at once would start a hundred daemons, buses and readers beside each other, and the
# tests would measure the machine.
#
# usage: Tests/run.sh SCRATCH-PATH     with SWIFT in the environment
set -euo pipefail
cd "$(dirname "$0")/.."
scratch="$1"
swift="${SWIFT:-swift}"

. Tests/temporary.sh
"$swift" build --build-tests --scratch-path "$scratch"
log="$(mktemp)"
"$swift" test list --skip-build --scratch-path "$scratch" > "$log"
# TARGET.SUITE/TEST(): one line a test.
mapfile -t tests < <(grep -E '^[A-Za-z]+Tests\.' "$log" | sort -u)
mapfile -t suites < <(printf '%s\n' "${tests[@]}" | grep '^IntegrationTests\.' | cut -d/ -f1 | sort -u)

run=0
failed=0
group() { # FILTER...: one run of what these filters name
  if ! "$swift" test --skip-build --scratch-path "$scratch" "$@" 2>&1 | tee "$log"; then failed=1; fi
  local count
  count="$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$log" | tail -1)"
  run=$((run + ${count:-0}))
}

# Tests that encrypt, stretch, kill and play stacks through without end keep the processor from those that wait for something.
group --filter '^(Keychain|KeychainArchive|KeyPairs|SecretMemory|PAMStacks)Tests\.'
group --filter '^EnclaveTests\.'
group --filter '^ReaderKeeperTests\.'
group --skip '^(Integration|ReaderKeeper|Keychain|KeychainArchive|KeyPairs|SecretMemory|PAMStacks|Enclave)Tests\.'
for ((i = 0; i < ${#suites[@]}; i += 3)); do
  filters=()
  for suite in "${suites[@]:i:3}"; do filters+=(--filter "^${suite//./\\.}/"); done
  group "${filters[@]}"
done

echo "Tests/run.sh: $run of ${#tests[@]} tests were run"
# A test that no group names would be one that is never run.
if ((run != ${#tests[@]})); then
  echo "Tests/run.sh: the groups do not add up; look at the filters" >&2
  exit 1
fi
exit "$failed"
