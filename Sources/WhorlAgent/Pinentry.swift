internal import CPosix
internal import ChildProcess
internal import GLibLoop
internal import Glibc
internal import SecretMemory

/// Asks for one passcode through pinentry(1), in a child that has nothing but the variables that a dialog needs.
@GLibActor
struct Pinentry {
  /// What the dialog shows.
  struct Text: Equatable {
    var title = "Whorl"
    var description: String
    var prompt = "Password:"
    /// Why it is asked again.
    var error: String?
  }

  /// The variables that a dialog needs to find the screen, the input methods and the language.
  static let variables: Set<String> = [
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP",
    "XDG_DATA_DIRS", "XDG_CONFIG_DIRS", "DBUS_SESSION_BUS_ADDRESS", "HOME", "LANG", "LANGUAGE", "GTK_IM_MODULE",
    "QT_IM_MODULE", "XMODIFIERS", "GDK_BACKEND", "GDK_SCALE", "QT_QPA_PLATFORM", "QT_QPA_PLATFORMTHEME",
    "QT_SCALE_FACTOR", "PINENTRY_USER_DATA",
  ]

  /// libgpg-error's codes for "the person did not want to".
  private static let cancelCodes: Set<Int> = [99, 198, 114, 62]
  /// So many milliseconds a pinentry that is done may take to end, and again after it was asked to.
  private static let patience = 1_000

  let program: String
  let environment: [String]

  /// - Parameter environment: the agent's own; what is no use to a dialog is left out.
  init(program: String, environment: [String: String]) {
    self.program = program
    self.environment =
      environment.filter { Self.variables.contains($0.key) || $0.key.hasPrefix("LC_") }.map { "\($0.key)=\($0.value)" }
      .sorted() + ["PATH=/usr/local/bin:/usr/bin:/bin"]
  }

  /// Shows the dialog and waits for its end. Cancelling the task closes it.
  func ask(_ text: Text) async throws(PromptFailure) -> SecretBytes {
    var toChild: [Int32] = [-1, -1]
    var fromChild: [Int32] = [-1, -1]
    guard cposix_pipe_cloexec(&toChild) == 0 else { throw Self.system(errno) }
    guard cposix_pipe_cloexec(&fromChild) == 0 else {
      let code = errno
      for end in toChild { close(end) }
      throw Self.system(code)
    }
    defer {
      close(toChild[0])
      close(fromChild[1])
    }
    let stream: AssuanStream
    do { stream = try AssuanStream(input: toChild[1], output: fromChild[0]) } catch { throw .unusable("\(error)") }
    let pid: pid_t
    do {
      pid = try ChildProcess.spawn(
        program, environment: environment,
        descriptors: [.duplicate(toChild[0]), .duplicate(fromChild[1]), .nothing], ownGroup: true)
    } catch {
      throw .unusable("it does not start: \(error.text)")
    }
    // The child's ends are the child's alone from here on: its end is ours to notice.
    close(toChild[0])
    close(fromChild[1])
    toChild[0] = -1
    fromChild[1] = -1
    do throws(PromptFailure) {
      let passcode = try await talk(stream, text)
      try? stream.send(Assuan.command("BYE"))
      Self.reap(pid, atOnce: false)
      return passcode
    } catch {
      Self.reap(pid, atOnce: true)
      throw error
    }
  }

  private func talk(_ stream: AssuanStream, _ text: Text) async throws(PromptFailure) -> SecretBytes {
    guard try await stream.answer() == nil else { throw .unusable("it refuses to start a dialog") }
    var lines = [("SETTITLE", text.title), ("SETDESC", text.description), ("SETPROMPT", text.prompt)]
    if let error = text.error { lines.append(("SETERROR", error)) }
    for (name, value) in lines {
      try stream.send(Assuan.command(name, value))
      // A pinentry that does not know one of these still asks.
      _ = try await stream.answer()
    }
    // Nothing that came so far is an answer of the person's.
    guard try stream.takeData().count == 0 else { throw .unusable("it gives data that nobody asked for") }
    try stream.send(Assuan.command("GETPIN"))
    guard let code = try await stream.answer() else { return try stream.takeData() }
    throw Self.cancelCodes.contains(code)
      ? .cancelled : .unusable("it could not show its dialog (error \(code) of libgpg-error)")
  }

  private static func system(_ code: Int32) -> PromptFailure {
    .unusable("there is no pipe to it: \(String(cString: strerror(code)))")
  }

  /// Ends a pinentry and all that it has started, the hard way in the end, and takes its exit status.
  private static func reap(_ pid: pid_t, atOnce: Bool) {
    if atOnce { kill(-pid, SIGTERM) }
    Task { @GLibActor in
      let process = cposix_pidfd_open(pid)
      defer { if process >= 0 { close(process) } }
      for signal in atOnce ? [SIGKILL] : [SIGTERM, SIGKILL] {
        if await hasEnded(process) { break }
        kill(-pid, signal)
      }
      // Killed by now, or ended by itself: this does not wait.
      while waitpid(pid, nil, 0) < 0, errno == EINTR {}
      kill(-pid, SIGKILL)
    }
  }

  /// Waits for a while.
  private static func hasEnded(_ process: Int32) async -> Bool {
    guard process >= 0 else { return false }
    let waiting = Task { @GLibActor in (try? await glibReady(for: .readable, of: process)) != nil }
    let timer = Task { @GLibActor in
      if (try? await glibSleep(milliseconds: patience)) != nil { waiting.cancel() }
    }
    defer { timer.cancel() }
    return await waiting.value
  }
}
