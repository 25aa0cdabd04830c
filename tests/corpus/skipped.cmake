# Read by ctest after the cases of the program are known: a case that prints SKIPPED is shown as skipped, not as passed.
set_tests_properties(${corpus_TESTS} ${corpus_gate_TESTS} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: no corpus")
