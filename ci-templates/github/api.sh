# shellcheck shell=bash
# Sourced by the scripts beside it: one request to GitHub's API. The token goes through a file descriptor, not through arguments that
# every process of the machine could read.
command -v jq >/dev/null || {
  echo 'jq is needed for comments and check runs, and this runner has none' >&2
  exit 1
}

# api METHOD PATH [FILE]: the answer on stdout; a status from 400 on fails.
api() {
  local sent=()
  [ $# -lt 3 ] || sent=(--data-binary "@$3")
  curl -fsS --retry 3 -X "$1" "${sent[@]}" -H 'Accept: application/vnd.github+json' -H 'X-GitHub-Api-Version: 2022-11-28' \
    -H @<(printf 'Authorization: Bearer %s' "$GITHUB_TOKEN") "${GITHUB_API_URL:-https://api.github.com}/$2"
}

# event FILTER: a value of the event, or nothing.
event() { jq -r "$1 // empty" "$GITHUB_EVENT_PATH"; }

# The pull request that this is about: what was looked up, else the event's.
pull_request() {
  if [ -n "${PULL_REQUEST:-}" ]; then
    printf '%s' "$PULL_REQUEST"
  else
    event '.pull_request.number'
  fi
}
