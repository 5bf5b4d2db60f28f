# To be read by the scripts that run tests: one folder for all that they and what they start leave behind, gone at the end,
# however that comes. Its path is short, for a socket's has 108 bytes; other users may pass through it, for some tests have
# programs of theirs.
TMPDIR="$(mktemp -d "${TMPDIR:-/tmp}/w.XXXXXX")"
export TMPDIR
chmod 0711 "$TMPDIR"
remove_temporary() {
  # What has been told to end may still write for a moment.
  rm -rf "$TMPDIR" 2>/dev/null || { sleep 1; rm -rf "$TMPDIR"; }
}
trap remove_temporary EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
