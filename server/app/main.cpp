// traceweird: the service.
#include "server/app/commands.hpp"

int main(int argc, char** argv) { return traceweir::app::run_commands(argc, argv); }
