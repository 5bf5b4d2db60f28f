/// What `--help` shows.
enum HelpTexts {
  static func text(for verb: Verb?) -> String {
    guard let verb else { return overview }
    return "usage: \(usage(verb))\n\n\(explanation(verb))"
  }

  static let overview = """
    usage: whorl COMMAND [ARGUMENT] [OPTION]

    Fingers:
      status             what works, what is missing, and what to do about it
      enroll [FINGER]    enrol a finger (\(FingerName.standard.name) if none is named)
      verify [FINGER]    check a finger
      fingers            list the enrolled fingers
      delete [FINGER]    delete a finger, or all
      adopt [FINGER...]  let fingers that are enrolled already open secrets
        -u, --user NAME  of all but status and adopt: another user's fingers
        -a, --all        of delete: all fingers, without asking

    Readers:
      reader list        list the readers, and which may open secrets
      reader trust [ID]  let a reader open secrets
      reader distrust ID
                         let it open none any more
        -a, --all        of distrust: all readers

    Secrets:
      set NAME           store a secret from standard input or a prompt
      get NAME           write a secret to standard output
      list               list the names of the secrets
      rm NAME            remove a secret
      export FILE        write all secrets to a file under a passphrase
      import FILE        put the secrets of such a file, or of a list, back
        -r, --require WHAT
                         of set: what a new secret asks for, one of
                         \(Requirement.allCases.map(\.rawValue).joined(separator: ", "))
        -c, --accessible WHEN
                         of set: when a new secret can be read at all (always, after-first-unlock,
                         when-unlocked, when-passcode-set)
      unlock             unlock the secrets with your password, once after a login
          --recovery     with the recovery key instead
      lock               lock them again
      keychain check     look at everything that is stored
      keychain rekey     encrypt it anew under new keys
      recover            bring them back after the machine's key was lost
      recovery-key       make a recovery key to write down
          --replace      another one; the one before opens nothing any more
          --revoke       none any more
      log                show what programs were given, and what they were refused

    Login keyring (gnome-keyring's, which the login password opens otherwise):
      keyring enable     let a finger at the login open it
      keyring disable    put it back to the login password
      keyring status     how it is, and which logins open it
      keyring unlock     open it now, with a finger

    Keys (pairs whose private half never leaves whorld):
      key generate NAME  make a key pair, and write its public half
      key list           list the keys
      key public NAME    write the public half of a key
      key sign NAME      sign what comes on standard input
      key delete NAME    delete a key
        -t, --type TYPE  of generate: \(KeyKind.allCases.map(\.rawValue).joined(separator: " or "))
        -r, --require WHAT
                         of generate: what each use asks for, as of set
        -c, --accessible WHEN
                         of generate: when it can be used at all, as of set

    Accounts (for administrators):
      forget NAME        remove all that is kept for an account: fingers and secrets
          --uid NUMBER   instead of a name: what belongs to that uid
        -y, --yes        without asking
      rename-user OLD NEW
                         hand that over to the new name of a renamed account

    Logins (PAM):
      pam status         which logins take a finger, and by which line
      pam check [SERVICE...]
                         who is let in by what, for each login
      pam enable SERVICE
                         let a finger do for a login, such as sudo
      pam disable SERVICE
                         no more
        -n, --dry-run    of both: only show what would change

    Desktop:
      agent              show what programs ask of you, and ask for your password
          --pinentry PATH
                         instead of \(AgentOrder.standardPinentry)
          --terminal     on this terminal instead of a desktop

    Options follow the command. Before a NAME that begins with a dash write --.
    More about a command: whorl help COMMAND

    Options:
          --json         of status, fingers, list, key list, reader list, keychain check, keyring
                         status, log, pam status and pam check: as JSON
      -h, --help         this
      -V, --version      the version

    The manual page whorl(1) has everything, the exit codes too.
    """

