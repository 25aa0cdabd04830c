// traceweir: the client and offline tool.
#include "cli/command.hpp"

int main(int argc, char** argv) { return traceweir::cli::run_commands(argc, argv); }
