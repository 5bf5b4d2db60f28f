import LocalAuthentication
import Testing

/// Every way in which code for Apple's systems takes an LAError apart.
struct LAErrorTests {
  private static let codes: [(LAError.Code, Int)] = [
    (.authenticationFailed, -1), (.userCancel, -2), (.userFallback, -3), (.systemCancel, -4), (.passcodeNotSet, -5),
    (.biometryNotAvailable, -6), (.biometryNotEnrolled, -7), (.biometryLockout, -8), (.appCancel, -9),
    (.invalidContext, -10), (.companionNotAvailable, -11), (.biometryNotPaired, -12), (.biometryDisconnected, -13),
    (.notInteractive, -1004),
  ]

  private func raise(_ error: any Error) throws { throw error }

  private func raw(_ code: Int, domain: String = LAErrorDomain) -> any Error {
    NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: "a text"]) as any Error
  }

  @Test(arguments: codes) func `Numbers are Apple's`(code: LAError.Code, number: Int) {
    #expect(code.rawValue == number)
    #expect(LAError(code).errorCode == number)
    #expect(LAError(code).code == code)
    #expect(LAError.errorDomain == "com.apple.LocalAuthentication")
  }

  @Test(arguments: codes) func `What was thrown is caught in every spelling`(code: LAError.Code, number: Int) throws {
    for error in [raw(number), LAError(code, userInfo: [NSLocalizedDescriptionKey: "a text"])] as [any Error] {
      var caught: [String] = []
      do { try raise(error) } catch let error as LAError where error.code == code { caught.append("as LAError") }
      do { try raise(error) } catch LAError.userCancel { caught.append("pattern") } catch {
        caught.append(code == .userCancel ? "missed" : "pattern")
      }
      do { try raise(error) } catch {
        if (error as? LAError)?.code == code { caught.append("as?") }
        if error is LAError { caught.append("is") }
        let plain = error as NSError
        if plain.code == number, plain.domain == LAErrorDomain { caught.append("as NSError") }
        if error.localizedDescription == "a text" { caught.append("text") }
        switch (error as? LAError)?.code {
        case code?: caught.append("switch")
        default: break
        }
        switch error {
        case LAError.biometryLockout where code == .biometryLockout: caught.append("switch on the error")
        default: if code != .biometryLockout { caught.append("switch on the error") }
        }
      }
      #expect(
        caught == [
          "as LAError", "pattern", "as?", "is", "as NSError", "text", "switch", "switch on the error",
        ])
    }
  }

  @Test func `An NSError is caught as one, too`() {
    do {
      try raise(raw(-8))
      Issue.record("nothing was thrown")
    } catch let error as NSError {
      #expect(error.code == LAError.biometryLockout.rawValue)
    }
  }

  @Test func `Errors of others are none of these`() {
    for error in [raw(-2, domain: NSCocoaErrorDomain), raw(-99)] {
      #expect(error as? LAError == nil)
      #expect((error as NSError) as? LAError == nil)
      do { try raise(error) } catch LAError.userCancel { Issue.record("not a userCancel") } catch {}
    }
  }

  @Test func `The former names are the same codes`() {
    #expect(LAError.touchIDNotAvailable == .biometryNotAvailable)
    #expect(LAError.touchIDNotEnrolled == .biometryNotEnrolled)
    #expect(LAError.touchIDLockout == .biometryLockout)
    #expect(LAError.watchNotAvailable == .companionNotAvailable)
    #expect(LAError.Code.touchIDLockout == .biometryLockout)
  }

  @Test func `Equal errors are equal and say so in sets`() {
    #expect(LAError(.userCancel) == LAError(.userCancel))
    #expect(LAError(.userCancel) != LAError(.appCancel))
    #expect(Set([LAError(.userCancel), LAError(.userCancel)]).count == 1)
  }
}
