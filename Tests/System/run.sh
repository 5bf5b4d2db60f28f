#!/bin/sh
# The PAM module in real programs (sudo, su, login, polkit's helper, ssh, lockers and others), in a mount namespace of their own.
# Nothing of the machine's is touched. Needs root and namespaces; without them it says so and ends well.
#
# usage: Tests/System/run.sh MODULE PROGRAMS [NAME...]
#   MODULE    pam_whorl.so
#   PROGRAMS  the folder of whorld, whorl-reader, whorl and whorl-passcode
#   NAME      only the tests whose names contain it; --bench: no tests, but how long refusals take
set -eu
tools=$(dirname "$(readlink -f "$0")")
module=$(readlink -f "$1")
programs=$(readlink -f "$2")
shift 2
if [ "$(id -u)" != 0 ]; then
  echo "Tests/System: skipped, which needs root"
  exit 0
fi
if ! unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
  echo "Tests/System: skipped, which needs mount and pid namespaces"
  exit 0
fi
# Programs that this machine does not have; without them their tests are skipped.
more=$(dirname "$(dirname "$tools")")/build/system-programs
"$tools/programs.sh" "$more"
# With a pid namespace whatever a test leaves behind ends with it. The first process there is a shell's, for pkexec serves
# no children of the first.
exec unshare --mount --propagation private --pid --fork --mount-proc \
  /bin/sh -c '/usr/bin/python3 "$@"; exit $?' sh "$tools/system.py" "$module" "$programs" "$more/root" "$@"
