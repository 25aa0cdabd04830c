#!/usr/bin/env bash
# demo.sh [--keep]
# The main job, end to end, on this machine: starts the service on its embedded store, plays eight commits of a small
# training job (traces from make_trace, as torch.profiler and as nsys write them), and shows what a CI log would show.
# The seventh commit stalls the data loader. Ends by itself; --keep leaves the service running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly bin=${TRACEWEIR_BIN_DIR:-$PWD/build/release}
readonly home=$PWD/build/demo
readonly project=demo
readonly stalled_commit=7
readonly subjects=(
  'train: baseline'
  'model: fuse bias and activation'
  'data: shuffle with a fixed seed'
  'docs: how to resume a run'
  'optim: warm up for 200 steps'
  'model: rename the blocks'
  'data: decode images in the training process'
  'Revert "data: decode images in the training process"'
)

keep=no
service=

say() { printf '%s\n' "$*"; }

die() {
  printf 'demo: %s\n' "$1" >&2
  [ ! -s "$home/service.log" ] || tail -n 5 "$home/service.log" >&2
  exit 1
}

stop_service() {
  [ -n "$service" ] || return 0
  kill -TERM "$service" 2>/dev/null || true
  wait "$service" 2>/dev/null || true
  service=
}

free_port() {
  local port
  for port in $(seq 8080 8119); do
    # Nobody answers: the port is free.
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || {
      printf '%s' "$port"
      return
    }
  done
  die 'no free port between 8080 and 8119'
}

start_service() {
  local port
  port=$(free_port)
  export TRACEWEIR_DATA_DIR=$home/service TRACEWEIR_LISTEN=127.0.0.1:$port
  export TRACEWEIR_URL=http://127.0.0.1:$port
  mkdir -p "$TRACEWEIR_DATA_DIR"
  TRACEWEIR_TOKEN=$("$bin/traceweird" token create --project "$project" --scope upload,read 2>"$home/token.log") ||
    die "no token: $(cat "$home/token.log")"
  export TRACEWEIR_TOKEN
  "$bin/traceweird" >"$home/service.log" 2>&1 &
  service=$!
  local tries
  for tries in $(seq 200); do
    curl -sf -o "$home/ready" "$TRACEWEIR_URL/readyz" && return
    kill -0 "$service" 2>/dev/null || die "the service ended (try $tries)"
    sleep 0.05
  done
  die 'the service is not ready after 10 s'
}

# Everyone may read this project, so that the URLs can be looked at in a browser.
make_public() {
  curl -sf -o "$home/public.json" -X PUT -H @<(printf 'Authorization: Bearer %s' "$(cat "$TRACEWEIR_DATA_DIR/admin-token")") \
    --data '{"read_access": "public"}' "$TRACEWEIR_URL/api/v1/projects/$project" || die 'the project cannot be made public'
}

# commit NUMBER SUBJECT: one more commit in the repository of the team whose training job this is. The client asks git
# for its parents, which is how the service knows the order of history.
commit() {
  local date="2026-11-0$1T09:00:00Z"
  GIT_COMMITTER_DATE=$date GIT_AUTHOR_DATE=$date git -C "$home/repository" -c user.name=demo \
    -c user.email=demo@localhost -c commit.gpgsign=false commit -q --allow-empty -m "$2"
}

# gate WORKLOAD FILE COMMIT [BRANCH]: the CI step. Prints its log; returns its exit code.
gate() {
  local status=0
  (cd "$home/repository" && "$bin/traceweir" gate "$2" --project "$project" --workload "$1" --commit "$3" \
    --branch "${4:-main}") >"$home/gate.log" 2>"$home/gate.err" || status=$?
  sed 's/^/    /' "$home/gate.log" "$home/gate.err"
  say "    exit code $status"
  return "$status"
}

play_commit() {
  local number=$1 subject=$2 expected=0 stall=0 sha status format file
  commit "$number" "$subject"
  sha=$(git -C "$home/repository" rev-parse HEAD)
  if [ "$number" -eq "$stalled_commit" ]; then
    expected=1
    stall=5
  fi
  for format in kineto nsys; do
    case $format in
      kineto) file=$home/trace-$number.pt.trace.json ;;
      nsys) file=$home/trace-$number.sqlite ;;
    esac
    "$bin/make_trace" --format "$format" --seed "$number" --stall-loader "$stall" "$file" >>"$home/truth.jsonl"
    say
    say "commit $number  ${sha:0:10}  $subject   (workload ddp-$format)"
    say "  \$ traceweir gate ${file##*/}"
    status=0
    gate "ddp-$format" "$file" "$sha" || status=$?
    [ "$status" -eq "$expected" ] || die "commit $number, $format: exit code $status, expected $expected"
  done
}

