import Foundation
import TestKit
import Testing

extension ModuleSuite {
  /// The person's language: whose word decides, and what comes of words that mean harm.
  @Suite struct LanguageTests {
    static let steps: [Step] = [
      .progress("waiting", ["scan-type": "press", "fingers": ["right-index-finger"]]),
      .progress("retry", ["reason": "too-short"]), .progress("no-match", ["tries-left": 2]),
      .progress("waiting", ["scan-type": "swipe", "fingers": ["left-little-finger"]]), .reply(),
    ]

    /// What each language makes of these steps.
    static let shown = [
      "en": [
        "info Touch the fingerprint reader with your right index finger (whorl-test)",
        "info Too short: please try again, and leave the finger on the reader a little longer.",
        "info Fingerprint not recognised: 2 tries left.",
        "info Swipe your left little finger across the fingerprint reader (whorl-test)", "result 0",
      ],
      "de": [
        "info Berühren Sie den Fingerabdruckleser mit dem rechten Zeigefinger (whorl-test)",
        "info Zu kurz: Bitte versuchen Sie es noch einmal und lassen Sie den Finger etwas länger auf dem Leser.",
        "info Fingerabdruck nicht erkannt: noch 2 Versuche.",
        "info Ziehen Sie den linken kleinen Finger über den Fingerabdruckleser (whorl-test)", "result 0",
      ],
      "fr": [
        "info Touchez le lecteur d'empreintes avec votre index droit (whorl-test)",
        "info Trop court\u{a0}: veuillez réessayer en laissant le doigt un peu plus longtemps sur le lecteur.",
        "info Empreinte non reconnue\u{a0}: il reste 2 essais.",
        "info Faites glisser votre auriculaire gauche sur le lecteur d'empreintes (whorl-test)", "result 0",
      ],
      "es": [
        "info Toque el lector de huellas con el dedo índice derecho (whorl-test)",
        "info Demasiado breve: inténtelo de nuevo y deje el dedo un poco más de tiempo en el lector.",
        "info Huella no reconocida: quedan 2 intentos.",
        "info Deslice el dedo meñique izquierdo por el lector de huellas (whorl-test)", "result 0",
      ],
      "ja": [
        "info 右手の人差し指で指紋リーダーに触れてください (whorl-test)",
        "info 触れている時間が短すぎます。リーダーに指をもう少し長く置いて、もう一度お試しください。",
        "info 指紋を認識できませんでした。あと2回試せます。",
        "info 指紋リーダーの上で左手の小指をスライドさせてください (whorl-test)", "result 0",
      ],
      "zh_CN": [
        "info 请用右手食指触摸指纹识别器 (whorl-test)", "info 时间太短，请重试，并让手指在识别器上多停留一会儿。",
        "info 指纹未被识别，还可以尝试 2 次。", "info 请将左手小指滑过指纹识别器 (whorl-test)", "result 0",
      ],
    ]

    private static func language(of lines: [String]) -> String {
      shown.first { $0.value == lines }?.key ?? lines.joined(separator: "\n")
    }

    /// Expects that language with these variables.
    private func expect(
      _ wanted: String, _ bench: LanguageBench, _ variables: [String: String], isSetUserID: Bool = false,
      _ note: String = ""
    ) async throws {
      let found = LanguageTests.language(of: try await bench.lines(variables, isSetUserID: isSetUserID))
      #expect(found == wanted, "\(variables.mapValues { $0.prefix(60) }) \(note)")
    }

    @Test func `each language has its own words, with fingers in the form that the sentence wants`() async throws {
      let bench = try await LanguageBench()
      try await bench.bench.withWhorld(LanguageTests.steps) {
        for (language, lines) in LanguageTests.shown {
          let found = try await bench.lines(["LANG": "\(language).UTF-8"])
          #expect(found == lines)
        }
      }
    }

