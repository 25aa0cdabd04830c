# shellcheck shell=bash
# Part of ./dev: the rows of tests/stress. On stdout a line for each row and nothing else.
verb_stress() {
  {
    phase 'build (release)' build_release
    phase 'build (tests)' compile release test_programs
    phase 'packages of the browser tests' quiet web-packages.log node server/web/build.mjs --work build/web --with-tests
  } >&2
  TRACEWEIR_BIN_DIR=$PWD/build/release TRACEWEIR_MAKE_TRACE=$PWD/build/release/make_trace \
    TRACEWEIR_WEB_WORK=$PWD/build/web PYTHONPATH=$PWD/tests/support PYTHONDONTWRITEBYTECODE=1 \
    python3 tests/stress/run.py "$@"
}

# The lines of the rows that the last test run had, which ctest keeps to itself.
stress_lines() {
  grep -hE '^R[0-9]+ (pass|fail) ' build/release/Testing/Temporary/LastTest.log 2>/dev/null | sort -V || true
}
