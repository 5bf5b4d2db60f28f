#!/bin/sh
# Run in a mount namespace of its own. A second bus with a daemon that says no stands where the system's bus is; the
# one in DBUS_SYSTEM_BUS_ADDRESS says yes. Prints what an ordinary and a set-user-ID program get.
# usage: set_user_id.sh FOLDER PAM_HOST
set -eu
folder=$1
host=$2
tools=$(dirname "$(readlink -f "$0")")
mount -t tmpfs tmpfs /run
mkdir -p /run/dbus /run/services
sed -e 's|@FOLDER@/bus|/run/dbus/system_bus_socket|; s|@FOLDER@|/run|' "$tools/bus.conf" > /run/bus.conf
mkfifo /run/started
dbus-daemon --config-file=/run/bus.conf --nofork --print-address=3 3>/run/started &
bus=$!
read -r address < /run/started
chmod 777 /run/dbus/system_bus_socket
mkfifo /run/feed /run/ready
DBUS_SYSTEM_BUS_ADDRESS=$address "$tools/fake_whorl.py" '[["error", "org.whorl.Error.AuthenticationFailed", "no"]]' \
  < /run/feed > /run/ready &
whorld=$!
exec 4> /run/feed 5< /run/ready
read -r line <&5
install -m 4755 "$host" /run/set-user-id-host
as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
echo "ordinary: $($as_nobody "$host" "$folder/pam.d" whorl-test root)"
echo "set-user-ID: $($as_nobody /run/set-user-id-host "$folder/pam.d" whorl-test root)"
exec 4>&-
wait "$whorld"
kill "$bus"
wait "$bus" || true
