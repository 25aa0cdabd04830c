#!/usr/bin/env bash
# compiles_or_fails.sh SNIPPET COMPILER FLAG...
# The first line of the snippet is `// compiles` or `// fails: TEXT`: then the compiler must fail and say TEXT.
set -uo pipefail
export LC_ALL=C  # the compiler's own words
snippet=$1
shift
first=$(head -n 1 "$snippet")
said=$("$@" "$snippet" 2>&1)
status=$?
case $first in
  '// compiles')
    [ "$status" -eq 0 ] && exit 0
    printf '%s\n%s: must compile\n' "$said" "$snippet"
    ;;
  '// fails: '*)
    wanted=${first#// fails: }
    [ "$status" -ne 0 ] && grep -qF -- "$wanted" <<<"$said" && exit 0
    printf '%s\n%s: must fail with: %s\n' "$said" "$snippet" "$wanted"
    ;;
  *) printf '%s: begins neither with "// compiles" nor with "// fails: TEXT"\n' "$snippet" ;;
esac
exit 1
