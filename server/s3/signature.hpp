// For: AWS Signature Version 4 of one request, in its headers, with the payload's hash in it. Not for: sending it.
// Source: AWS, "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)", single chunk.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceweir::s3 {

struct Credentials {
  std::string key_id, secret;
  std::string session_token;  ///< of temporary credentials; empty: none
};

using Fields = std::vector<std::pair<std::string, std::string>>;

/// What is signed. Shape: the path begins with '/' and is neither encoded nor normalised (S3 does not); names of
/// headers are lower-case; `host`, `x-amz-date` and `x-amz-content-sha256` are among the headers.
struct Signable {
  std::string_view method, path;
  Fields query, headers;
  std::string payload_sha256;
};

/// `text` percent-encoded as the signature wants it; with `slashes` kept, a path.
enum class Slashes { encoded, kept };
std::string encoded(std::string_view text, Slashes slashes);

/// The query as it is signed and sent: encoded, sorted, each key with its '='. Empty: none.
std::string canonical_query(Fields query);

/// The value of the Authorization header.
/// Units: `time` is the value of x-amz-date: `20130524T000000Z`.
std::string authorization(const Signable& request, const Credentials& credentials, std::string_view region,
                          std::string_view time);

}  // namespace traceweir::s3
