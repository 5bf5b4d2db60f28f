#!/bin/sh
# What Debian's own pam-auth-update makes of our profile, without a change to this machine: in a mount namespace of
# its own, on copies of every folder that it writes to.
# usage: auth_update.sh PROFILE OUT     leaves OUT/before, OUT/with and OUT/after, the three states of /etc/pam.d
set -eu
if [ "${WHORL_IN_NAMESPACE-}" != 1 ]; then
  WHORL_IN_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
fi
profile=$1
out=$2
for folder in /etc/pam.d /var/lib/pam /usr/share/pam-configs /var/cache/debconf; do
  copy="$out/copies$folder"
  mkdir -p "$(dirname "$copy")"
  if [ -d "$folder" ]; then cp -a "$folder" "$copy"; else mkdir -p "$copy"; fi
  mount --bind "$copy" "$folder"
done
export DEBIAN_FRONTEND=noninteractive
# From the plain password stack on, whatever this machine has enabled; the text that says "local changes" is gone too.
pam-auth-update --package --force --remove fprintd whorl
cp -a /etc/pam.d "$out/before"
cp "$profile" /usr/share/pam-configs/whorl
pam-auth-update --package --force --enable whorl
cp -a /etc/pam.d "$out/with"
pam-auth-update --package --force --remove whorl
cp -a /etc/pam.d "$out/after"
