#!/bin/sh
# Takes pam_whorl.so out of the PAM stacks below DESTDIR/etc/pam.d (first argument; empty for the machine's own).
# A line that jumps over a removed line is shortened by one, so that it still lands where it did. A file in which
# that cannot be told is left alone and named, and the exit status is 1.
set -eu
destdir="${1-}"
folder="$destdir/etc/pam.d"
if [ -z "$destdir" ] && command -v pam-auth-update >/dev/null 2>&1 && [ -e /usr/share/pam-configs/whorl ]; then
  pam-auth-update --package --remove whorl whorl-login
fi
[ -d "$folder" ] || exit 0
status=0
for file in "$folder"/*; do
  [ -f "$file" ] && [ ! -L "$file" ] || continue
  grep -q '^[^#]*pam_whorl\.so' "$file" || continue
  new="$folder/.whorl-unwire.$$"
  cp -p "$file" "$new"
  if awk -f - "$file" > "$new.text" <<'AWK'
    # First pass into memory, joining nothing: PAM's continuation lines ("\" at the end) are refused below.
    { line[NR] = $0 }
    END {
      for (i = 1; i <= NR; i++) {
        text = line[i]
        if (text ~ /\\$/) exit 3
        rule[i] = 0
        if (text ~ /^[ \t]*(#|$)/) continue
        rule[i] = 1
        if (text ~ /^[ \t]*@include/) { group[i] = "include"; include[i] = 1; continue }
        split(text, word, /[ \t]+/)
        kind = (word[1] == "" ? word[2] : word[1])
        sub(/^-/, "", kind)
        group[i] = tolower(kind)
        if (text ~ /^[^#]*[ \t](include|substack)[ \t]/) include[i] = 1
        if (text ~ /^[^#]*pam_whorl\.so/) gone[i] = 1
      }
      for (i = 1; i <= NR; i++) {
        if (gone[i]) continue
        text = line[i]
        if (rule[i] && match(text, /\[[^]]*\]/)) {
          before = substr(text, 1, RSTART - 1); control = substr(text, RSTART, RLENGTH)
          after = substr(text, RSTART + RLENGTH); result = ""
          while (match(control, /=[0-9]+/)) {
            jump = substr(control, RSTART + 1, RLENGTH - 1) + 0; passed = 0; shorter = 0
            for (j = i + 1; j <= NR && passed < jump; j++) {
              if (!rule[j]) continue
              if (include[j] && (group[j] == group[i] || group[j] == "include")) { if (whorlAfter(j, i)) exit 3; break }
              if (group[j] != group[i]) continue
              passed++
              if (gone[j]) shorter++
            }
            result = result substr(control, 1, RSTART) (jump - shorter)
            control = substr(control, RSTART + RLENGTH)
          }
          text = before result control after
        }
        print text
      }
    }
    function whorlAfter(from, of,   k) {
      for (k = from; k <= NR; k++) if (gone[k] && group[k] == group[of]) return 1
      return 0
    }
AWK
  then
    cat "$new.text" > "$new"
    mv -f "$new" "$file"
    echo "took pam_whorl.so out of $file"
  else
    echo "$file: cannot tell how to take pam_whorl.so out of it; edit it by hand, then run make uninstall again" >&2
    rm -f "$new"
    status=1
  fi
  rm -f "$new.text"
done
exit "$status"
