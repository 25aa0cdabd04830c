#!/usr/bin/env bash
# gate.sh TRACE...: the gate with curl alone, for a CI that none of the templates knows. Several traces are ranks of one run.
#
# Variables: TRACEWEIR_URL, TRACEWEIR_TOKEN, TRACEWEIR_PROJECT; TRACEWEIR_WORKLOAD (default), TRACEWEIR_COMMIT (HEAD), TRACEWEIR_BRANCH
# (needed where the checkout is detached, as in most CIs); TRACEWEIR_BASE_BRANCH: whose runs are the baseline (HEAD of origin, else
# main or master, whichever there is);
# TRACEWEIR_BASE and TRACEWEIR_PR where it is a change, TRACEWEIR_FORK=true where it is a stranger's; TRACEWEIR_RUN_KEY: what the
# uploads of one run have in common, new for every run and the same when it is tried again (the build's number).
# Exit codes: 0 pass (or still learning), 1 fail, 2 usage or refused, 3 no verdict or a trace that is refused, 4 the service cannot be
# reached.
#
# `traceweir gate` does more: it finds these facts out itself, tells the ancestors, hashes, compresses, and writes reports.
set -euo pipefail

: "${TRACEWEIR_URL:?}" "${TRACEWEIR_TOKEN:?}" "${TRACEWEIR_PROJECT:?}"
[ $# -gt 0 ] || {
  echo 'usage: gate.sh TRACE...' >&2
  exit 2
}
commit=${TRACEWEIR_COMMIT:-$(git rev-parse HEAD)}
branch=${TRACEWEIR_BRANCH:-$(git rev-parse --abbrev-ref HEAD)}
[ "$branch" != HEAD ] || {
  echo 'traceweir: which branch? The checkout is detached: set TRACEWEIR_BRANCH' >&2
  exit 2
}
# Whose runs are the baseline, by git and in the order of `traceweir gate`; nothing where git does not tell.
default_branch() {
  local head name place
  head=$(git symbolic-ref -q refs/remotes/origin/HEAD 2>/dev/null) || head=
  case $head in refs/remotes/origin/?*)
    printf '%s' "${head#refs/remotes/origin/}"
    return
    ;;
  esac
  for name in main master; do
    for place in refs/remotes/origin refs/remotes/upstream refs/heads; do
      git rev-parse --verify -q "$place/$name" >/dev/null 2>&1 || continue
      printf '%s' "$name"
      return
    done
  done
}
base_branch=${TRACEWEIR_BASE_BRANCH:-$(default_branch)}

for file in "$@"; do
  if [ ! -f "$file" ] || [ ! -r "$file" ]; then
    echo "traceweir: $file: there is no such file, or it cannot be read" >&2
    exit 2
  fi
done
key=${TRACEWEIR_RUN_KEY:-$commit-$(date +%s)}
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# A value of the query; curl's --url-query is younger than many a CI's curl.
encoded() {
  local LC_ALL=C text=$1 i c
  for ((i = 0; i < ${#text}; i++)); do
    c=${text:i:1}
    case $c in
      [a-zA-Z0-9._~-]) printf '%s' "$c" ;;
      *) printf '%%%02X' "$(($(printf '%d' "'$c") & 255))" ;;
    esac
  done
}

# One upload; the file goes as it is, and is never read into memory. Retries are safe: the key makes two of them one.
upload() {
  local file=$1 rank=$2 ranks=$3 query
  query="workload=$(encoded "${TRACEWEIR_WORKLOAD:-default}")&commit=$commit&branch=$(encoded "$branch")&name=$(encoded "$(basename "$file")")"
  [ "$ranks" -eq 1 ] || query+="&rank=$rank&ranks=$ranks&run_key=$(encoded "$key")"
  [ -z "$base_branch" ] || query+="&base_branch=$(encoded "$base_branch")"
  [ -z "${TRACEWEIR_BASE:-}" ] || query+="&base=$TRACEWEIR_BASE"
  [ -z "${TRACEWEIR_PR:-}" ] || query+="&pr=$TRACEWEIR_PR"
  [ -z "${TRACEWEIR_FORK:-}" ] || query+="&fork=$TRACEWEIR_FORK"
  # The token goes through a file descriptor: arguments can be read by every process of the machine.
  curl -sS --retry 4 --retry-connrefused --max-time 700 -o "$answer" -w '%{http_code}' --request POST \
    -H @<(printf 'Authorization: Bearer %s' "$TRACEWEIR_TOKEN") -H "Idempotency-Key: $key/$rank" \
    -H 'Content-Type: application/octet-stream' --upload-file "$file" \
    "$TRACEWEIR_URL/api/v1/projects/$TRACEWEIR_PROJECT/runs?$query"
}

# word KEY: the first string of that key in the answer, quotes in it included, or nothing. With jq it would be `jq -r .verdict.outcome`.
word() { grep -oE "\"$1\":\"([^\"\\\\]|\\\\.)*\"" "$answer" | head -n 1 | sed -E 's/^"[^"]*":"//; s/"$//; s/\\(["\\/])/\1/g' || true; }

rank=0
for file in "$@"; do
  status=$(upload "$file" "$rank" $#) || {
    echo "traceweir: $TRACEWEIR_URL cannot be reached" >&2
    exit 4
  }
  case $status in
    201 | 202) ;;
    5* | 408 | 429)
      echo "traceweir: the service answered $status: $(word detail)" >&2
      exit 4
      ;;
    *)
      echo "traceweir: $file: the service answered $status: $(word detail)" >&2
      # What is wrong with the trace is no verdict; all else is wrong with how it was sent.
      case $(word type) in
        empty_upload | unknown_format | not_a_trace | unsupported_format | malformed_trace | trace_too_large | hash_mismatch | analysis_*) exit 3 ;;
        *) exit 2 ;;
      esac
      ;;
  esac
  rank=$((rank + 1))
done

outcome=$(word outcome)
echo "traceweir: ${outcome:-no verdict}: $(word summary)"
echo "traceweir: $TRACEWEIR_URL$(word html)"
# A project that only observes never fails a build.
if grep -q '"mode":"observe"' "$answer"; then exit 0; fi
case $outcome in
  pass | warn) exit 0 ;;
  fail) exit 1 ;;
  # A baseline that is still being built is no fault of this commit.
  inconclusive) if grep -q '"learning":true' "$answer"; then exit 0; else exit 3; fi ;;
  *) exit 3 ;;
esac
