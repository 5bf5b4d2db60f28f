#!/usr/bin/env bash
# udev itself on the installed rules, with recorded readers that umockdev stands in for: group and mode of each node,
# and no access for seat users, even where an earlier rule has given it. Changes nothing of the machine's: a mount
# namespace of its own. Argument: the folder that was installed into.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "$(id -u)" != 0 ]; then echo "skipped: a mount namespace needs root"; exit 0; fi
recordings=""
for folder in ../shared/recordings shared/recordings; do [ -d "$folder" ] && recordings="$folder"; done
if [ -z "$recordings" ]; then echo "skipped: shared/recordings is not here"; exit 0; fi
if [ -z "${INSIDE:-}" ]; then exec env INSIDE=1 unshare --mount --propagation private "$0" "$1"; fi

here="$(mktemp -d "${TMPDIR:-/tmp}/whorl-udev.XXXXXX")"
trap 'rm -rf "$here"' EXIT
{ grep -v '^whorl-reader:' /etc/group; echo "whorl-reader:x:60988:"; } > "$here/group"
mount --bind "$here/group" /etc/group
mount -t tmpfs tmpfs /run
mkdir -p /run/udev/rules.d
cp "$1/usr/lib/udev/rules.d/70-whorl.rules" /run/udev/rules.d/
# What some other package's rule might do.
echo 'SUBSYSTEM=="usb|spidev|hidraw", MODE="0666", TAG+="uaccess"' > /run/udev/rules.d/60-generous.rules

status=0
look() { # RECORDING NODE-PATTERN WANTED
  local devices=() file path out=""
  for file in "$recordings/$1"/device*; do devices+=(-d "$file"); done
  path="$(sed -n 's/^P: //p' "$recordings/$1"/device* | grep -E "$2" | awk '{ print length, $0 }' | sort -rn | head -1 | cut -d' ' -f2-)"
  out="$(umockdev-run "${devices[@]}" -- udevadm test "/sys$path" 2>&1)"
  if [ "$3" = given ]; then
    grep -q '70-whorl.rules:[0-9]* GROUP 60988' <<<"$out" && grep -q '70-whorl.rules:[0-9]* MODE 0660' <<<"$out" &&
      ! grep -q "^run: 'uaccess'" <<<"$out" && return
  else
    ! grep -q '70-whorl.rules:[0-9]* ' <<<"$out" && grep -q "^run: 'uaccess'" <<<"$out" && return
  fi
  echo "udev on $1, $path: not $3:"
  grep -E "whorl|generous|^run:" <<<"$out" || true
  status=1
}
for name in aes2501 aes3500 elan-cobo elanmoc nb1010 synaptics upektc_img uru4000-4500 vfs301 vfs5011 vfs7552; do
  look "$name" '/[0-9]+-[0-9.]+$' given
done
look elanspi '/spidev[0-9.]+$' given
look elanspi '/hidraw[0-9]+$' given
# A hub is no reader; this also shows that the generous rule works.
look synaptics '/usb[0-9]+$' untouched
exit "$status"
