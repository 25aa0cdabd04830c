// For: SQLite on an open descriptor. It reads by offset from that descriptor alone: no path, no lock, no journal, no
// second file, no clock, so that a process which may open nothing any more can still read a database.
// Not for: writing; databases of our own.
#pragma once

namespace traceweir::ingest {

/// The name under which it is registered with SQLite. The file name to open is the descriptor's number in decimal; it
/// is not closed. The file is taken as one that never changes.
/// Thread: any.
const char* descriptor_vfs();

}  // namespace traceweir::ingest