    @Test func `the variables decide as they do elsewhere, and no locale needs to be there`() async throws {
      let cases: [([String: String], String)] = [
        ([:], "en"), (["LANG": "de_DE.UTF-8"], "de"), (["LANG": "de_AT.utf8"], "de"), (["LANG": "de.UTF8@euro"], "de"),
        (["LANG": "zh_TW.UTF-8"], "en"), (["LANG": "xx_YY.UTF-8"], "en"), (["LANG": "C.UTF-8"], "en"),
        (["LANG": "fr_FR.UTF-8", "LC_MESSAGES": "de_DE.UTF-8", "LC_ALL": "es_ES.UTF-8"], "es"),
        (["LANG": "fr_FR.UTF-8", "LC_MESSAGES": "de_DE"], "de"), (["LC_MESSAGES": "ja_JP.UTF-8"], "en"),
        (["LC_MESSAGES": "ja_JP", "LC_CTYPE": "UTF-8"], "ja"), (["LC_ALL": "", "LANG": "fr_CA.UTF-8"], "fr"),
        (["LANG": "de_DE"], "en"), (["LANG": "de_DE.ISO-8859-1"], "en"), (["LANG": "de_DE@euro"], "en"),
        (["LANG": "de_DE.UTF-8", "LC_CTYPE": "de_DE.ISO-8859-1"], "en"),
        (["LANG": "en_US.UTF-8", "LANGUAGE": "xx:fr_FR:de"], "fr"),
        (["LANG": "de_DE.UTF-8", "LANGUAGE": "en:de"], "en"),
        (["LANG": "de_DE.UTF-8", "LANGUAGE": "pt_BR"], "en"), (["LANG": "C.UTF-8", "LANGUAGE": "de"], "en"),
        (["LANG": "e.UTF-8"], "en"), (["LANG": "d.UTF-8"], "en"), (["LANG": "deu_DE.UTF-8"], "en"),
      ]
      let bench = try await LanguageBench()
      try await bench.bench.withWhorld(LanguageTests.steps) {
        for (variables, wanted) in cases {
          try await expect(wanted, bench, variables)
        }
      }
    }

    /// The trap is a catalogue where each of these names would lead to.
    @Test func `no variable leads out of the folder, in a set-user-ID program neither`() async throws {
      let bench = try await LanguageBench()
      let folder = bench.bench.folder
      let trap = folder("trap/LC_MESSAGES")
      try FileManager.default.createDirectory(atPath: trap, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: try bench.catalogue("ja"), toPath: trap + "/whorl.mo")
      let up = String(repeating: "../", count: 12) + folder("trap")
      let variables: [[String: String]] = [
        ["LANG": "\(up).UTF-8"], ["LANG": "de/../../trap.UTF-8"], ["LANG": "../locale/de.UTF-8"], ["LANG": "..UTF-8"],
        ["LANG": "../../etc"], ["LANG": ".UTF-8"], ["LANG": "@.UTF-8"], ["LANG": "%s%s%n%n.UTF-8"],
        ["LANG": "de_DE\u{1b}[2J.UTF-8"], ["LANG": "de\n.UTF-8"], ["LANG": "dé.UTF-8"],
        ["LANG": folder("trap") + ".UTF-8"],
        ["LANG": String(repeating: "d", count: 100_000) + ".UTF-8"],
        ["LANG": "de" + String(repeating: "_", count: 55) + ".UTF-8"],
        ["LANG": "fr_FR.UTF-8", "LANGUAGE": up], ["LANG": "fr_FR.UTF-8", "LANGUAGE": "\(folder("trap")):fr"],
        ["LANG": "fr_FR.UTF-8", "LANGUAGE": String(repeating: "fr:", count: 10_000)],
        ["LANG": "fr_FR.UTF-8", "LANGUAGE": ":::" + String(repeating: "e", count: 200)],
        [
          "LANG": "en_US.UTF-8", "LOCPATH": folder("trap"), "NLSPATH": folder("trap/%N"), "TEXTDOMAIN": "whorl",
          "TEXTDOMAINDIR": folder("trap"), "OUTPUT_CHARSET": "UTF-16", "LOCALEDIR": folder("trap"),
        ],
      ]
      try await bench.bench.withWhorld(LanguageTests.steps) {
        for isSetUserID in [false, true] {
          for variables in variables {
            let isLong = variables["LANG"]?.hasPrefix("de_____") == true
            try await expect(isLong ? "de" : "en", bench, variables, isSetUserID: isSetUserID)
          }
          try await expect("fr", bench, ["LANG": "fr_FR.UTF-8"], isSetUserID: isSetUserID)
          try await expect(
            "fr", bench, ["LANG": "fr_FR.UTF-8", "LOCPATH": folder("trap"), "OUTPUT_CHARSET": "UTF-16"],
            isSetUserID: isSetUserID)
        }
      }
    }

