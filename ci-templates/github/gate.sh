#!/usr/bin/env bash
# Runs `traceweir gate` on TRACE_FILES (patterns, one a line) and keeps its exit code for the last step, so that comment and check
# run are written whatever it is.
set -euo pipefail

arguments=()
while IFS= read -r line; do
  [ -z "$line" ] || arguments+=("$line")
done <<<"${GATE_ARGUMENTS:-}"
[ -z "${GATE_PROJECT:-}" ] || arguments+=(--project "$GATE_PROJECT")
[ -z "${GATE_WORKLOAD:-}" ] || arguments+=(--workload "$GATE_WORKLOAD")
[ -z "${PULL_REQUEST:-}" ] || export TRACEWEIR_PR="$PULL_REQUEST"
[ -z "${BASE_BRANCH:-}" ] || export TRACEWEIR_BASE_BRANCH="$BASE_BRANCH"

files=()
while IFS= read -r pattern; do
  [ -n "$pattern" ] || continue
  # Sorted by number, so that rank10 comes after rank2; a name that begins with a dash stays a name. Links are left out: in the
  # second stage of the fork flow a stranger chose what they point to.
  while IFS= read -r file; do
    if [ ! -f "$file" ] || [ -L "$file" ]; then continue; fi
    case $file in -*) file=./$file ;; esac
    files+=("$file")
  done < <(compgen -G "$pattern" | sort -V || true)
done <<<"$TRACE_FILES"
[ "${#files[@]}" -gt 0 ] || {
  printf '::error title=traceweir::no trace was found: did the profiling step write one?\n'
  printf 'exit-code=2\n' >>"$GITHUB_OUTPUT"
  exit 0
}

out=$(mktemp -d "${RUNNER_TEMP:-/tmp}/traceweir-XXXXXX")
status=0
# The client writes the output `outcome` by itself.
traceweir gate "${files[@]}" "${arguments[@]}" --markdown "$out/verdict.md" --junit "$out/verdict.xml" --json >"$out/run.json" ||
  status=$?
{
  printf 'exit-code=%s\n' "$status"
  printf 'markdown=%s\n' "$out/verdict.md"
  printf 'junit=%s\n' "$out/verdict.xml"
} >>"$GITHUB_OUTPUT"
