#include "server/s3/signature.hpp"

#include <doctest/doctest.h>

#include <string>

#include "server/hash/sha256.hpp"

using namespace traceweir;
using namespace traceweir::s3;

namespace {

// Source: AWS, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk", examples.
const Credentials example{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
constexpr const char* time_of_examples = "20130524T000000Z";

struct Row {
  const char* name;
  const char* method;
  const char* path;
  Fields query, more_headers;
  std::string payload;
  const char* signature;
};

std::string signature_of(const Row& row) {
  const std::string payload_hash = hash::sha256_hex(row.payload);
  Fields headers = row.more_headers;
  headers.emplace_back("host", "examplebucket.s3.amazonaws.com");
  headers.emplace_back("x-amz-content-sha256", payload_hash);
  headers.emplace_back("x-amz-date", time_of_examples);
  const std::string whole =
      authorization({row.method, row.path, row.query, headers, payload_hash}, example, "us-east-1", time_of_examples);
  return whole.substr(whole.rfind('=') + 1);
}

}  // namespace

TEST_CASE("signature: the examples of AWS") {
  const Row rows[] = {
      {"get an object",
       "GET",
       "/test.txt",
       {},
       {{"range", "bytes=0-9"}},
       "",
       "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
      {"put an object",
       "PUT",
       "/test$file.text",
       {},
       {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
       "Welcome to Amazon S3.",
       "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
      {"a key without a value",
       "GET",
       "/",
       {{"lifecycle", ""}},
       {},
       "",
       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
      {"list objects",
       "GET",
       "/",
       {{"prefix", "J"}, {"max-keys", "2"}},
       {},
       "",
       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(signature_of(row) == row.signature);
  }
}

TEST_CASE("signature: the header says who signed what") {
  const std::string whole = authorization({"GET", "/b/k", {}, {{"x-amz-date", "20130524T000000Z"}, {"host", "h"}}, ""},
                                          example, "eu-central-1", "20130524T000000Z");
  CHECK(
      whole.starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/eu-central-1/s3/aws4_request,"
                        "SignedHeaders=host;x-amz-date,Signature="));
  CHECK(whole.find(example.secret) == std::string::npos);
}

TEST_CASE("signature: what is encoded") {
  CHECK(encoded("a b/c~d$é", Slashes::encoded) == "a%20b%2Fc~d%24%C3%A9");
  CHECK(encoded("/b/c d", Slashes::kept) == "/b/c%20d");
  CHECK(canonical_query({{"uploads", ""}, {"part Number", "1"}}) == "part%20Number=1&uploads=");
}
