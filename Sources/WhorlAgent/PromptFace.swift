internal import GLibLoop
internal import SecretMemory

/// Where an agent shows requests and asks for passcodes: a desktop or a terminal.
@GLibActor
protocol PromptFace: AnyObject {
  /// What asks for passcodes here, for people.
  var name: String { get }
  /// Called with what the person wants of a request that is shown.
  var onWish: (@GLibActor (UInt64, PromptWish) -> Void)? { get set }

  /// Shows a request, in place of what was shown for it.
  func show(_ request: UInt64, _ words: PromptWords)
  /// Takes away what is shown for a request, but for a question, which ends with its task.
  func close(_ request: UInt64)
  /// Asks for the passcode, and waits. One question at a time; cancelling the task ends it.
  func ask(_ request: UInt64, _ words: PromptWords) async throws(PromptFailure) -> SecretBytes
  /// Waits until all that was to be shown or taken away is.
  func finish() async
}

/// What a person can want of a request that waits for a finger.
enum PromptWish: String {
  /// Nothing more of it.
  case cancel
  /// To give the passcode in the finger's place.
  case fallBack = "fallback"

  /// The method of org.whorl.Authentication1 that does it.
  var method: String {
    switch self {
    case .cancel: "CancelRequest"
    case .fallBack: "FallBack"
    }
  }
}

/// Why nobody gave a passcode.
enum PromptFailure: Error, Equatable {
  /// The person does not want to.
  case cancelled
  /// Nobody waits for it any more.
  case hidden
  /// What asks cannot be used; says why, after its name.
  case unusable(String)
}

/// The desktop: notifications where there is a service for them, and pinentry.
@GLibActor
final class DesktopFace: PromptFace {
  private let pinentry: Pinentry
  private let notifications: Notifications?

  init(pinentry: Pinentry, notifications: Notifications?) {
    self.pinentry = pinentry
    self.notifications = notifications
  }

  var name: String { pinentry.program }

  var onWish: (@GLibActor (UInt64, PromptWish) -> Void)? {
    get { notifications?.onWish }
    set { notifications?.onWish = newValue }
  }

  func show(_ request: UInt64, _ words: PromptWords) { notifications?.show(request, words) }

  func close(_ request: UInt64) { notifications?.close(request) }

  func ask(_ request: UInt64, _ words: PromptWords) async throws(PromptFailure) -> SecretBytes {
    try await pinentry.ask(Pinentry.Text(description: words.description, prompt: words.prompt, error: words.error))
  }

  func finish() async { await notifications?.finish() }
}
