import CPosix
import Glibc

/// Becomes another program that ends with its parent, whatever ends that: posix_spawn(3) has no room for such a wish.
enum Trampoline {
  /// - Parameter arguments: the parent's process, the program, its arguments.
  /// - Returns: the exit status, where it did not come to that.
  static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count >= 2, let parent = pid_t(arguments[0]) else { return 2 }
    guard cposix_prctl(Int32(cposix_PR_SET_PDEATHSIG), UInt(SIGTERM)) == 0 else { return 126 }
    // It may have gone before we asked.
    guard getppid() == parent else { return 0 }
    var words: [UnsafeMutablePointer<CChar>?] = arguments.dropFirst().map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    execv(arguments[1], &words)
    return 127
  }
}
