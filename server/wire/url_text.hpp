// For: texts as parts of URLs that we write, in links of the service and in requests of the client.
// Not for: reading URLs.
#pragma once

#include <string>
#include <string_view>

namespace traceweir::wire {

/// Everything but unreserved characters is escaped. Source: RFC 3986, section 2.3.
std::string percent_encoded(std::string_view text);

}  // namespace traceweir::wire