    @Test func `where the program was told no language, the system's own holds`() async throws {
      let cases: [(files: [(String, String, UInt32)], variables: [String: String], language: String)] = [
        ([("locale.conf", "LANG=de_DE.UTF-8\n", 0o644)], [:], "de"),
        ([("locale.conf", "LANG=de_DE.UTF-8\n", 0o644)], ["LC_CTYPE": "C", "LANGUAGE": "fr"], "de"),
        ([("locale.conf", "LANG=de_DE.UTF-8\n", 0o644)], ["LANG": ""], "de"),
        ([("locale.conf", "LANG=de_DE.UTF-8\n", 0o644)], ["LANG": "C"], "en"),
        ([("locale.conf", "LANG=de_DE.UTF-8\n", 0o644)], ["LANG": "es_ES.UTF-8"], "es"),
        ([("default/locale", "#  a word\n\nLANG=\"fr_FR.UTF-8\"  \r\nLANGUAGE='es:fr'", 0o644)], [:], "es"),
        ([("default/locale", "LANG=en_US.UTF-8\nLC_MESSAGES=fr_FR.UTF-8\n", 0o644)], [:], "fr"),
        (
          [("locale.conf", "KEYMAP=de\n", 0o644), ("default/locale", "LANG=ja_JP.UTF-8", 0o644)], [:], "ja"
        ),
        (
          [("locale.conf", "LANG=es_ES.UTF-8\n", 0o644), ("default/locale", "LANG=ja_JP.UTF-8", 0o644)], [:], "es"
        ),
        ([("locale.conf", "LANG=../../etc\nLANG=\n", 0o644)], [:], "en"),
        ([("locale.conf", "XLANG=de_DE.UTF-8\nLANG\n=\n\"\n", 0o644)], [:], "en"),
        ([("locale.conf", "LANG=de_DE.UTF-8\n", 0o666)], [:], "en"),
        ([("locale.conf", "LANG=de_DE.UTF-8\n" + String(repeating: "#", count: 9000), 0o644)], [:], "en"),
      ]
      for (files, variables, wanted) in cases {
        let bench = try await LanguageBench()
        for (name, text, mode) in files { try bench.writeSetting(text, to: name, mode: mode) }
        try await bench.bench.withWhorld(LanguageTests.steps) {
          try await expect(wanted, bench, variables, "\(files)")
        }
      }
    }

    @Test(arguments: ["owner", "pipe", "link", "folder"])
    func `the system's language comes from root's files alone, and none is waited for`(kind: String) async throws {
      let bench = try await LanguageBench()
      try bench.writeSetting("LANG=de_DE.UTF-8\n", to: "locale.conf")
      let file = bench.bench.folder("etc/locale.conf")
      switch kind {
      case "owner": chown(file, 1, 0)
      case "link":
        // As NixOS has it.
        rename(file, file + ".real")
        symlink("locale.conf.real", file)
      default:
        unlink(file)
        if kind == "pipe" { mkfifo(file, 0o644) } else { mkdir(file, 0o755) }
      }
      try await bench.bench.withWhorld(LanguageTests.steps) {
        try await expect(kind == "link" ? "de" : "en", bench, [:])
      }
    }

    @Test func `a catalogue that is damaged or says something else does no harm`() async throws {
      let bench = try await LanguageBench()
      let file = try bench.catalogue("de")
      let whole = try Data(contentsOf: URL(fileURLWithPath: file))
      var damaged: [Data] = [Data(), Data(repeating: 0xff, count: 5000), Data(repeating: 0, count: 200_000)]
      damaged += [1, 8, 27, 28, 100, 700, whole.count / 2, whole.count - 1].map { Data(whole.prefix($0)) }
      // Counts, tables and places that lie elsewhere.
      let changes: [(Int, UInt8)] = [
        (0, 1), (8, 0xff), (9, 0xff), (11, 0x7f), (12, 0xff), (15, 0xff), (18, 0xff), (19, 0xff),
      ]
      for (place, byte) in changes {
        var bytes = whole
        bytes[place] = byte
        damaged.append(bytes)
      }
      try await bench.bench.withWhorld(LanguageTests.steps) {
        for bytes in damaged {
          try bytes.write(to: URL(fileURLWithPath: file))
          let lines = try await bench.lines(["LANG": "de_DE.UTF-8"])
          // Each line is whole, in one language or the other.
          #expect(lines.count == 5, "\(lines)")
          for (index, line) in lines.enumerated() {
            let isWhole = ["de", "en"].contains { LanguageTests.shown[$0]?[index] == line }
            #expect(isWhole, "\(bytes.count): \(line)")
          }
        }
      }
    }

