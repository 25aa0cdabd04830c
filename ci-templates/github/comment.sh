#!/usr/bin/env bash
# One comment per pull request, project and workload: found again by the hidden marker that MARKDOWN begins with, and changed in place.
set -euo pipefail
# shellcheck source=ci-templates/github/api.sh
. "$(dirname "${BASH_SOURCE[0]}")/api.sh"

number=$(pull_request)
[[ $number =~ ^[0-9]+$ ]] || {
  echo 'no pull request here: no comment'
  exit 0
}
[ -s "${MARKDOWN:-}" ] || {
  echo 'nothing was judged: no comment'
  exit 0
}
marker=$(grep -m 1 -o '<!-- traceweir[^>]*-->' "$MARKDOWN")
body=$(mktemp)
jq -Rs '{body: .}' "$MARKDOWN" >"$body"

# A person may quote the marker: only a comment of a bot that begins with it is ours.
known=
for page in $(seq 10); do
  comments=$(api GET "repos/$GITHUB_REPOSITORY/issues/$number/comments?per_page=100&page=$page")
  known=$(jq -r --arg marker "$marker" 'map(select(.user.type == "Bot" and (.body | startswith($marker)))) | .[0].id // empty' <<<"$comments")
  if [ -n "$known" ] || [ "$(jq length <<<"$comments")" -lt 100 ]; then break; fi
done
if [ -n "$known" ]; then
  api PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" "$body" | jq -r .html_url
else
  api POST "repos/$GITHUB_REPOSITORY/issues/$number/comments" "$body" | jq -r .html_url
fi
