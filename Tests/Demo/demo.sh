#!/usr/bin/env bash
# The main job, told as a short story: enrol a finger, store a secret behind it, refuse a wrong finger, let the right
# one in, and pass a PAM stack with it. Everything lives in one private folder with a bus of its own; nothing of the
# machine's is read or changed. READER=real uses the machine's reader and your finger instead of a virtual one.
set -euo pipefail
cd "$(dirname "$0")/../.."
programs="$PWD/build/bin"
module="$PWD/build/pam_whorl.so"
right=left-loop
wrong=whorl

. Tests/private-world.sh

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

expect() { # WANTED-STATUS GOT-STATUS WHAT
  [ "$1" = "$2" ] || fail "$3 ended with status $2 instead of $1"
}

say "1. Enrol a finger (six touches, then one to confirm)"
: > "$folder/lines"
status=0
# Without a terminal, so that nobody is asked for a password of the machine's.
touching "$right" setsid -w "$programs/whorl" enroll right-index-finger || status=$?
expect 0 "$status" "whorl enroll"
for stage in 1 2 3 4 5; do
  [ "$reader" = real ] || grep -q "stage $stage of" "$folder/lines" || fail "no progress line for stage $stage"
done

say "2. Let it open secrets, with the passcode (a made-up one of this folder's)"
status=0
adopt || status=$?
sed 's/^/  /' "$folder/adopted"
expect 0 "$status" "whorl adopt"

say "3. Store a secret behind it"
printf 'correct horse battery staple' | "$programs/whorl" set demo --require any || fail "whorl set"
"$programs/whorl" list | sed 's/^/  /'

say "4. A wrong finger"
: > "$folder/lines"
status=0
touching "$wrong" "$programs/whorl" get demo || status=$?
expect 4 "$status" "whorl get with a wrong finger"
! grep -q "correct horse" "$folder/lines" || fail "the wrong finger got the secret"
echo "  refused, as it should be"

say "5. The right finger"
: > "$folder/lines"
status=0
touching "$right" "$programs/whorl" get demo || status=$?
expect 0 "$status" "whorl get with the right finger"
grep -q "correct horse battery staple" "$folder/lines" || fail "the right finger did not get the secret"

say "6. The same finger passes a PAM stack (pamtester through $(basename "$module"))"
cat > "$folder/pam.d/whorl-demo" <<PAM
auth sufficient $module timeout=20 max-tries=1
auth required pam_deny.so
account required pam_permit.so
PAM
echo "auth required pam_deny.so" > "$folder/pam.d/other"
pam() {
  env -i PATH=/usr/bin:/bin DBUS_SYSTEM_BUS_ADDRESS="$DBUS_SYSTEM_BUS_ADDRESS" LD_PRELOAD=libpam_wrapper.so PAM_WRAPPER=1 \
    PAM_WRAPPER_SERVICE_DIR="$folder/pam.d" stdbuf -oL pamtester whorl-demo "$(id -un)" authenticate
}
status=0
touching "$wrong" pam || status=$?
[ "$status" -ne 0 ] || fail "the wrong finger passed the PAM stack"
echo "  the wrong finger does not pass"
status=0
touching "$right" pam || status=$?
expect 0 "$status" "pamtester with the right finger"
echo "  the right finger passes"

say "Done: every step did what this story says."
