// The bridge: libfprint behind a socket. Started by whorld, which treats all that it says as untrusted.
internal import CTaskPool
internal import Fingerprint
internal import GLibLoop
internal import Glibc
internal import ReaderLink

@main
struct Main {
  static func main() {
    let (words, nodes) = Hardening.parts(of: Array(CommandLine.arguments.dropFirst()))
    guard Hardening.isSocket(Hardening.linkDescriptor), let place = Hardening.place(arguments: words) else {
      Hardening.complain("whorl-reader is started by whorld, with a socket as descriptor 3; it does nothing by hand")
      exit(BridgeExit.usage.rawValue)
    }
    Hardening.apply(in: place, only: nodes)
    // In place of libdispatch's pool, which reads /proc/TID/stat of its threads and crashes where it cannot.
    guard whorl_taskpool_install(2) == 0 else { exit(BridgeExit.notShed.rawValue) }
    // Drivers and the libraries below them write to pipes and sockets of their own.
    signal(SIGPIPE, SIG_IGN)
    let log = LibraryLog()
    exit(GLibLoop.run { await Bridge(descriptor: Hardening.linkDescriptor, log: log).run() })
  }
}