    @Test func `a translation that cannot stand in the English text's place is not shown`() async throws {
      let bench = try await LanguageBench()
      let touch = "Touch the fingerprint reader with your {finger} ({service})"
      let wrong = [
        "Ohne Namen", "{finger}", "{finger} {service} {service}", "{finger} {service} {count}", "{finger} {service",
        "{service} }{finger}",
        "{finger} {service} {}", "{finger} {service} \\033[2J", "{finger}\\n{service}", "{finger} {service} \\303",
        "{finger} {service} " + String(repeating: "x", count: 300),
      ]
      try await bench.bench.withWhorld(LanguageTests.steps) {
        for wrong in wrong + ["{service}: %s%n {finger}"] {
          let po = try bench.bench.folder.write(
            "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"\(touch)\"\nmsgstr \"\(wrong)\"\n",
            to: "de.po")
          try await bench.compile(po, as: "de")
          let lines = try await bench.lines(["LANG": "de_DE.UTF-8"])
          #expect(
            lines.first
              == (wrong.contains("%n") ? "info whorl-test: %s%n right index finger" : LanguageTests.shown["en"]?.first))
          #expect(lines.dropFirst() == LanguageTests.shown["en"]?.dropFirst())
        }
      }
    }

    @Test func `a catalogue that others can write is not believed`() async throws {
      let bench = try await LanguageBench()
      chmod(try bench.catalogue("de"), 0o646)
      chown(try bench.catalogue("fr"), 1, 1)
      try await bench.bench.withWhorld(LanguageTests.steps) {
        try await expect("en", bench, ["LANG": "de_DE.UTF-8"])
        try await expect("en", bench, ["LANG": "fr_FR.UTF-8"])
      }
    }

    @Test func `the program's own locale, text domain and memory are as they were, a thousand times`() async throws {
      let bench = try await LanguageBench()
      try await bench.bench.withWhorld(LanguageTests.steps) {
        let once = try await bench.lines(["LANG": "de_DE.UTF-8"], ["--locale=C.UTF-8"])
        #expect(LanguageTests.language(of: once) == "de")
      }
      try await bench.bench.withWhorld([.progress("waiting"), .reply()]) {
        let lines = try await bench.lines(["LANG": "de_DE.UTF-8"], ["--locale=C.UTF-8", "--repeat=1000", "--quiet"])
        #expect(lines == ["result 0"])
      }
    }
  }

  /// The translations that are shipped.
  @Suite struct TranslationTests {
    private static let tool = Bench.projectFolder + "/pam/po/texts.py"

    @Test func `every text is translated, and the template is what the source says`() async throws {
      let ended = try await RunningProgram.run(TranslationTests.tool, ["check"])
      #expect(ended.text + ended.errorText == "")
      #expect(ended.status == 0)
    }

    @Test(arguments: [
      ("msgstr \"Fingerabdruck nicht erkannt.\"", "msgstr \"\"", "de.po: not translated: Fingerprint not recognised."),
      (
        "noch {count} Versuche", "noch Versuche",
        "de.po: other words in braces: Fingerprint not recognised: {count} tries left."
      ),
      ("Passwort ein ({service}): \"", "Passwort ein ({service}):\"", "de.po: must end in a space as the English does"),
      ("msgid \"left thumb\"", "msgid \"left toe\"", "de.po: no such text (make translations): left toe"),
      ("msgstr \"Fingerabdruck nicht erkannt.\"", "msgstr \"\\033[2J\"", "de.po: a character that cannot be shown"),
    ])
    func `a translation that lacks something is named`(right: String, wrong: String, said: String) async throws {
      let folder = try TemporaryFolder()
      let source = Bench.projectFolder + "/pam/po/"
      try folder.write(try String(contentsOfFile: source + "whorl.pot", encoding: .utf8), to: "whorl.pot")
      let text = try String(contentsOfFile: source + "de.po", encoding: .utf8)
      #expect(text.contains(right))
      try folder.write(text.replacingOccurrences(of: right, with: wrong), to: "de.po")
      let ended = try await RunningProgram.run(TranslationTests.tool, ["check", folder.path])
      #expect(ended.text.contains(said), "\(ended.text)")
      #expect(ended.status == 1)
    }
  }
}
