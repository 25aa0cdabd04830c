// For: the command line of traceweird. stdout carries results only; talk goes to stderr.
// Exit codes: 0 done, 2 usage or configuration, 3 the store or the disk refuses.
// Not for: what a command does in the service.
#pragma once

namespace traceweir::app {

int run_commands(int argc, char** argv);

}  // namespace traceweir::app
