#!/usr/bin/env bash
# Builds the package Examples as an app's own package would be, over this one, and does on a terminal what a person would,
# with a whorld of its own on a virtual reader.
#
# usage: Tests/Examples/run.sh SCRATCH-PATH     with SWIFT in the environment, after make
# In the scratch folder of this package what both packages have is not built twice.
set -euo pipefail
cd "$(dirname "$0")/../.."
programs="$PWD/build/bin"
scratch="$1"
right=left-loop
"${SWIFT:-swift}" build --package-path Examples --scratch-path "$scratch"
scratch="$(cd "$scratch" && pwd)"

# The documentation's sample is the example's.
/usr/bin/python3 - <<'PY'
import textwrap
page = open("Sources/Security/Security.docc/PasswordBehindAFinger.md").read()
sample = textwrap.indent(page.split("```swift\n")[1].split("```")[0], "  ").rstrip()
if sample not in open("Examples/TouchIDKeychain/TouchIDKeychain.swift").read():
    raise SystemExit("PasswordBehindAFinger.md has another sample than Examples/TouchIDKeychain")
PY
. Tests/private-world.sh

# By URL, with a version: SwiftPM plans the whole, for every product, and builds the least of it. (Unsafe flags it refuses
# in packages with older tools only.)
mkdir -p "$folder/clone" "$folder/app/Sources/App"
tar --exclude=./.build --exclude=./build --exclude=./.git -c . | tar -x -C "$folder/clone"
git="git -C $folder/clone -c user.name=test -c user.email=test@example.org -c commit.gpgsign=false"
$git init -q && $git add -A && $git commit -qm test && $git tag 1.0.0
echo 'print("app")' > "$folder/app/Sources/App/main.swift"
cat > "$folder/app/Package.swift" <<MANIFEST
// swift-tools-version: 6.0
import PackageDescription
let package = Package(
  name: "App",
  dependencies: [.package(url: "file://$folder/clone", from: "1.0.0")],
  targets: [
    .executableTarget(
      name: "App",
      dependencies: ["Security", "LocalAuthentication", "BiometricsVault", "WhorlClient", "WhorlEmbedded", "Fingerprint"]
        .map { .product(name: \$0, package: "clone") })
  ])
MANIFEST
"${SWIFT:-swift}" build --package-path "$folder/app" --disable-dependency-cache --target SecretMemory > "$folder/built" 2>&1 ||
  { cat "$folder/built" >&2; fail "the package cannot be used by URL"; }
! grep -q 'unsafeFlags' Package.swift || fail "the manifest has unsafe flags"
# On Apple's platforms: at least what the manifest says there is read.
sed 's/^#if !os(Linux)$/#if os(Linux)/' Package.swift > "$folder/Package.swift"
grep -q '^#if os(Linux)$' "$folder/Package.swift" || fail "the manifest has no part for Apple's platforms"
"${SWIFT:-swift}" package --package-path "$folder" dump-package > "$folder/apple.json" || fail "the manifest for Apple's platforms"
touching "$right" setsid -w "$programs/whorl" enroll right-index-finger > "$folder/enrolled" || fail "whorl enroll"
adopt || fail "whorl adopt"
/usr/bin/python3 Tests/Examples/examples.py "$scratch/debug" "$programs" "$folder/finger" "$passcode" "$folder/state"
