#!/usr/bin/env bash
# A check run on the commit that was measured: of a pull request its head, not the test merge. Rules that protect a branch match its name.
set -euo pipefail
# shellcheck source=ci-templates/github/api.sh
. "$(dirname "${BASH_SOURCE[0]}")/api.sh"

case $EXIT_CODE in
  0) conclusion=success ;;
  1) conclusion=failure ;;
  3) conclusion=neutral ;;
  *) conclusion=action_required ;;
esac
[ "${OUTCOME:-}" != warn ] || conclusion=neutral
commit=$(event '.pull_request.head.sha // .workflow_run.head_sha // .merge_group.head_sha')
body=$(mktemp) text=$(mktemp)
# GitHub takes 65,535 characters.
if [ -s "${MARKDOWN:-}" ]; then head -c 65000 "$MARKDOWN" | iconv -f UTF-8 -t UTF-8 -c >"$text"; else echo 'There is no verdict; the log says why.' >"$text"; fi
jq -n --arg name "$CHECK_NAME" --arg sha "${commit:-$GITHUB_SHA}" --arg conclusion "$conclusion" --arg title "${OUTCOME:-no verdict}" \
  --rawfile text "$text" \
  '{name: $name, head_sha: $sha, status: "completed", conclusion: $conclusion, output: {title: $title, summary: $text}}' >"$body"
api POST "repos/$GITHUB_REPOSITORY/check-runs" "$body" | jq -r .html_url
