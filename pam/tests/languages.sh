#!/bin/sh
# Run in a mount namespace of its own: COMMAND with FOLDER/locale in the place of /usr/share/locale and with an /etc that
# says of locales what FOLDER/etc does, and nothing else. /run/host is pam_host, /run/set-user-id-host that for root.
# usage: languages.sh FOLDER COMMAND...
set -eu
folder=$1
shift
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/dbus /run/etc
: > /run/dbus/system_bus_socket
mount --bind "$folder/bus" /run/dbus/system_bus_socket
cp -a /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.cache /etc/pam.d /run/etc/
if [ -d "$folder/etc" ]; then cp -a "$folder/etc/." /run/etc/; fi
install -m 755 "$folder/pam_host" /run/host
install -m 4755 "$folder/pam_host" /run/set-user-id-host
mount --bind /run/etc /etc
mount --bind "$folder/locale" /usr/share/locale
exec "$@"
