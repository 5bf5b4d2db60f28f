#!/usr/bin/env bash
# make install and make uninstall into a folder of its own: everything lands where the system looks, uninstall leaves
# nothing behind and takes its lines out of the PAM stacks first, without changing what the others decide.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/temporary.sh
root="$(mktemp -d)"
passed=0
failed=0
check() { # NAME COMMAND...
  local name="$1"
  shift
  if "$@" >"$root/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name" >&2
    sed 's/^/    /' "$root/log" >&2
  fi
}

stacks="$root/d/etc/pam.d"
mkdir -p "$stacks"
cat > "$stacks/common-auth" <<'STACK'
# a comment that names pam_whorl.so stays
auth	[success=3 default=ignore]	pam_a.so
auth	[success=2 default=ignore]	pam_whorl.so timeout=10
auth	[success=1 default=ignore]	pam_unix.so nullok
auth	requisite			pam_deny.so
auth	required			pam_permit.so
STACK
cat > "$stacks/common-auth.wanted" <<'STACK'
# a comment that names pam_whorl.so stays
auth	[success=2 default=ignore]	pam_a.so
auth	[success=1 default=ignore]	pam_unix.so nullok
auth	requisite			pam_deny.so
auth	required			pam_permit.so
STACK
mv "$stacks/common-auth.wanted" "$root/common-auth.wanted"
printf 'auth sufficient pam_whorl.so\nauth required pam_deny.so\n' > "$stacks/sudo"
printf 'auth required pam_deny.so\n' > "$root/sudo.wanted"
printf 'auth [success=2 default=ignore] pam_a.so\n@include common-auth\nauth required pam_whorl.so\n' > "$stacks/odd"
cp "$stacks/odd" "$root/odd.wanted"
printf '#%%PAM-1.0\nauth required pam_unix.so\n' > "$stacks/other"
cp "$stacks/other" "$root/other.wanted"

check "make install" make --no-print-directory install DESTDIR="$root/d" PREFIX=/usr/local
multiarch="$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)"
for file in usr/local/bin/whorl usr/local/libexec/whorl/whorld usr/local/libexec/whorl/whorl-reader \
  usr/local/libexec/whorl/whorl-passcode usr/local/libexec/whorl/whorl-embedded "usr/lib/$multiarch/security/pam_whorl.so" \
  usr/share/dbus-1/system.d/org.whorl.conf usr/local/share/dbus-1/system-services/org.whorl.service \
  usr/local/share/dbus-1/system-services/net.reactivated.Fprint.service usr/share/polkit-1/actions/org.whorl.policy \
  usr/local/lib/systemd/system/whorld.service usr/lib/sysusers.d/whorl.conf usr/lib/udev/rules.d/70-whorl.rules \
  usr/local/lib/systemd/user/whorl-agent.service etc/xdg/autostart/whorl-agent.desktop \
  usr/local/lib/systemd/user/graphical-session.target.wants/whorl-agent.service usr/share/pam-configs/whorl usr/share/pam-configs/whorl-login \
  etc/pam.d/whorl-passcode usr/share/locale/{de,es,fr,ja,zh_CN}/LC_MESSAGES/whorl.mo \
  usr/local/share/whorl/whorl-toolset.json usr/local/lib/whorl/swift/libWhorlToolset.so \
  usr/local/lib/whorl/swift/Security.swiftmodule usr/local/lib/whorl/swift/LocalAuthentication.swiftmodule \
  usr/local/lib/whorl/swift/Combine.swiftmodule usr/local/lib/whorl/swift/SwiftUI.swiftmodule \
  usr/local/lib/whorl/swift/CGLib/module.modulemap \
  usr/local/share/man/man1/whorl.1 usr/local/share/man/man8/whorld.8 usr/local/share/man/man8/pam_whorl.8; do
  check "$file is installed" test -s "$root/d/$file"
done
check "the module looks for its translations where they are" grep -qa /usr/share/locale "$root/d/usr/lib/$multiarch/security/pam_whorl.so"
check "no placeholder is left" bash -c "! grep -rqE '@(LIBEXECDIR|BINDIR)@' '$root/d/usr' '$root/d/etc'"
for file in usr/local/lib/systemd/user/whorl-agent.service etc/xdg/autostart/whorl-agent.desktop; do
  check "$file starts the installed program" grep -qE '^Exec(Start)?=/usr/local/bin/whorl agent$' "$root/d/$file"
