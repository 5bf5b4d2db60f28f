#!/bin/sh
# A pinentry for tests. Beside it: "log" gets each line that it is told, "environment" what it was started with, and
# "answers" has one line for each GETPIN of all its lives, in turn:
#   pin TEXT     as typed (escaped as Assuan wants it)
#   cancel       the person does not want to
#   error CODE   libgpg-error's number
#   say TEXT     these bytes, by printf's rules, and on
#   die          it ends
# Where there is none left, the dialog stays open, and takes the next one when it gets SIGUSR1 (its number is in "pid").
here="${0%/*}"
env | sort > "$here/environment"
[ ! -e "$here/greeting" ] || { cat "$here/greeting"; exec cat > /dev/null; }
echo "OK Pleased to meet you"
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$here/log"
  case "$line" in
    GETPIN*)
      answer="$(sed -n 1p "$here/answers" 2>/dev/null)"
      if [ -z "$answer" ]; then
        trap 'echo ended >> "$here/log"; exit 0' TERM
        trap : USR1
        echo "$$" > "$here/pid"
        # Until it is ended, told to go on, or who started it is gone.
        exec 3<&0
        cat <&3 >/dev/null &
        echo open >> "$here/log"
        wait $!
        kill $! 2>/dev/null || exit 0
        answer="$(sed -n 1p "$here/answers" 2>/dev/null)"
      fi
      sed -i 1d "$here/answers" 2>/dev/null
      case "$answer" in
        "pin "*) printf 'D %s\nOK\n' "${answer#pin }" ;;
        cancel) echo "ERR 83886179 Operation cancelled <Pinentry>" ;;
        "error "*) echo "ERR ${answer#error } failed" ;;
        # shellcheck disable=SC2059
        "say "*) printf "${answer#say }" ;;
        die) exit 1 ;;
        *) exit 1 ;;
      esac
      ;;
    BYE*)
      echo "OK closing"
      exit 0
      ;;
    *) echo "OK" ;;
  esac
done
