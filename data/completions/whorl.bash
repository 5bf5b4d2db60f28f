# Completion of whorl(1) for bash. Names of secrets are asked of the daemon, which gives them without a finger.
_whorl() {
  local words=("${COMP_WORDS[@]}") current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  local commands='status enroll verify fingers delete adopt reader set get list rm export import unlock lock recover recovery-key keychain keyring key forget rename-user pam agent log help'
  local fingers='left-thumb left-index-finger left-middle-finger left-ring-finger left-little-finger
    right-thumb right-index-finger right-middle-finger right-ring-finger right-little-finger'
  local command='' word index options='' first='' operands=0 ended='' value='' IFS=$' \t\n'
  COMPREPLY=()

  for ((index = 1; index < COMP_CWORD; index++)); do
    word="${words[index]}"
    if [[ -n $value ]]; then
      value=''
    elif [[ -z $command ]]; then
      [[ $word == -* ]] || command="$word"
    elif [[ -z $ended && $word == -- ]]; then
      ended=yes
    elif [[ -z $ended && $word == -* ]]; then
      # The value of --option=value comes as words of its own: "=" and the value.
      [[ $word == @(--user|-u|--require|-r|--accessible|-c|--uid|--type|-t|--hash|--passphrase-fd|--pinentry|--process|--ready-fd|--parent-fd|--root) && ${words[index + 1]-} != '=' ]] &&
        value=yes
    elif [[ $word == '=' ]]; then
      value=yes
    else
      [[ $operands == 0 ]] && first="$word"
      operands=$((operands + 1))
    fi
  done
  [[ $current == '=' ]] && current=''
  [[ $previous == '=' ]] && previous="${COMP_WORDS[COMP_CWORD - 2]}" && value=yes
  [[ ${COMP_WORDS[COMP_CWORD]} == '=' ]] && value=yes

  if [[ -n $value ]]; then
    case $previous in
      --user | -u) mapfile -t COMPREPLY < <(compgen -u -- "$current") ;;
      --pinentry) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
      --require | -r) mapfile -t COMPREPLY < <(compgen -W 'any current presence passcode none' -- "$current") ;;
      --root) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
      --type | -t) mapfile -t COMPREPLY < <(compgen -W 'ed25519 p256' -- "$current") ;;
      --hash) mapfile -t COMPREPLY < <(compgen -W 'sha256 sha384 sha512' -- "$current") ;;
      --accessible | -c)
        mapfile -t COMPREPLY < <(
          compgen -W 'always after-first-unlock when-unlocked when-passcode-set' -- "$current")
        ;;
    esac
    return
  fi
  case $command in
    '') options='--help --version' ;;
    enroll | verify) options='--user --help' ;;
    fingers) options='--user --json --help' ;;
    delete) options='--all --user --help' ;;
    set) options='--require --accessible --help' ;;
    unlock | recover) options='--recovery --help' ;;
    recovery-key) options='--replace --revoke --help' ;;
    export) options='--force --passphrase-fd --help' ;;
    import) options='--csv --pairs --skip-existing --replace --require --accessible --passphrase-fd --help' ;;
    forget) options='--uid --yes --help' ;;
    reader) options='--all --json --help' ;;
    status | list | keychain | keyring | log) options='--json --help' ;;
    agent) options='--pinentry --terminal --process --ready-fd --parent-fd --help' ;;
    key)
      case $first in
        generate) options='--type --require --accessible --help' ;;
        public) options='--raw --help' ;;
        sign) options='--hash --digest --help' ;;
        list) options='--json --help' ;;
        *) options='--help' ;;
      esac
      ;;
    pam)
      case $first in
        enable) options='--dry-run --root --help' ;;
        disable) options='--dry-run --restore --root --help' ;;
        status | check) options='--json --root --help' ;;
        *) options='--help' ;;
      esac
      ;;
    adopt | get | rm | lock | rename-user) options='--help' ;;
  esac
  if [[ -z $ended && $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  if [[ $command == reader && $operands == 1 ]]; then
    # The ids, the first word of each line.
    local readers
    readers="$("${words[0]}" reader list 2>/dev/null </dev/null | cut -f1)"
    mapfile -t COMPREPLY < <(compgen -W "$readers" -- "$current")
    return
  fi
  if [[ $command == pam && $operands -ge 1 ]]; then
    [[ $first == check || ($first == @(enable|disable) && $operands == 1) ]] || return
    # The services, the first word of each line that has one.
    local services
    services="$("${words[0]}" pam status 2>/dev/null </dev/null | cut -f1)"
    mapfile -t COMPREPLY < <(compgen -W "$services" -- "$current")
    return
  fi
  [[ $operands == 0 || $command == adopt || ($command == key && $operands == 1) ]] || return
  case $command in
    '') mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current") ;;
    help) mapfile -t COMPREPLY < <(compgen -W "${commands% help}" -- "$current") ;;
    enroll) mapfile -t COMPREPLY < <(compgen -W "$fingers" -- "$current") ;;
    keyring) mapfile -t COMPREPLY < <(compgen -W 'enable disable status unlock' -- "$current") ;;
    keychain) mapfile -t COMPREPLY < <(compgen -W 'check rekey' -- "$current") ;;
    forget | rename-user) mapfile -t COMPREPLY < <(compgen -u -- "$current") ;;
    reader) mapfile -t COMPREPLY < <(compgen -W 'list trust distrust' -- "$current") ;;
    pam) mapfile -t COMPREPLY < <(compgen -W 'enable disable status check' -- "$current") ;;
    verify | delete | adopt)
      local enrolled
      enrolled="$("${words[0]}" fingers 2>/dev/null </dev/null | cut -f1)"
      mapfile -t COMPREPLY < <(compgen -W "${enrolled:-$fingers}" -- "$current")
      ;;
    export | import)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      ;;
    key)
      local key
      case $first in
        '') mapfile -t COMPREPLY < <(compgen -W 'generate list public sign delete' -- "$current") ;;
        public | sign | delete)
          while IFS=$'\t' read -r key _; do
            [[ $key == *\\* || $key != "$current"* ]] || COMPREPLY+=("$(printf %q "$key")")
          done < <("${words[0]}" key list 2>/dev/null </dev/null)
          ;;
      esac
      ;;
    set | get | rm)
      # One name on a line; names with characters that whorl shows escaped are left out, the others are quoted.
      local name
      while IFS=$'\t' read -r name _; do
        [[ $name == *\\* || $name != "$current"* ]] || COMPREPLY+=("$(printf %q "$name")")
      done < <("${words[0]}" list 2>/dev/null </dev/null)
      ;;
  esac
}
complete -F _whorl whorl
