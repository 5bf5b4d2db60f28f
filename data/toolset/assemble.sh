#!/bin/sh
# Lays out what whorl-toolset.json names: FOLDER/swift with the modules, their C modules and the one library, and
# FOLDER/whorl-toolset.json with the paths as they are there.
#
# usage: data/toolset/assemble.sh RELEASE-FOLDER FOLDER      from the top of the project
set -eu
built="$1"
mkdir -p "$2"
folder="$(cd "$2" && pwd)"
rm -rf "$folder/swift"
mkdir -p "$folder/swift"
for file in "$built"/Modules/*.swiftmodule; do install -m 644 "$file" "$folder/swift/"; done
# Swift reads the C modules that these are over, too.
for name in CGLib CSodium CPosix CCrypto; do
  mkdir "$folder/swift/$name"
  install -m 644 "Sources/$name/module.modulemap" "Sources/$name"/*.h "$folder/swift/$name/"
done
install -s -m 755 "$built/libWhorlToolset.so" "$folder/swift/"
headers="$(pkg-config --cflags-only-I gio-unix-2.0 libsodium libcrypto | tr ' ' '\n' | sort -u | sed -n 's/^\(-I.*\)$/"-Xcc", "\1", /p' | tr -d '\n')"
sed -e "s|@SWIFTDIR@|$folder/swift|g" -e "s|@HEADERS@|$headers|" data/toolset/whorl-toolset.json.in > "$folder/whorl-toolset.json"
