# shellcheck shell=bash
# Part of ./dev: the tests of the service under ThreadSanitizer.

# The rooms that have threads, what they stand on, and the service itself.
readonly thread_targets='traceweird unit_hash unit_spool unit_http unit_notify unit_meters unit_ingest unit_store unit_pipeline unit_api unit_app contract_store'

# The traces are made and analysed by the release's programs: those have a thread each, or their own processes.
lend_programs() { cp build/release/traceweir build/release/make_trace build/tsan/; }

# run_threads: the tests of those programs. A service that a test kills cannot exit with a code, so its reports are files.
run_threads() {
  # shellcheck disable=SC2154  # of ./dev
  local reports=$PWD/$logs/tsan status=0
  rm -f "$reports".*
  TSAN_OPTIONS="exitcode=66 second_deadlock_stack=1 log_path=$reports" run_ctest tsan unit contract http || status=1
  compgen -G "$reports.*" >/dev/null || return "$status"
  cat "$reports".* >&2
  return 1
}

verb_sanitize_thread() {
  export TRACEWEIR_SANITIZED=1
  phase 'build (release)' build_release
  # shellcheck disable=SC2086  # one word per target
  phase 'build (thread sanitizer)' build_preset tsan $thread_targets
  lend_programs
  phase 'tests (thread sanitizer)' run_threads
  closing_line
}
