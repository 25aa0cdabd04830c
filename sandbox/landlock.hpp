// For: the second wall: a Landlock domain without a single rule. Not for: the filter of system calls (sandbox.cpp).
#pragma once

namespace traceweir::sandbox {

/// Closes every file, every TCP port, abstract sockets and signals of other processes to this thread and what it
/// starts, as far as the kernel's version of Landlock knows them. Gives that version; 0: there is no Landlock, or it
/// was refused. Source: landlock(7), versions 1 to 7.
int apply_landlock();

}  // namespace traceweir::sandbox
