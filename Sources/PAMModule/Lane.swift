import CPAM
import CSystemd

/// How the person can be spoken to.
enum Lane: Equatable {
  /// On a terminal, which the module reads itself: the finger or the password, whichever comes first.
  case terminal
  /// Through the program's conversation, which cannot be interrupted: the finger first.
  ///
  /// - Parameter input: a descriptor on which the program's answers come; something there ends the wait.
  case messages(input: Int32?)
  /// Through the program's conversation, the finger first, on a terminal whose echo the module switches off meanwhile: by
  /// habit people type a password whatever they are asked for.
  case messagesOnTerminal
  /// Not at all.
  case unattended

  /// Whether the module changes the terminal's settings.
  var holdsTerminal: Bool { self == .terminal || self == .messagesOnTerminal }
}

/// Programs whose ways are known, by their PAM service.
enum KnownService {
  /// Reads passwords from /dev/tty, wherever standard input leads.
  case sudo, doas
  /// Talks on standard input and output.
  case console
  /// polkit's helper: a graphical agent's answers come through standard input.
  case polkit
  /// Nobody sits at it, or whoever does is elsewhere.
  case background
  case other

  init(_ service: CText) {
    if equals(service, "sudo") || equals(service, "sudo-i") {
      self = .sudo
    } else if equals(service, "doas") {
      self = .doas
    } else if equals(service, "polkit-1") {
      self = .polkit
    } else if KnownService.isConsole(service) {
      self = .console
    } else if KnownService.isBackground(service) {
      self = .background
    } else {
      self = .other
    }
  }

  /// Whether what the program shows appears on its terminal.
  var writesToTerminal: Bool { self == .sudo || self == .doas || self == .console }

  private static func isConsole(_ service: CText) -> Bool {
    equals(service, "login") || equals(service, "su") || equals(service, "su-l") || equals(service, "passwd")
      || equals(service, "chsh") || equals(service, "chfn") || equals(service, "newgrp") || equals(service, "vlock")
  }

  /// sshd and the like say "localhost" of who comes through a tunnel, where they look names up.
  private static func isBackground(_ service: CText) -> Bool {
    equals(service, "cron") || equals(service, "crond") || equals(service, "atd") || equals(service, "cups")
      || equals(service, "dovecot") || equals(service, "imap") || equals(service, "pop3") || equals(service, "smtp")
      || equals(service, "samba") || equals(service, "ftp") || equals(service, "vsftpd") || equals(service, "proftpd")
      || equals(service, "ppp") || equals(service, "xrdp-sesman") || equals(service, "remote")
      || equals(service, "rlogin") || equals(service, "rsh") || equals(service, "rexec") || equals(service, "sshd")
      || equals(service, "cockpit")
  }
}

extension Lane {
  /// Finds the lane. `terminal` is the process's controlling one.
  init(_ host: whorl_pam_host, _ service: CText, _ options: ModuleOptions, _ terminal: borrowing Terminal) {
    let known = KnownService(service)
    if known == .background || options.skips(service) || (known == .sudo && SudoCommandLine.ofThisProcess) {
      self = .unattended
      return
    }
    let hasTerminal = Lane.isUsable(terminal, known)
    switch known {
    case .sudo, .doas, .console: self = hasTerminal ? .messages(input: nil) : .unattended
    case .polkit: self = .messages(input: 0)
    case .background, .other: self = .messages(input: nil)
    }
    guard hasTerminal, self == .messages(input: nil), let name = host.terminal, terminal.isNamed(name) else { return }
    // A password that was asked for before is not asked for again; and who wants silence gets no prompt of ours.
    let asksForBoth = options.simultaneous && !host.has_password && (!host.silent || options.alwaysPrompt)
    self = asksForBoth ? .terminal : .messagesOnTerminal
  }

  /// Whether the person is at that terminal now, and the program reads what is typed there.
  private static func isUsable(_ terminal: borrowing Terminal, _ known: KnownService) -> Bool {
    guard terminal.isOurs else { return false }
    guard known != .sudo, known != .doas else { return true }
    return terminal.isSame(as: 0)
  }
}