  static func usage(_ verb: Verb) -> String {
    switch verb {
    case .status: "whorl status [--json]"
    case .enroll: "whorl enroll [FINGER] [--user NAME]"
    case .verify: "whorl verify [FINGER] [--user NAME]"
    case .fingers: "whorl fingers [--user NAME] [--json]"
    case .delete: "whorl delete [FINGER | --all] [--user NAME]"
    case .adopt: "whorl adopt [FINGER...]"
    case .reader:
      "whorl reader list [--json]\n       whorl reader trust [ID]\n       whorl reader distrust ID | --all"
    case .set: "whorl set NAME [--require WHAT] [--accessible WHEN]"
    case .unlock: "whorl unlock [--recovery]"
    case .lock: "whorl lock"
    case .recover: "whorl recover [--recovery]"
    case .keychain: "whorl keychain check [--json]\n       whorl keychain rekey"
    case .keyring: "whorl keyring enable | disable | unlock\n       whorl keyring status [--json]"
    case .recoveryKey: "whorl recovery-key [--replace | --revoke]"
    case .get: "whorl get NAME"
    case .list: "whorl list [--json]"
    case .rm: "whorl rm NAME"
    case .export: "whorl export FILE [--force] [--passphrase-fd N]"
    case .importFile:
      "whorl import FILE [--skip-existing | --replace] [--passphrase-fd N]\n"
        + "       whorl import FILE --csv|--pairs [--require WHAT] [--accessible WHEN] [--skip-existing | --replace]"
    case .key:
      """
      whorl key generate NAME [--type TYPE] [--require WHAT] [--accessible WHEN]
             whorl key list [--json]
             whorl key public NAME [--raw]
             whorl key sign NAME [--hash HASH] [--digest]
             whorl key delete NAME
      """
    case .forget: "whorl forget NAME [--yes]\n       whorl forget --uid NUMBER [--yes]"
    case .renameUser: "whorl rename-user OLD NEW"
    case .agent:
      "whorl agent [--pinentry PATH]\n"
        + "       whorl agent --terminal [--process PID] [--ready-fd N] [--parent-fd N]"
    case .log: "whorl log [--json]"
    case .pam:
      """
      whorl pam status [--json] [--root DIR]
             whorl pam check [SERVICE...] [--json] [--root DIR]
             whorl pam enable SERVICE [--dry-run] [--root DIR]
             whorl pam disable SERVICE [--restore] [--dry-run] [--root DIR]
      """
    }
  }

