// For: a row as a line of text and back: what a backup holds, and what hashes are taken of. The text is the same
// whichever database the row is in. Not for: which rows (tables.hpp).
// Shape: values in the order of the columns, separated by tabs; the line ends in a newline. NULL is \N; in texts \,
// tab, newline and carriage return are written \\ \t \n \r. Numbers are the shortest decimals that read back as the
// same. Source: the text format of COPY, PostgreSQL's documentation.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/store/tables.hpp"

namespace traceweir::store {

void append_row(std::string& text, const Row& row);

/// `line` without its newline. Errors: bad_body, naming the table and the column.
Result<Row> row_of(const TableShape& table, std::string_view line);

}  // namespace traceweir::store
