import Glibc
import TestKit
import Testing

/// whorld on a system's bus and state in a mount namespace: its bridge has a user of its own, or there is none.
@Suite(.timeLimit(.minutes(3)), .enabled(if: geteuid() == 0, "a mount namespace needs root")) struct SandboxTests {
  @Test func `Without its account there is no bridge, and whorl status says what to do`() async throws {
    let result = try await run(account: false)
    #expect(result.text.contains("systemd-sysusers"), "\(result.text)\(result.errorText)")
    #expect(!result.text.contains("bridge:"))
    // The line that the bridge itself wrote is in whorld's log.
    #expect(result.errorText.contains("whorl-reader cannot start: the account whorl-reader is missing"))
  }

  @Test func `On the system the bridge has its own user, and whorld ends it without being that user`() async throws {
    let result = try await run(account: true)
    #expect(result.text.contains("bridge: Uid: 60987 60987 60987 60987"), "\(result.text)\(result.errorText)")
    #expect(result.text.contains("bridge: CapBnd: 0000000000000000"))
    #expect(result.text.contains("bridge: Seccomp: 2"))
    #expect(result.text.contains("ended: yes"), "\(result.text)\(result.errorText)")
    #expect(!result.text.contains("systemd-sysusers"))
  }

  /// whorld has the capabilities that its unit leaves it, and no others.
  private func run(account: Bool) async throws -> RunningProgram.Result {
    let script = """
      set -eu
      mount -t tmpfs tmpfs /run; mkdir -p /run/dbus
      mount -t tmpfs -o mode=755 tmpfs /var/lib
      mkdir -p /var/lib/fprint /var/lib/whorl; chmod 700 /var/lib/whorl
      { grep -v '^whorl-reader:' /etc/passwd; \(account ? "echo whorl-reader:x:60987:60988::/:/usr/sbin/nologin" : "true"); } > /run/passwd
      { grep -v '^whorl-reader:' /etc/group; \(account ? "echo whorl-reader:x:60988:" : "true"); } > /run/group
      mount --bind /run/passwd /etc/passwd; mount --bind /run/group /etc/group
      bus=/run/dbus/system_bus_socket
      printf '<busconfig><type>session</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth><policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>' "$bus" > /run/bus.conf
      dbus-daemon --config-file=/run/bus.conf --fork --print-pid=5 5> /run/bus.pid
      kept="$(sed -n 's/^CapabilityBoundingSet=//p' "$UNIT" | sed 's/CAP_/+/g; s/ /,/g' | tr A-Z a-z)"
      setpriv --bounding-set="-all,$kept" --no-new-privs -- "$WHORLD" & daemon=$!
      gdbus wait --address "unix:path=$bus" --timeout 20 net.reactivated.Fprint
      env DBUS_SYSTEM_BUS_ADDRESS="unix:path=$bus" "$WHORL" status || true
      for child in $(cat /proc/$daemon/task/*/children); do
        [ "$(cat /proc/$child/comm)" = whorl-reader ] || continue
        sed 's/[[:space:]]\\+/ /g; s/^/bridge: /' /proc/$child/status
        # One that does not end of itself: only whorld's signal does it.
        kill -STOP "$child"; bridge="$child"
      done
      kill "$daemon"; wait "$daemon" || true
      if [ -n "${bridge:-}" ]; then
        state="$(sed -n 's/^State:[[:space:]]*\\(.\\).*/\\1/p' /proc/$bridge/status 2>/dev/null || true)"
        case "$state" in ""|Z|X) echo "ended: yes" ;; *) echo "ended: no, $state"; kill -KILL "$bridge" ;; esac
      fi
      kill "$(cat /run/bus.pid)"
      """
    let result = try await RunningProgram.run(
      "/usr/bin/unshare", ["--mount", "--propagation", "private", "/bin/sh", "-c", script],
      environment: [
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "WHORLD": BuiltPrograms.path("whorld"),
        "WHORL": BuiltPrograms.path("whorl"), "UNIT": SourceTree.path("data/systemd/whorld.service.in"),
      ])
    return result
  }
}