  private static func explanation(_ verb: Verb) -> String {
    switch verb {
    case .status:
      """
      Shows the daemon, the reader, the enrolled fingers, the passcode, the safety of the data and the logins that
      take a finger. Exit code 0 if secrets can be kept behind a finger, else that of the first thing missing.
      """
    case .enroll:
      """
      Enrols a finger and checks it with one more touch. Under sudo it is the finger of whoever called sudo.
      On a terminal it asks for your password first: a finger that was enrolled without it opens logins, but no secret
      until whorl adopt. Enter alone goes on without.
      A finger that is enrolled already gets a new print; where the check fails, it is not enrolled any more.
      Where fingers are locked out, your password ends that first.
      Fingers: left- or right- with thumb, index-finger, middle-finger, ring-finger or little-finger.
      """
    case .verify:
      """
      Checks a finger, any enrolled one if none is named. Where fingers are locked out, your password ends that first,
      also where none is enrolled or polkit refuses.
      Exit code 0 on a match and 4 on a miss; other codes say why there was no check, as whorl(1) lists them.
      """
    case .fingers: "Lists the enrolled fingers, one on a line; yours anywhere. Exit code 8 if there is none."
    case .delete:
      """
      Deletes a finger. Without one, all of them, after asking; --all does not ask.
      Secrets that require the current fingers are destroyed by it; they are named first.
      """
    case .adopt:
      """
      Lets fingers open your secrets that open logins so far: those that a settings window, fprintd, or an administrator
      enrolled. Asks for your password. Without a name it means all of them. Where it is clear which reader they were
      enrolled on, that is trusted from then on.
      Secrets that require the current fingers are destroyed by it; they are named first.
      """
    case .reader:
      """
      A secret opens only on a reader that you trust: the one that you enrolled a finger on, at the place where it stood
      then. Another one, or the same at another place, opens logins alone until you trust it with your password.
      reader list shows, with a tab between: id, name, trusted or untrusted, and where it is. trust and distrust take the
      id; trust needs none where only one reader can be meant. distrust asks for no password.
      """
    case .set:
      """
      Stores what comes on standard input, byte for byte, or what is typed twice at a prompt without an echo.
      A secret of that name is replaced, also one that is gone, and goes on requiring what it did.
      --require says what the secret asks for before it comes out:
        presence   a finger, or the passcode where no finger will do (the default)
        any        any enrolled finger
        current    any of the fingers enrolled now; enrolling or deleting one destroys the secret
        passcode   the passcode
        none       nothing
      --accessible says when it can be read at all:
        always              whenever the machine runs (the default)
        after-first-unlock  once your password was given after a login, until you log out
        when-unlocked       as that, and not while your screen is locked
        when-passcode-set   as that, and gone for good once your login password is removed
      All but the first keep the secret encrypted under your password on the disk, and take -this-device-only behind
      them: such a secret is left out of an export.
      """
    case .unlock:
      """
      Unlocks the secrets that are not always accessible: your password once after each login. If that was changed by
      other means since, the one from before, or the recovery key, is asked for once as well.
      """
    case .lock: "Locks the secrets that are not always accessible, until your password is given again."
    case .keychain:
      """
      check looks at every row and key that is stored, and decrypts what is not locked to see that it is whole, without a
      finger and without showing it. Exit code 11 if something is damaged.
      rekey makes new keys and encrypts every secret anew, all of them or none. Takes your password, and ends the recovery
      key.
      """
    case .keyring:
      """
      A finger gives no password, so that after a login by finger the login keyring would stay locked. enable gives the
      keyring another password: a random secret, which Whorl keeps behind your finger and hands on at the login.
      enable   asks for your login password (and for the keyring's, where that is another), proves that the secret opens the
               keyring, and says which logins hand it on. Run it again where it was interrupted
      disable  asks for your login password, gives the keyring that again and forgets the secret. Do this before you
               remove Whorl or its data: nothing else has the secret
      status   not enabled, pending or armed; whether the keyring is open; which logins hand the secret on
      unlock   opens the keyring now, with a finger or your password, without a window
      """
    case .recover:
      """
      Brings your secrets back where the machine's own key to them is lost (firmware that changed under a TPM, a disk in
      another machine): with your password where the key was sealed to a TPM, else with the recovery key.
      whorl status says when that is needed.
      """
    case .recoveryKey:
      """
      Makes a recovery key, which opens all your secrets without your password, without a finger and on another machine.
      It is shown once and kept nowhere: write it down. Takes your password.
      """
    case .get:
      """
      Writes the secret to standard output exactly as it was stored; only on a terminal a newline follows.
      While it waits for the finger, Enter goes on to the passcode where the secret takes one.
      Under sudo it is about root's secrets, as are set, list and rm.
      """
    case .list: "Lists the secrets: name, tab, what it requires (\"gone\" where the fingers changed)."
    case .rm: "Removes a secret without asking."
    case .export:
      """
      Writes all your secrets, those of other programs too, to a new file under a passphrase, which is asked for twice.
      It takes your password, and a finger where one of the secrets asks for one.
      Secrets that are to stay on this device are left out and counted.
        -                  for FILE: standard output
        -f, --force        replace FILE where it exists
        --passphrase-fd N  read the passphrase from that descriptor
      """
    case .importFile:
      """
      Puts all secrets of a file that export wrote into the keychain, or none where something is wrong.
      A finger or the password is asked for only where --replace replaces secrets that ask for them.
        -                  for FILE: standard input
        --skip-existing    keep secrets that are there already; without this or --replace they are an error
        --replace          put the file's in their place
        --csv              FILE is a list instead: name,secret on each line, quoted where need be
        --pairs            FILE is a list instead: NAME=SECRET on each line
        -r, --require WHAT, -c, --accessible WHEN
                           what the secrets of a list ask for (see whorl help set)
        --passphrase-fd N  read the passphrase from that descriptor
      """
    case .key:
      """
      Keeps key pairs whose private half never leaves whorld: it signs there, after what it requires was shown.
      generate   makes a pair and writes the public half (PEM); --type is ed25519 (the default) or p256, --require what
                 each use asks for and --accessible when, as of set; "current" destroys the key once a finger is enrolled or deleted
      list       name, tab, type, tab, what it requires; as list
      public     writes the public half as PEM, with --raw its bytes (65 of p256, 32 of ed25519); asks for nothing
      sign       signs standard input, a mebibyte at most, and writes the signature: 64 bytes of ed25519, DER of p256; in
                 base64 where that is a terminal. Of p256 --hash is sha256 (the default), sha384 or sha512, and with
                 --digest standard input is that hash itself
      delete     deletes a key without asking
      """
    case .forget:
      """
      Removes all that is kept for an account: its secrets, its fingers on the disk and on the chips of the readers that
      are there, and its lockout. For root or an administrator. Works after the account itself was deleted, too.
      Says what it removed, and what could not be removed.
      """
    case .log:
      """
      Shows what became of the requests for your secrets, the oldest first: when, whether the secret was released or why
      it was refused, what was to be done, the secret (#, where it is gone), what it requires, and the program that asked.
      With --json an array of objects.
      """
    case .pam:
      """
      status     each PAM service: whether it asks for a finger, and which line of which file does
      check      plays the whole stack of each service through, includes and all: who is let in by a match, the wrong
                 finger, no reader, the right and the wrong password. Exit code 1 if something is wrong
      enable     puts one line into the service's file, before the password, and keeps a copy of how it was; refuses where
                 anything but a match would let in more than before, where the password would not do any more, or where a
                 match would pass by what a password has to pass
      disable    takes that line out again; with --restore the file is put back as it was before the line
        -n, --dry-run  only show what would change
        --root DIR     the PAM files of the system below DIR
      """
    case .agent:
      """
      Serves the desktop session that it runs in, until it is ended: shows as notifications which programs ask for a
      finger or the password, and for what, with a button that cancels, and collects the password through pinentry,
      for whorld alone. The desktop starts it by itself. Exit code 0 when it is ended or the session is, 14 where
      another one serves the session.
      With --terminal it shows and asks on its terminal instead. Programs start it so by themselves, for as long as they
      wait, where no agent is there; --process PID serves the requests of that process alone, --ready-fd N gets a byte
      once it serves, and it ends when --parent-fd N comes to its end.
      """
    case .renameUser:
      """
      Hands fingers and secrets over to the new name of an account that was renamed (usermod -l). For root.
      Until then they open for nobody.
      """
    }
  }
}
