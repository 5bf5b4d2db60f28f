#!/bin/sh
# Run in a mount namespace of its own. A second bus stands where the system's bus is. Prints what an ordinary and a
# set-user-ID program of nobody's get: with root's daemon on the second bus, which says no, while the ordinary program
# is on the first bus, whose daemon says yes; then with nobody's own daemon on the second bus, which says yes.
# usage: set_user_id.sh FOLDER PAM_HOST     with the first bus in DBUS_SYSTEM_BUS_ADDRESS
set -eu
folder=$1
host=$2
tools=$(dirname "$(readlink -f "$0")")
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/dbus /run/services
sed -e 's|@FOLDER@/bus|/run/dbus/system_bus_socket|; s|@FOLDER@|/run|' "$tools/bus.conf" > /run/bus.conf
mkfifo /run/started
dbus-daemon --config-file=/run/bus.conf --nofork --print-address=3 3>/run/started &
bus=$!
read -r second < /run/started
chmod 777 /run/dbus/system_bus_socket
install -m 4755 "$host" /run/set-user-id-host

# Puts fake_whorl.py with these arguments on the second bus.
start_daemon() {
  rm -f /run/feed /run/ready
  mkfifo /run/feed /run/ready
  DBUS_SYSTEM_BUS_ADDRESS=$second /usr/bin/python3 "$tools/fake_whorl.py" "$@" < /run/feed > /run/ready &
  whorld=$!
  exec 4> /run/feed 5< /run/ready
  read -r line <&5
}
stop_daemon() {
  exec 4>&-
  wait "$whorld"
}
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@" "$folder/pam.d" whorl-test root; }

start_daemon '[["error", "org.whorl.Error.AuthenticationFailed", "no"]]'
echo "root's daemon, ordinary: $(as_nobody "$host")"
echo "root's daemon, set-user-ID: $(as_nobody /run/set-user-id-host)"
stop_daemon
start_daemon --uid 65534 '[["reply", "right-thumb"]]'
echo "nobody's daemon, ordinary: $(DBUS_SYSTEM_BUS_ADDRESS=$second as_nobody "$host")"
echo "nobody's daemon, set-user-ID: $(as_nobody /run/set-user-id-host)"
stop_daemon
kill "$bus"
wait "$bus" || true
