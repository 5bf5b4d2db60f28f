#!/usr/bin/env bash
# The main job, told as a short story: enrol a finger, store a secret behind it, refuse a wrong finger, let the right
# one in, and pass a PAM stack with it. Everything lives in one private folder with a bus of its own; nothing of the
# machine's is read or changed. READER=real uses the machine's reader and your finger instead of a virtual one.
set -euo pipefail
cd "$(dirname "$0")/../.."
programs="$PWD/build/bin"
module="$PWD/build/pam_whorl.so"
reader="${READER:-virtual}"
right=left-loop
wrong=whorl

folder="$(mktemp -d "${TMPDIR:-/tmp}/whorl-demo.XXXXXX")"
started=()
finish() {
  local status=$?
  trap - EXIT INT TERM
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do
    kill "${started[i]}" 2>/dev/null || true
    wait "${started[i]}" 2>/dev/null || true
  done
  if [ "$status" -ne 0 ]; then
    echo
    echo "The demo FAILED (status $status). whorld's log:"
    sed 's/^/  /' "$folder/whorld.log" 2>/dev/null || true
  fi
  rm -rf "$folder"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() { echo "NOT AS THE STORY SAYS: $*" >&2; exit 1; }

# --- a private bus, a polkit that says yes, a private state folder -------------------------------------------------
mkdir -p "$folder/state" "$folder/pam.d"
chmod 700 "$folder/state"
cat > "$folder/bus.conf" <<CONF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=$folder/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
  </policy>
</busconfig>
CONF
exec {ready}< <(exec dbus-daemon --config-file="$folder/bus.conf" --nofork --print-address=1 --print-pid=1 2>/dev/null)
read -r _ <&"$ready"
read -r bus_pid <&"$ready"
started+=("$bus_pid")
export DBUS_SYSTEM_BUS_ADDRESS="unix:path=$folder/bus"
unset DBUS_STARTER_ADDRESS DBUS_STARTER_BUS_TYPE

# Each background program says by a line or a name on the bus that it is there; nobody sleeps.
wait_for_name() {
  gdbus wait --address "$DBUS_SYSTEM_BUS_ADDRESS" --timeout 20 "$1" || fail "$1 did not come up on the private bus"
}
/usr/bin/python3 Tests/TestKit/Scripts/polkit.py > "$folder/polkit.log" 2>&1 &
started+=("$!")
wait_for_name org.freedesktop.PolicyKit1

environment=(STATE_DIRECTORY="$folder/state" DBUS_SYSTEM_BUS_ADDRESS="$DBUS_SYSTEM_BUS_ADDRESS" PATH=/usr/bin:/bin)
if [ "$reader" = virtual ]; then
  environment+=(FP_VIRTUAL_IMAGE="$folder/finger" FP_DRIVERS_WHITELIST=virtual_image FP_DRIVERS_ALLOWLIST=virtual_image)
fi
env -i "${environment[@]}" "$programs/whorld" > "$folder/whorld.log" 2>&1 &
started+=("$!")
wait_for_name org.whorl

# A passcode that is nobody's but this folder's.
passcode="open sesame"
matrix="$(ls /usr/lib/*/pam_wrapper/pam_matrix.so | head -n 1)"
mkdir -p "$folder/state/.whorl/pam.d"
printf '%s:%s:whorl-passcode\n' "$(id -un)" "$passcode" > "$folder/state/.whorl/passdb"
for type in auth account; do echo "$type required $matrix passdb=$folder/state/.whorl/passdb"; done \
  > "$folder/state/.whorl/pam.d/whorl-passcode"

# --- fingers --------------------------------------------------------------------------------------------------------
press_number=0
press() {
  press_number=$((press_number + 1))
  if [ "$reader" = virtual ]; then
    "$programs/press-finger" "$folder/finger" "$1" "$press_number" || fail "the virtual reader took no finger"
  elif [ "$1" = "$right" ]; then
    echo "      -> press the finger that you enrol"
  else
    echo "      -> press ANOTHER finger"
  fi
}

# Runs a command, shows its lines, and presses FINGER at each line that asks for a touch.
touching() {
  local finger="$1" line status=0
  shift
  coproc run { "$@" 2>&1; }
  local pid=$run_PID out=${run[0]}
  exec {copy}<&"$out"
  while IFS= read -r line <&"$copy" || [ -n "$line" ]; do
    printf '  %s\n' "$line"
    printf '%s\n' "$line" >> "$folder/lines"
    case "$line" in
      *[Tt]ouch* | *[Ss]wipe*) press "$finger" ;;
    esac
  done
  exec {copy}<&-
  wait "$pid" || status=$?
  return "$status"
}
expect() { # WANTED-STATUS GOT-STATUS WHAT
  [ "$1" = "$2" ] || fail "$3 ended with status $2 instead of $1"
}

say "1. Enrol a finger (six touches, then one to confirm)"
: > "$folder/lines"
status=0
# Without a terminal, so that nobody is asked for a password of the machine's.
touching "$right" setsid -w "$programs/whorl" enroll right-index-finger || status=$?
expect 0 "$status" "whorl enroll"
for stage in 1 2 3 4 5; do
  [ "$reader" = real ] || grep -q "stage $stage of" "$folder/lines" || fail "no progress line for stage $stage"
done

say "2. Let it open secrets, with the passcode (a made-up one of this folder's)"
status=0
/usr/bin/python3 - "$passcode" "$programs/whorl" adopt > "$folder/adopted" <<'PY' || status=$?
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown, typed = b"", False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if not typed and shown.endswith(b"secrets: "):
        os.write(terminal, sys.argv[1].encode() + b"\n")
        typed = True
print(shown.decode().replace("\r", ""), end="")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
PY
sed 's/^/  /' "$folder/adopted"
expect 0 "$status" "whorl adopt"

say "3. Store a secret behind it"
printf 'correct horse battery staple' | "$programs/whorl" set demo --require any || fail "whorl set"
"$programs/whorl" list | sed 's/^/  /'

say "4. A wrong finger"
: > "$folder/lines"
status=0
touching "$wrong" "$programs/whorl" get demo || status=$?
expect 4 "$status" "whorl get with a wrong finger"
! grep -q "correct horse" "$folder/lines" || fail "the wrong finger got the secret"
echo "  refused, as it should be"

say "5. The right finger"
: > "$folder/lines"
status=0
touching "$right" "$programs/whorl" get demo || status=$?
expect 0 "$status" "whorl get with the right finger"
grep -q "correct horse battery staple" "$folder/lines" || fail "the right finger did not get the secret"

say "6. The same finger passes a PAM stack (pamtester through $(basename "$module"))"
cat > "$folder/pam.d/whorl-demo" <<PAM
auth sufficient $module timeout=20 max-tries=1
auth required pam_deny.so
account required pam_permit.so
PAM
echo "auth required pam_deny.so" > "$folder/pam.d/other"
pam() {
  env -i PATH=/usr/bin:/bin DBUS_SYSTEM_BUS_ADDRESS="$DBUS_SYSTEM_BUS_ADDRESS" LD_PRELOAD=libpam_wrapper.so PAM_WRAPPER=1 \
    PAM_WRAPPER_SERVICE_DIR="$folder/pam.d" stdbuf -oL pamtester whorl-demo "$(id -un)" authenticate
}
status=0
touching "$wrong" pam || status=$?
[ "$status" -ne 0 ] || fail "the wrong finger passed the PAM stack"
echo "  the wrong finger does not pass"
status=0
touching "$right" pam || status=$?
expect 0 "$status" "pamtester with the right finger"
echo "  the right finger passes"

say "Done: every step did what this story says."
