#!/usr/bin/env bash
# Untouched, which is in the project, and of the packages of others those whose clones are in FOLDER.
#
# usage: Tests/Packages/all.sh [FOLDER]      ../shared/packages unless given
set -euo pipefail
cd "$(dirname "$0")/../.."
packages="${1:-../shared/packages}"
status=0
Tests/Packages/run.sh Tests/Packages/Untouched || status=1
# Those with changes have tests that only an Xcode project knows, or that want a finger.
for package in SimpleKeychain BiometricsVault keychain-swift "--changed KeychainAccess" "--changed --touching Valet" \
  "--changed SwiftKeychainWrapper"; do
  name="${package##* }"
  options="${package%"$name"}"
  if [ -e "$packages/$name/Package.swift" ]; then
    # shellcheck disable=SC2086
    Tests/Packages/run.sh $options "$packages/$name" || status=1
  else
    echo "skipped: the package $name is not in $packages"
  fi
done
exit "$status"
