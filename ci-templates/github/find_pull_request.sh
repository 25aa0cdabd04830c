#!/usr/bin/env bash
# Second stage of the fork flow: which pull request the first workflow ran for. Only GitHub is asked, by the event's own repository,
# branch and commit; what the artifact says of itself is a stranger's text. Fetches its commits as objects, so that git knows the merge
# base; nothing of them is checked out or run.
set -euo pipefail
# shellcheck source=ci-templates/github/api.sh
. "$(dirname "${BASH_SOURCE[0]}")/api.sh"

head=$(jq -r '"\(.workflow_run.head_repository.owner.login):\(.workflow_run.head_branch)" | @uri' "$GITHUB_EVENT_PATH")
commit=$(event .workflow_run.head_sha)
found=$(api GET "repos/$GITHUB_REPOSITORY/pulls?state=open&per_page=100&head=$head")
number=$(jq -r --arg sha "$commit" 'map(select(.head.sha == $sha)) | .[0].number // empty' <<<"$found")
base=$(jq -r --arg sha "$commit" 'map(select(.head.sha == $sha)) | .[0].base.ref // empty' <<<"$found")
[[ $number =~ ^[0-9]+$ ]] || {
  echo '::notice title=traceweir::no open pull request has this commit any more: nothing to judge'
  exit 0
}
# The checkout keeps no credentials (persist-credentials: false), and a private repository wants some. By variables, not by arguments.
GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x-access-token:%s' "$GITHUB_TOKEN" | base64 -w 0)"
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.${GITHUB_SERVER_URL:-https://github.com}/.extraheader" GIT_CONFIG_VALUE_0
git check-ref-format --branch "$base" >/dev/null
git fetch -q --no-tags origin "+refs/pull/$number/head:refs/traceweir/pull/$number" "+refs/heads/$base:refs/remotes/origin/$base"
printf 'number=%s\nbase=%s\n' "$number" "$base" >>"$GITHUB_OUTPUT"