# play_more: what makes the dashboard worth a longer look: another branch, and a job of two ranks whose loader lags on one.
play_more() {
  local sha
  git -C "$home/repository" checkout -q -b try/larger-batch
  commit 9 'try: larger batch'
  sha=$(git -C "$home/repository" rev-parse HEAD)
  "$bin/make_trace" --seed 9 --slow-kernel 1.1 "$home/trace-9.pt.trace.json" >>"$home/truth.jsonl"
  gate ddp-kineto "$home/trace-9.pt.trace.json" "$sha" try/larger-batch >"$home/more.log" || true
  git -C "$home/repository" checkout -q main
  "$bin/make_trace" --format nsys --all-ranks --ranks 2 --slow-allreduce 2 "$home/ranks.sqlite" >>"$home/truth.jsonl"
  gate ddp-2ranks "$home/ranks.sqlite" "$(git -C "$home/repository" rev-parse HEAD)" >>"$home/more.log" || true
}

show_history() {
  local workload
  for workload in ddp-kineto ddp-nsys; do
    say
    say "  \$ traceweir history gpu.utilization --project $project --branch main --workload $workload"
    "$bin/traceweir" history gpu.utilization --project "$project" --branch main --workload "$workload" | sed 's/^/    /'
  done
}

show_urls() {
  local query='history?metric=gpu.utilization&branch=main&workload=ddp-kineto'
  say
  if [ "$keep" = yes ]; then say 'To look at:'; else say 'To look at, with the service left running by ./dev demo --keep:'; fi
  say "  $TRACEWEIR_URL/  the dashboard; this project needs no token to be read"
  say "  $TRACEWEIR_URL/projects/$project?workload=ddp-kineto  its history"
  say "  $TRACEWEIR_URL/analyze  drop a trace there, for example one of ${home#"$PWD"/}; it asks for the token below"
  say "  $TRACEWEIR_URL/api/v1/projects/$project/runs"
  say "  $TRACEWEIR_URL/api/v1/projects/$project/$query"
  say "  $TRACEWEIR_URL/api/v1/projects/$project/commits/$1"
  say "  $TRACEWEIR_URL/readyz"
  if [ "$keep" = yes ]; then
    say
    say "The service runs as process $service. Data: ${home#"$PWD"/}/service. Stop it: kill $service"
    say "  export TRACEWEIR_URL=$TRACEWEIR_URL TRACEWEIR_TOKEN=$TRACEWEIR_TOKEN TRACEWEIR_PROJECT=$project"
    say "  ${bin#"$PWD"/}/traceweir runs"
  fi
}

main() {
  case ${1:-} in
    '') ;;
    --keep) keep=yes ;;
    *) die "unknown option: $1 (only --keep)" ;;
  esac
  # A service that an earlier demo kept would lose its data under its feet.
  local kept
  kept=$(cat "$home/pid" 2>/dev/null || true)
  [ -z "$kept" ] || [ "$(readlink "/proc/$kept/exe")" != "$bin/traceweird" ] || kill -TERM "$kept"
  rm -rf "$home"
  mkdir -p "$home"
  trap stop_service EXIT
  local begin=${EPOCHREALTIME/[.,]/} i
  start_service
  make_public
  say "The service answers at $TRACEWEIR_URL (embedded store in ${home#"$PWD"/}/service)."
  git init -q -b main "$home/repository"
  for i in "${!subjects[@]}"; do play_commit $((i + 1)) "${subjects[$i]}"; done
  show_history
  [ "$keep" = no ] || play_more
  show_urls "$(git -C "$home/repository" rev-parse "HEAD~$((${#subjects[@]} - stalled_commit))")"
  [ "$keep" = no ] || {
    printf '%s\n' "$service" >"$home/pid"
    disown "$service"
    service=
  }
  say
  say "Eight commits, two workloads, $(((${EPOCHREALTIME/[.,]/} - begin) / 1000)) ms. The seventh was refused, as it should be."
}

main "$@"
