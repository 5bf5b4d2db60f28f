#!/usr/bin/env python3
"""The module's texts and their translations.

usage: texts.py template          prints whorl.pot, made from Sources/PAMModule/Texts.swift
       texts.py check [FOLDER]    says what is wrong with whorl.pot and the .po files there (default: this folder)

Each text is known by itself; a finger also by a context, for it stands in two kinds of sentences: "with" (Touch the reader
with your ...) and "swipe" (Swipe your ...)."""
import pathlib
import re
import sys
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "Sources/PAMModule/Texts.swift"
# As in Sources/PAMModule/Words.swift.
LONGEST = 300
NOTES = {
    "{finger}": "{finger}: one of the fingers below, in the form it has in this sentence.",
    "{service}": "{service}: a program's name, such as sudo.",
    "{count}": "{count}: 2 to 5, in digits; no other form is chosen for it.",
}
HEADER = """# Whorl's PAM module: what is shown at a fingerprint prompt. Made by pam/po/texts.py; do not edit.
msgid ""
msgstr ""
"Project-Id-Version: whorl\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


def texts():
    """(case, context or None, English) of every text in the Swift file."""
    found = []
    for case, text in re.findall(r'^\s*case \.(\w+): "((?:[^"\\]|\\.)*)"$', SOURCE.read_text(), re.M):
        is_finger = re.fullmatch(r"(left|right)(Thumb|Index|Middle|Ring|Little)", case)
        found += [(case, context, text) for context in (("with", "swipe") if is_finger else (None,))]
    return found


def template():
    blocks = [HEADER]
    for case, context, text in texts():
        lines = [f"#. {note}" for blank, note in NOTES.items() if blank in text]
        lines.append(f"#: Sources/PAMModule/Texts.swift({case})")
        if context:
            lines.append(f'msgctxt "{context}"')
        blocks.append("\n".join(lines + [f'msgid "{text}"', 'msgstr ""', ""]))
    return "\n".join(blocks)


def entries(text):
    """{(context, msgid): msgstr} of a .po file without its header; "#, fuzzy" counts as no translation."""
    found = {}
    for block in re.split(r"\n\s*\n", text):
        if re.search(r"^#~", block, re.M):
            raise ValueError("an entry that is out of use (#~)")
        parts = {}
        for key, body in re.findall(r'^(msgctxt|msgid|msgstr)\s+((?:"(?:[^"\\]|\\.)*"\s*)+)', block, re.M):
            parts[key] = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', body))
        if not parts.get("msgid"):
            continue
        fuzzy = re.search(r"^#,.*\bfuzzy\b", block, re.M)
        found[parts.get("msgctxt"), parts["msgid"]] = "" if fuzzy else parts.get("msgstr", "")
    return found


def blanks(text):
    return sorted(re.findall(r"\{[^}]*\}?|\}", text))


def faults(folder):
    if (folder / "whorl.pot").read_text() != template():
        yield "whorl.pot is out of date; run make translations"
    wanted = [(context, text) for _, context, text in texts()]
    languages = sorted(folder.glob("*.po"))
    if not languages:
        yield f"no translation in {folder}"
    for path in languages:
        try:
            have = entries(path.read_text(encoding="utf-8"))
        except ValueError as error:
            yield f"{path.name}: {error}"
            continue
        for key in have:
            if key not in wanted:
                yield f"{path.name}: no such text (make translations): {key[1]}"
        for context, text in wanted:
            name = f"{text} ({context})" if context else text
            if (context, text) not in have:
                yield f"{path.name}: lacks a text (make translations): {name}"
                continue
            translation = have[context, text]
            if not translation:
                yield f"{path.name}: not translated: {name}"
            elif blanks(translation) != blanks(text):
                yield f"{path.name}: other words in braces: {name}"
            elif text.endswith(" ") != translation.endswith(" "):
                yield f"{path.name}: must end in a space as the English does, or must not: {name}"
            elif "\\" in translation or any(unicodedata.category(c)[0] == "C" for c in translation):
                yield f"{path.name}: a character that cannot be shown: {name}"
            elif len(translation.encode()) > LONGEST:
                yield f"{path.name}: longer than {LONGEST} bytes: {name}"


def main(arguments):
    if arguments == ["template"]:
        print(template(), end="")
        return 0
    if arguments[:1] == ["check"] and len(arguments) <= 2:
        found = list(faults(pathlib.Path(arguments[1]) if len(arguments) == 2 else HERE))
        print(*found, sep="\n", end="\n" if found else "")
        return 1 if found else 0
    print(__doc__, file=sys.stderr)
    return 64


sys.exit(main(sys.argv[1:]))
