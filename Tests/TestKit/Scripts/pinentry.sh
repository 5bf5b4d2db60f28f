#!/bin/sh
# A pinentry for tests. Beside it: "log" gets each line that it is told, "environment" what it was started with, and
# "answers" has one line for each GETPIN of all its lives, in turn:
#   pin TEXT     as typed (escaped as Assuan wants it)
#   cancel       the person does not want to
#   error CODE   libgpg-error's number
#   say TEXT     these bytes, by printf's rules, and on
#   die          it ends
# Where there is none left, the dialog stays open.
here="${0%/*}"
env | sort > "$here/environment"
[ ! -e "$here/greeting" ] || { cat "$here/greeting"; exec cat > /dev/null; }
echo "OK Pleased to meet you"
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$here/log"
  case "$line" in
    GETPIN*)
      answer="$(sed -n 1p "$here/answers" 2>/dev/null)"
      sed -i 1d "$here/answers" 2>/dev/null
      case "$answer" in
        "pin "*) printf 'D %s\nOK\n' "${answer#pin }" ;;
        cancel) echo "ERR 83886179 Operation cancelled <Pinentry>" ;;
        "error "*) echo "ERR ${answer#error } failed" ;;
        # shellcheck disable=SC2059
        "say "*) printf "${answer#say }" ;;
        die) exit 1 ;;
        *)
          trap 'echo ended >> "$here/log"; exit 0' TERM
          echo open >> "$here/log"
          # Until it is ended, or who started it is gone.
          exec 3<&0
          cat <&3 >/dev/null &
          wait $!
          exit 0
          ;;
      esac
      ;;
    BYE*)
      echo "OK closing"
      exit 0
      ;;
    *) echo "OK" ;;
  esac
done
