#!/usr/bin/env bash
# A check run on the commit that was measured: of a pull request its head, not the test merge. Rules that protect a branch match its name,
# and accept success, neutral and skipped alike: so without a verdict it is none of them, unless SOFT_FAIL says that this may pass.
set -euo pipefail
# shellcheck source=ci-templates/github/api.sh
. "$(dirname "${BASH_SOURCE[0]}")/api.sh"

# Whoever sends the last rank has the verdict; until then the check is awaited.
if [ "$EXIT_CODE:${OUTCOME:-}" = 0:pending ]; then
  echo 'other ranks are awaited: no check run yet'
  exit 0
fi
case $EXIT_CODE:${OUTCOME:-}:${SOFT_FAIL:-false} in
  0:pass:*) conclusion=success ;;
  # A warning, a baseline that is still built, a project that only observes, a service that may be away.
  0:?*:*) conclusion=neutral ;;
  1:*) conclusion=failure ;;
  3:*:true | 4:*:true) conclusion=neutral ;;
  *) conclusion=action_required ;;
esac
commit=$(event '.pull_request.head.sha // .workflow_run.head_sha // .merge_group.head_sha')
body=$(mktemp) text=$(mktemp)
# GitHub takes 65,535 characters.
if [ -s "${MARKDOWN:-}" ]; then head -c 65000 "$MARKDOWN" | iconv -f UTF-8 -t UTF-8 -c >"$text"; else echo 'There is no verdict; the log says why.' >"$text"; fi
jq -n --arg name "$CHECK_NAME" --arg sha "${commit:-$GITHUB_SHA}" --arg conclusion "$conclusion" --arg title "${OUTCOME:-no verdict}" \
  --rawfile text "$text" \
  '{name: $name, head_sha: $sha, status: "completed", conclusion: $conclusion, output: {title: $title, summary: $text}}' >"$body"
api POST "repos/$GITHUB_REPOSITORY/check-runs" "$body" | jq -r .html_url
