#!/bin/sh
# Installs the Debian packages that are missing: "build" for make, "test" also for make demo and make test.
set -eu
build="make pkg-config gcc libc6-dev libfprint-2-dev libpam0g-dev libglib2.0-dev libsodium-dev libsqlite3-dev libssl-dev libsystemd-dev
  libseccomp-dev systemd gettext"
tests="dbus dbus-daemon udev fprintd libpam-fprintd pamtester libpam-wrapper libnss-wrapper umockdev python3 python3-dbus python3-gi
  python3-dbusmock python3-cairo clang-tidy swtpm tpm2-tools man-db util-linux binutils openssl
  gnome-keyring libpam-gnome-keyring sudo login polkitd pkexec valgrind git"
wanted=""
for group in "$@"; do
  case "$group" in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $tests" ;;
    *) echo "packages.sh: unknown group $group; build or test" >&2; exit 2 ;;
  esac
done
missing=""
for package in $wanted; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing Debian packages:$missing"
root=""
[ "$(id -u)" = 0 ] || root="sudo"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$root apt-get update -q >/dev/null
# shellcheck disable=SC2086
$root apt-get install -y -q --no-install-recommends $missing >/dev/null
