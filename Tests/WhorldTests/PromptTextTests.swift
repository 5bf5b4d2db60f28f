import Testing

@testable import WhorlDaemon

/// What programs say, on its way to a person.
@Suite struct PromptTextTests {
  @Test(arguments: ["\u{2800}", "\u{3164}", "\u{FE0F}", "\u{115F}", "\u{A0}", "\u{3000}", "\u{200B}", "\t"])
  func `What is blank does not push the rest to the start of another line`(blank: String) {
    let text = PromptText.clean("mine" + String(repeating: blank, count: 60) + "Your login password:", limit: 200)
    #expect(text == "mine Your login password:")
    #expect(PromptText.clean(String(repeating: blank, count: 60), limit: 200) == nil)
  }

  @Test func `Words of every language stay as they are`() {
    for text in ["Müllers Schlüssel", "パスワード", "सार्वजनिक", "אֱלֹהִים"] {
      #expect(PromptText.clean(text, limit: 200) == text)
    }
  }
}