done
check "the toolset names the folder of its modules, and no other of ours" bash -c "
  /usr/bin/python3 -m json.tool '$root/d/usr/local/share/whorl/whorl-toolset.json' &&
  grep -q '\"-I/usr/local/lib/whorl/swift\"' '$root/d/usr/local/share/whorl/whorl-toolset.json' &&
  ! grep -qF '$PWD' '$root/d/usr/local/share/whorl/whorl-toolset.json'"
check "the toolset has no BiometricsVault: that is what the package of that name is" \
  test ! -e "$root/d/usr/local/lib/whorl/swift/BiometricsVault.swiftmodule"
check "the services start the installed daemon" grep -q '^Exec=/usr/local/libexec/whorl/whorld$' \
  "$root/d/usr/local/share/dbus-1/system-services/org.whorl.service"
check "sysusers makes the account of the bridge, which nobody can log in to" bash -c "
  mkdir -p '$root/s/etc' && systemd-sysusers --root='$root/s' '$root/d/usr/lib/sysusers.d/whorl.conf' &&
  grep -qE '^whorl-reader:x:[1-9][0-9]*:[1-9][0-9]*:[^:]*:/:/usr/sbin/nologin\$' '$root/s/etc/passwd' &&
  grep -q '^whorl-reader:x:' '$root/s/etc/group'"
sed 's|^ExecStart=.*|ExecStart=/usr/bin/true|; s|^Documentation=.*||' \
  "$root/d/usr/local/lib/systemd/system/whorld.service" > "$root/whorld.service"
check "systemd understands every line of the unit" bash -c "
  systemd-analyze verify '$root/whorld.service' 2>&1 | tee '$root/verify' && [ ! -s '$root/verify' ]"
sed 's|^ExecStart=.*|ExecStart=/usr/bin/true|; s|^Documentation=.*||' \
  "$root/d/usr/local/lib/systemd/user/whorl-agent.service" > "$root/whorl-agent.service"
check "systemd understands every line of the agent's unit" bash -c "
  XDG_RUNTIME_DIR='$root' systemd-analyze --user verify '$root/whorl-agent.service' 2>&1 | tee '$root/verify' && [ ! -s '$root/verify' ]"
# 0.1 of it is for homes that can be looked at, to see which are closed.
check "systemd's figure for the unit is at most 2.1" \
  systemd-analyze security --offline=yes --threshold=21 --no-pager "$root/whorld.service"
check "the udev rules are what the installed libfprint needs (if not: udev/make-rules.py > udev/70-whorl.rules)" \
  bash -c "/usr/bin/python3 udev/make-rules.py | diff - '$root/d/usr/lib/udev/rules.d/70-whorl.rules'"
check "udev gives the readers to the bridge's group and to nobody else" Tests/Packaging/udev.sh "$root/d"
check "the installed program runs" "$root/d/usr/local/bin/whorl" --version
find "$root/d" -type f | sort > "$root/installed"

# Uninstall must name the file it cannot mend, and mend the others.
check "make uninstall stops at a stack that it cannot tell" \
  bash -c "! make --no-print-directory uninstall DESTDIR='$root/d' PREFIX=/usr/local 2>'$root/err'"
check "it names the stack" grep -q 'pam.d/odd' "$root/err"
check "that stack is as it was" cmp "$stacks/odd" "$root/odd.wanted"
check "nothing is removed while a stack still needs the module" test -e "$root/d/usr/lib/$multiarch/security/pam_whorl.so"
rm "$stacks/odd"
check "make uninstall" make --no-print-directory uninstall DESTDIR="$root/d" PREFIX=/usr/local
for name in common-auth sudo other; do check "$name lost only Whorl's line" cmp "$stacks/$name" "$root/$name.wanted"; done
check "no file is left" bash -c "[ \$(find '$root/d' -type f -o -type l | grep -v '/etc/pam.d/' | wc -l) = 0 ]"
check "no file of Whorl's own is left in pam.d" bash -c "! ls -A '$stacks' | grep -q whorl"

echo "packaging: $passed passed, $failed failed"
[ "$failed" = 0 ]
