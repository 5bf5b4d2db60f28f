#!/bin/sh
# What Debian's own pam-auth-update makes of our profiles, without a change to this machine: in a mount namespace of
# its own, on copies of every folder that it writes to.
# usage: auth_update.sh OUT PROFILE...     leaves OUT/before, OUT/with and OUT/after, the three states of /etc/pam.d
set -eu
if [ "${WHORL_IN_NAMESPACE-}" != 1 ]; then
  WHORL_IN_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
fi
out=$1
shift
names=
for profile; do names="$names ${profile##*/}"; done
for folder in /etc/pam.d /var/lib/pam /usr/share/pam-configs /var/cache/debconf; do
  copy="$out/copies$folder"
  mkdir -p "$(dirname "$copy")"
  if [ -d "$folder" ]; then cp -a "$folder" "$copy"; else mkdir -p "$copy"; fi
  mount --bind "$copy" "$folder"
done
export DEBIAN_FRONTEND=noninteractive
# From the plain password stack on, whatever this machine has enabled; the text that says "local changes" is gone too.
pam-auth-update --package --force --remove fprintd whorl whorl-login
cp -a /etc/pam.d "$out/before"
cp "$@" /usr/share/pam-configs/
# Names of profiles have no spaces.
# shellcheck disable=SC2086
pam-auth-update --package --force --enable $names
cp -a /etc/pam.d "$out/with"
# shellcheck disable=SC2086
pam-auth-update --package --force --remove $names
cp -a /etc/pam.d "$out/after"
