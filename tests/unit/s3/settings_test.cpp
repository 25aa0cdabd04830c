#include "server/s3/settings.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "server/s3/answers.hpp"

using namespace traceweir;
using namespace traceweir::s3;

TEST_CASE("settings: a place is a bucket and a prefix") {
  CHECK(place_of("s3://traces/team/a/").value().prefix == "team/a");
  CHECK(place_of("s3://traces").value().bucket == "traces");
  CHECK(place_of("s3://traces/").value().prefix.empty());
  for (const char* text : {"", "traces", "s3://", "s3://ab", "s3:///x", "s3://user@traces/x", "s3://traces//x",
                           "s3://traces/a b", "s3://traces/?x", "https://traces/x", "s3://a..b/x", "Directory"}) {
    CAPTURE(text);
    CHECK_FALSE(place_of(text));
  }
}

TEST_CASE("settings: an endpoint is one host") {
  CHECK(endpoint_of("https://s3.example.com").value().authority() == "s3.example.com");
  CHECK(endpoint_of("http://[::1]:9000/").value().authority() == "[::1]:9000");
  CHECK(endpoint_of("http://minio:9000").value().port == "9000");
  CHECK(endpoint_of_region("eu-central-1").host == "s3.eu-central-1.amazonaws.com");
  for (const char* text :
       {"", "s3.example.com", "ftp://h", "https://u:p@h", "https://h/path", "https://h?q", "https://"}) {
    CAPTURE(text);
    CHECK_FALSE(endpoint_of(text));
  }
}

// Why: there, clouds hand their machines' credentials to whoever asks (reliability.md, R22).
TEST_CASE("settings: where machines are told their secrets is no endpoint") {
  for (const char* text :
       {"http://169.254.169.254", "http://[fe80::1]", "http://[::ffff:169.254.169.254]", "http://[fd00:ec2::254]",
        "http://100.100.100.200", "http://[64:ff9b::169.254.169.254]", "http://192.0.0.192", "http://0.0.0.0",
        "http://0.1.2.3", "http://[::]", "http://224.0.0.1", "http://[ff02::1]", "http://255.255.255.255"}) {
    CAPTURE(text);
    CHECK_FALSE(endpoint_of(text));
  }
  for (const char* text : {"http://127.0.0.1", "http://10.1.2.3", "http://[fd00::1]", "http://192.168.0.1"})
    CHECK(endpoint_of(text));
}

TEST_CASE("settings: credentials of the AWS tools' file, or of the environment") {
  const std::string file = std::filesystem::temp_directory_path() / "traceweir-credentials-test";
  const auto read = [&](const char* text) {
    std::ofstream(file) << text;
    return CredentialSource{file, {}}.read();
  };
  const Credentials both =
      read("[other]\naws_access_key_id = no\n[default]\naws_access_key_id = KEY\r\naws_secret_access_key=a/b+c=\n")
          .value();
  CHECK(both.key_id == "KEY");
  CHECK(both.secret == "a/b+c=");
  CHECK(read("aws_access_key_id=K\naws_secret_access_key=S\naws_session_token=T\n").value().session_token == "T");
  CHECK_FALSE(read("[other]\naws_access_key_id=K\naws_secret_access_key=S\n"));
  CHECK_FALSE(read("aws_access_key_id=K\n"));
  const auto wrong = read("aws_access_key_id=K\naws_secret_access_key=sec ret\n");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("ret") == wrong.error().message.find("ret_access_key"));
  std::filesystem::remove(file);
  CHECK_FALSE((CredentialSource{file, {}}.read()));
  CHECK((CredentialSource{"", {"K", "S", ""}}.read()));
  CHECK_FALSE((CredentialSource{"", {"K", "", ""}}.read()));
}

TEST_CASE("answers: lists, and what is none") {
  const auto listing = listing_of(
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><IsTruncated>true</IsTruncated><Contents><Key>a&amp;b</Key>"
      "<LastModified>2026-11-30T03:20:00.000Z</LastModified><Size>12</Size></Contents>"
      "<NextContinuationToken>t&lt;1</NextContinuationToken></ListBucketResult>");
  REQUIRE(listing);
  CHECK(listing->next == "t<1");
  REQUIRE(listing->objects.size() == 1);
  CHECK(listing->objects[0].key == "a&b");
  CHECK(listing->objects[0].bytes == 12);
  CHECK(listing->objects[0].modified == 1796008800);
  for (const char* text :
       {"", "<Error><Code>x</Code></Error>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a<b></Key><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t<Contents><Key>a</Key><Size>1</"
        "Size></Contents>"
        "</NextContinuationToken></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size></Contents>",  // cut
        "<ListBucketResult>"}) {
    CAPTURE(text);
    CHECK_FALSE(listing_of(text));
  }
  CHECK(time_of_header("Mon, 30 Nov 2026 03:20:00 GMT") == 1796008800);
  CHECK_FALSE(time_of_header("yesterday"));
  CHECK_FALSE(time_of_list(""));
}
