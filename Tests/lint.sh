#!/usr/bin/env bash
# What the compiler does not check: formatting, the C shim, man pages, scripts, and the rules of ARCHITECTURE.md that a
# program can see. Each rule is tried on a file that breaks it too, where that is cheap.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
fault() { echo "lint: $*" >&2; status=1; }

swift format lint --strict -r Package.swift Sources Tests Examples || fault "swift format lint (make format mends most)"

for file in pam/*.c; do
  clang-tidy --quiet "$file" -- -std=c17 -D_GNU_SOURCE -Wall -Wextra -ISources/CPAM || fault "clang-tidy on $file"
done

# Every text of the PAM module in every language, with the same words in braces.
/usr/bin/python3 pam/po/texts.py check || fault "the translations in pam/po"

for page in data/man/*.[18]; do
  out="$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)"
  [ -z "$out" ] || fault "$page: $out"
done

# The PAM module's target is Embedded Swift: nothing ordinary may depend on it (FACTS: it crashes at load).
if swift package describe --type json 2>/dev/null | /usr/bin/python3 -c '
import json, sys
package = json.load(sys.stdin)
found = [t["name"] for t in package["targets"] if "PAMModule" in t.get("target_dependencies", [])]
print(*found)
sys.exit(1 if found else 0)'; then :; else fault "a target depends on PAMModule; use PAMModuleHosted"; fi

# Only whorl-reader loads libfprint; the keychain and the fingerprints never meet.
importers() { grep -rlE "^(internal |public |private |package )?import $1\$" Sources Tests --include='*.swift' | sort; }
for file in $(importers CFPrint); do [[ "$file" == Sources/Fingerprint/* ]] || fault "$file imports CFPrint"; done
for file in $(importers Fingerprint); do [[ "$file" == Sources/whorl-reader/* ]] || fault "$file imports Fingerprint"; done
for file in $(importers Keychain); do
  [[ "$file" =~ ^(Sources/Enclave|Sources/WhorlDaemon|Tests)/ ]] || fault "$file imports Keychain"
done
for file in $(importers KeyPairs); do
  [[ "$file" =~ ^(Sources/Enclave|Sources/WhorlDaemon|Sources/Security|Tests)/ ]] || fault "$file imports KeyPairs"
done
for module in CSodium CSQLite CCrypto CPAM CSystemd CSeccomp ReaderSandbox; do
  for file in $(importers $module); do
    case "$module:$file" in
      CSodium:Sources/SecretMemory/* | CSodium:Sources/Keychain/* | CSodium:Sources/KeychainArchive/* | CSQLite:Sources/Keychain/* | *:Tests/*) ;;
      CSodium:Sources/KeyPairs/* | CCrypto:Sources/KeyPairs/* | CCrypto:Sources/LoginKeyring/*) ;;
      CSeccomp:Sources/ReaderSandbox/* | ReaderSandbox:Sources/whorl-reader/*) ;;
      CPAM:Sources/whorl-passcode/* | CPAM:Sources/PAMModule/* | CSystemd:Sources/PAMModule/*) ;;
      CSystemd:Sources/ReleaseLog/*) ;;
      CPAM:Sources/PAMModuleHosted/* | CSystemd:Sources/PAMModuleHosted/*) ;;
      *) fault "$file imports $module" ;;
    esac
  done
done
if grep -rnE '^(@_exported )?((internal|package|public) )?import Foundation' Sources --include='*.swift' |
  grep -vE '^Sources/(Security|LocalAuthentication|BiometricsVault|WhorlEmbedded|Toolset)/'; then
  fault "Foundation in Sources: the programs do without it (start-up and size)"
fi
# The libraries for Swift apps know the client's side alone, and none of the programs knows them; none brings an enclave
# along that was not chosen.
for module in Enclave WhorlDaemon Fingerprint Keychain CSQLite CFPrint; do
  for file in $(importers $module); do
    [[ ! "$file" =~ ^Sources/(Security|LocalAuthentication|BiometricsVault|WhorlEmbedded)/ ]] || fault "$file imports $module"
  done
done
for file in $(importers WhorlEmbedded); do [[ "$file" == Tests/* ]] || fault "$file imports WhorlEmbedded"; done
for file in $(importers Security); do
  [[ "$file" =~ ^(Sources/LocalAuthentication|Sources/BiometricsVault|Tests)/ ]] || fault "$file imports Security"
done
if grep -rnE 'try!|fatalError\(|preconditionFailure\(' Sources --include='*.swift'; then
  fault "try!, fatalError or preconditionFailure in Sources"
fi

for script in Tests/*.sh Tests/*/*.sh pam/*.sh .ci/run; do
  bash -n "$script" || fault "$script does not parse"
done

# The programs carry no Foundation (it is 60 MB in a static program) and nothing of the tests.
for program in whorl whorld whorl-reader whorl-passcode whorl-embedded; do
  [ -e "build/bin/$program" ] || continue
  found="$(nm "build/bin/$program" 2>/dev/null | grep -cE 'FoundationEssentials|7TestKit' || true)"
  [ "$found" = 0 ] || fault "$program links Foundation or the tests' kit"
done

# The PAM module links nothing that it must not.
if [ -e build/pam_whorl.so ]; then
  needed="$(readelf -d build/pam_whorl.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')"
  for name in $needed; do
    case "$name" in
      libc.so.6 | libpam.so.0 | libsystemd.so.0) ;;
      *) fault "pam_whorl.so needs $name" ;;
    esac
  done
  exported="$(nm -D --defined-only build/pam_whorl.so | awk '{print $3}' | sort | tr '\n' ' ')"
  for name in $exported; do
    case "$name" in
      pam_sm_authenticate* | pam_sm_chauthtok* | pam_sm_setcred* | WHORL*) ;;
      *) fault "pam_whorl.so exports $name" ;;
    esac
  done
fi
exit "$status"
