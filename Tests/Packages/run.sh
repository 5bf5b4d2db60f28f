#!/usr/bin/env bash
# Builds a package for Apple's platforms, unmodified, with whorl-toolset.json, and runs its tests against a whorld of their
# own on a virtual reader. Such packages are not part of the project, so CI does not do this: fetch one and name its folder.
# Packages that it depends on may lie beside it, as clones; nothing is fetched then.
#
# usage: Tests/Packages/run.sh [--changed] [--touching] FOLDER [ARGUMENT OF SWIFT TEST]...        after make
# --changed: with the changes of Tests/Packages/changes, for packages that do not compile on Linux as they are, or whose
# tests only an Xcode project knows.
# --touching: runs its XCTests on a terminal, and gives the enrolled finger or the passcode whenever somebody
# is asked for it there.
# Of the package BiometricsVault a program goes the whole diagram, too.
set -euo pipefail
cd "$(dirname "$0")/../.."
changed="" bundle=""
touching=""
[ "${1:-}" != --changed ] || { changed=1; shift; }
[ "${1:-}" != --touching ] || { touching=1; shift; }
[ $# -ge 1 ] && [ -e "$1/Package.swift" ] || { sed -n '/^# usage/,/^# Of/s/^# //p' "$0" >&2; exit 2; }
package="$(cd "$1" && pwd)"
shift
programs="$PWD/build/bin"
toolset="$PWD/build/toolset/whorl-toolset.json"
[ -e "$toolset" ] || { echo "$0: run make toolset first" >&2; exit 2; }
name="$(basename "$package")"
scratch="$PWD/build/packages/$name"
swift="${SWIFT:-swift}"
right=left-loop
. Tests/private-world.sh

# A copy, for SwiftPM writes into the folder of a package; the dependencies are taken from beside it.
mkdir -p "$scratch" "$folder/swiftpm"
# In a folder of its name: that is what a package is known by.
rm -rf "$scratch/source"
source="$scratch/source/$name"
mkdir -p "$source"
tar -C "$package" --exclude=.build --exclude=Package.resolved -c . | tar -C "$source" -x
if [ -n "$changed" ]; then
  change="$PWD/Tests/Packages/changes/$name.sh"
  echo "$name: with these changes"
  sed 's/^/  /' "$change"
  bundle="$(sed -n 's/^# bundle: //p' "$change")"
  (cd "$source" && bash -euo pipefail "$change")
fi
"$swift" package --package-path "$source" dump-package | /usr/bin/python3 -c '
import json, os, sys
folder, mirrors = sys.argv[1], []
for dependency in json.load(sys.stdin)["dependencies"]:
    for one in dependency.get("sourceControl", []):
        for remote in one["location"].get("remote", []):
            url = remote["urlString"] if isinstance(remote, dict) else remote
            beside = os.path.join(folder, os.path.basename(url).removesuffix(".git"))
            if os.path.isdir(beside):
                mirrors.append({"original": url, "mirror": "file://" + beside})
json.dump({"object": mirrors, "version": 1}, sys.stdout)' "$(dirname "$package")" > "$folder/swiftpm/mirrors.json"
# SwiftPM does not look at what a toolset names: with other modules everything is built anew.
if [ ! "$scratch/toolset" -nt "$toolset" ]; then
  rm -rf "$scratch/build" "$scratch/walk"
  touch "$scratch/toolset"
fi
options=(--config-path "$folder/swiftpm" --toolset "$toolset")

"$swift" build --package-path "$source" --scratch-path "$scratch/build" "${options[@]}" --build-tests

echo "$name: enrolling a finger"
touching "$right" setsid -w "$programs/whorl" enroll right-index-finger > /dev/null
adopt

export SWIFT_BACKTRACE=enable=no
# What an app has in its bundle. Many wrappers name their service after it.
information() { # FOLDER
  printf '<plist version="1.0"><dict><key>CFBundleIdentifier</key><string>%s</string></dict></plist>\n' \
    "${bundle:-org.example.$name}" > "$1/Info.plist"
}
information "$scratch/build/debug"
export WHORL_AGENT_PROGRAM="$programs/whorl" press="$programs/press-finger $folder/finger $right"
status=0
if [ -n "$touching" ]; then
  # SwiftPM gives its child no terminal.
  Tests/on-terminal.py --run "Touch the fingerprint reader" "$press" --type "Your login password: " "$passcode" -- \
    "$(find "$scratch/build/debug/" -maxdepth 1 -name '*.xctest' -print -quit)" "$@" 2>&1 | tee "$scratch/log" || status=$?
elif [ -n "$(find "$scratch/build/debug/" -maxdepth 1 -name '*.xctest' -print -quit)" ]; then
  "$swift" test --package-path "$source" --scratch-path "$scratch/build" "${options[@]}" \
    --skip-build "$@" 2>&1 | tee "$scratch/log" || status=$?
fi

# What is known to fail is no news; anything else is.
failing() { sed -nE "s/^Test Case '([^']*)' failed.*/\1/p" "$scratch/log" | sort -u; }
if [ -n "$changed" ] && [ "$status" != 0 ]; then
  if diff <(sed -n 's/^# fails: //p' "$change" | sort -u) <(failing); then
    echo "$name: only what is known to fail does"
    status=0
  fi
fi

if [ "$name" = BiometricsVault ]; then
  export BIOMETRICS_VAULT="$source"
  "$swift" build --package-path Tests/Packages/VaultWalk --scratch-path "$scratch/walk" "${options[@]}"
  information "$scratch/walk/debug"
  Tests/on-terminal.py --run "Touch the fingerprint reader" "$press" -- "$scratch/walk/debug/VaultWalk" || status=$?
fi
exit "$status"