/// What sudo's command line says about where it takes passwords from. No decision hangs on it but to ask for no finger:
/// whoever started sudo wrote the line.
enum SudoCommandLine {
  /// Whether this process is a sudo that was told to read the password elsewhere than on the terminal, or to ask for none.
  static var ofThisProcess: Bool {
    withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
      guard let start = buffer.baseAddress else { return false }
      let length = whorl_command_line(start.assumingMemoryBound(to: CChar.self), buffer.count)
      guard length > 0 else { return false }
      return forbidsPrompt(UnsafeRawBufferPointer(start: start, count: min(length, buffer.count)))
    }
  }

  /// Whether `line`, the arguments each ended by a NUL, has -S, -A or -n among sudo's own options.
  static func forbidsPrompt(_ line: UnsafeRawBufferPointer) -> Bool {
    var rest = Arguments(line)
    guard let name = rest.next(), isSudo(line, name) else { return false }
    while let argument = rest.next() {
      guard line[argument.lowerBound] == dash else {
        // A variable that the command gets; anything else is the command.
        guard line[argument].contains(0x3d) else { return false }
        continue
      }
      guard argument.count > 1, !matches(line, argument, "--") else { return false }
      if line[argument.lowerBound + 1] == dash {
        if begins(line, argument, "--st", of: "--stdin") || begins(line, argument, "--a", of: "--askpass")
          || begins(line, argument, "--n", of: "--non-interactive")
        {
          return true
        }
        if takesValue(line, argument), !line[argument].contains(0x3d) { _ = rest.next() }
        continue
      }
      var index = argument.lowerBound + 1
      while index < argument.upperBound {
        let letter = line[index]
        if letter == 0x53 || letter == 0x41 || letter == 0x6e { return true }
        if hasValue(letter) {
          if index + 1 == argument.upperBound { _ = rest.next() }
          break
        }
        // A host, in the same word.
        if letter == 0x68 { break }
        index += 1
      }
    }
    return false
  }

  private static let dash: UInt8 = 0x2d

  /// Whether an option of that letter is followed by a value: -a -C -c -D -g -p -R -r -T -t -U -u.
  private static func hasValue(_ letter: UInt8) -> Bool {
    switch letter {
    case 0x61, 0x43, 0x63, 0x44, 0x67, 0x70, 0x52, 0x72, 0x54, 0x74, 0x55, 0x75: true
    default: false
    }
  }

  private static func takesValue(_ line: UnsafeRawBufferPointer, _ argument: Range<Int>) -> Bool {
    matches(line, argument, "--user") || matches(line, argument, "--group") || matches(line, argument, "--prompt")
      || matches(line, argument, "--chdir") || matches(line, argument, "--chroot") || matches(line, argument, "--host")
      || matches(line, argument, "--close-from") || matches(line, argument, "--other-user")
      || matches(line, argument, "--command-timeout") || matches(line, argument, "--role")
      || matches(line, argument, "--type") || matches(line, argument, "--auth-type")
      || matches(line, argument, "--login-class")
  }

  private static func isSudo(_ line: UnsafeRawBufferPointer, _ name: Range<Int>) -> Bool {
    var start = name.lowerBound
    for index in name where line[index] == 0x2f { start = index + 1 }
    let last = start..<name.upperBound
    return matches(line, last, "sudo") || matches(line, last, "sudoedit") || matches(line, last, "sudo-rs")
  }

  private static func matches(_ line: UnsafeRawBufferPointer, _ part: Range<Int>, _ text: StaticString) -> Bool {
    part.count == text.utf8CodeUnitCount && agrees(line, part, text)
  }

  /// Whether an argument is the beginning of a long option, `least` or longer.
  private static func begins(
    _ line: UnsafeRawBufferPointer, _ part: Range<Int>, _ least: StaticString, of option: StaticString
  ) -> Bool {
    part.count >= least.utf8CodeUnitCount && part.count <= option.utf8CodeUnitCount && agrees(line, part, option)
  }

  private static func agrees(_ line: UnsafeRawBufferPointer, _ part: Range<Int>, _ text: StaticString) -> Bool {
    for index in part where line[index] != text.utf8Start[index - part.lowerBound] { return false }
    return true
  }

  /// The arguments, one after the other, as ranges of the line; one that is cut off at its end is left out.
  private struct Arguments {
    private let line: UnsafeRawBufferPointer
    private var position = 0

    init(_ line: UnsafeRawBufferPointer) { self.line = line }

    mutating func next() -> Range<Int>? {
      var end = position
      while end < line.count, line[end] != 0 { end += 1 }
      guard end < line.count else { return nil }
      defer { position = end + 1 }
      return position..<end
    }
  }
}
