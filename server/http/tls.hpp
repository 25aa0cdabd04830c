// For: the certificate that the service shows, and taking a renewed one while it runs.
// Not for: connections (wire.hpp).
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "analyzer/core/error.hpp"

namespace traceweir::http {

/// TLS over a socket that is somebody else's.
using TlsStream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>;

struct TlsFiles {
  std::string certificate;  ///< PEM: the certificate and those between it and its authority
  std::string key;          ///< PEM, not encrypted
};

/// TLS 1.2 and 1.3, with ciphers that keep what was said secret from whoever gets the key later.
/// Thread: any.
class Tls {
 public:
  /// Errors: bad_config, naming the file: it cannot be read, is no PEM, or the key is not the certificate's.
  static Result<std::unique_ptr<Tls>> open(TlsFiles files);

  /// Reads the files again where they have changed since they were taken; whether they had. Connections that are open
  /// keep what they have. Errors: as open(); what was taken before stays in use.
  Result<bool> reload_if_changed();

  /// For a new connection.
  [[nodiscard]] std::unique_ptr<TlsStream> stream_over(boost::asio::ip::tcp::socket& socket) const;

 private:
  using Time = std::filesystem::file_time_type;
  struct Taken {
    std::unique_ptr<boost::asio::ssl::context> context;
    Time certificate_at, key_at;
  };

  Tls(TlsFiles files, Taken taken) : files_(std::move(files)), taken_(std::move(taken)) {}
  /// Errors: as open().
  static Result<Taken> take(const TlsFiles& files);

  TlsFiles files_;
  mutable std::mutex mutex_;
  Taken taken_;
};

}  // namespace traceweir::http
