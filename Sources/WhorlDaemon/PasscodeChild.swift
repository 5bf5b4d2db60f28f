internal import CPosix
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain
internal import SecretMemory

/// Checks login passwords through PAM's service `whorl-passcode`, in a short-lived child: libpam loads other people's
/// modules and leaves copies of the password, which must not happen in whorld.
final class PasscodeChild: PasscodeVerifier {
  /// The seconds that PAM has; pam_unix waits two after a wrong password.
  static let patience = 30

  private let program: String
  private let accounts: AccountDirectory
  /// Where a private service file may be; nil outside of private mode.
  private let privateFolder: String?

  init(surroundings: Surroundings, accounts: AccountDirectory) {
    self.accounts = accounts
    program = surroundings.programFolder + "/whorl-passcode"
    privateFolder = surroundings.isPrivate ? surroundings.stateFolder + "/pam.d" : nil
  }

  /// The folder with the private service file; nil uses the system's.
  private var configurationFolder: String? {
    privateFolder.flatMap { access($0, R_OK | X_OK) == 0 ? $0 : nil }
  }

  func verify(user: UserID, passcode: consuming SecretBytes) async -> PasscodeVerdict {
    let found: Account?
    do { found = try await accounts.with(user) } catch { return .unavailable(error.line) }
    guard let account = found else { return .notSet }
    let arguments = ["--", account.name] + (configurationFolder.map { ["--confdir", $0] } ?? [])
    let end = await ChildProgram.run(
      program, arguments: arguments, environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
      secret: passcode, seconds: Self.patience)
    switch end {
    case .exited(0): return .right
    case .exited(1): return .wrong
    case .exited(2): return .notSet
    case .exited(let status):
      return .unavailable("Your password cannot be checked (whorl-passcode ended with \(status)); see the system log.")
    case .signalled(let signal):
      return .unavailable("Your password cannot be checked (whorl-passcode was ended by signal \(signal)); try again.")
    case .timedOut:
      return .unavailable("Your password was not checked within \(Self.patience) seconds; try again.")
    case .notStarted(let code):
      return .unavailable(
        "Your password cannot be checked: \(program) does not start (\(String(cString: strerror(code)))); reinstall Whorl."
      )
    }
  }

  func state(of user: UserID) async -> PasscodeState {
    // A private service has passwords of its own, that nobody but the service knows of.
    guard configurationFolder == nil else { return .unknown }
    // Of an account that is not there nothing is known either: it may be a directory that does not answer.
    guard let account = (try? await accounts.with(user)) ?? nil else { return .unknown }
    return await accounts.passcodeState(account.name)
  }
}
