# To be read by scripts that play with whorld: it, a bus, a polkit and a state folder of their own, in one private folder;
# nothing of the machine's is read or changed. Everything that was started ends with the script, told from a failure.
#
# Wanted: the folder `programs` with whorld and the others, from the top of the project. READER=real uses the machine's
# reader.
reader="${READER:-virtual}"

folder="$(mktemp -d "${TMPDIR:-/tmp}/whorl-world.XXXXXX")"
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
    echo "$0 FAILED (status $status). whorld's log:"
    sed 's/^/  /' "$folder/whorld.log" 2>/dev/null || true
  fi
  rm -rf "$folder"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() { echo "NOT AS IT SHOULD BE: $*" >&2; exit 1; }

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
# Lets the enrolled finger open secrets, with the passcode. What is shown meanwhile is in $folder/adopted.
adopt() {
  Tests/on-terminal.py --type "secrets: " "$passcode" -- "$programs/whorl" adopt > "$folder/adopted"
}
