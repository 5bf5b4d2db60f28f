#!/bin/sh
# Fetches programs that the tests here try, beside those of Tests/packages.sh, from the machine's own Debian: unpacked into a
# folder that the tests lay over /usr in their namespace. Nothing is installed, for whoever runs the tests wants no ssh
# server and no other set-user-ID program. What cannot be had is left out; the tests name what they skip.
#
# usage: Tests/System/programs.sh FOLDER
set -eu
folder=$1
packages="opendoas sudo-rs openssh-server openssh-client i3lock xvfb libxtst6 greetd"
# What was fetched, or tried, before. Delete the folder to try again.
if [ "$(cat "$folder/packages" 2>/dev/null)" = "$packages" ] || [ "$(id -u)" != 0 ]; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder/archives/partial" "$folder/root/usr/lib"
# Some of them are set-user-ID.
chmod 700 "$folder"
# apt's lists are the machine's, and read anew only where they know too little.
fetch() {
  apt-get install --download-only -y -q --no-install-recommends -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
    -o "Dir::Cache::archives=$(readlink -f "$folder")/archives" "$1" >/dev/null 2>&1
}
missing=""
again=""
for package in $packages; do fetch "$package" || missing="$missing $package"; done
if [ -n "$missing" ]; then
  apt-get update -q >/dev/null 2>&1 || true
  for package in $missing; do
    if fetch "$package"; then continue; fi
    echo "Tests/System: Debian's $package cannot be had here"
    # One that Debian has is looked for again the next time.
    if apt-cache show "$package" >/dev/null 2>&1; then again=yes; fi
  done
fi
for archive in "$folder"/archives/*.deb; do
  [ ! -e "$archive" ] || dpkg-deb -x "$archive" "$folder/root"
done
# Where /lib is /usr/lib.
for part in lib bin sbin; do
  if [ -d "$folder/root/$part" ]; then
    mkdir -p "$folder/root/usr/$part"
    cp -a "$folder/root/$part/." "$folder/root/usr/$part/"
  fi
done
rm -rf "$folder/archives"
[ -n "$again" ] || echo "$packages" > "$folder/packages"
