#include "server/http/tls.hpp"

#include <openssl/ssl.h>

#include <system_error>
#include <utility>

namespace traceweir::http {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

/// What TLS 1.2 may use; all of 1.3's are good.
constexpr const char* ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

tl::unexpected<Error> wrong(std::string_view key, const std::string& file, const std::string& why) {
  return fail(ErrorCode::bad_config, std::string(key) + " = '" + file + "': " + why);
}

/// Without it OpenSSL would ask for the password on the terminal.
std::string no_password(std::size_t, ssl::context::password_purpose) { return {}; }

void harden(ssl::context& context) {
  SSL_CTX* const raw = context.native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(raw, ciphers);
  SSL_CTX_set_options(raw, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

}  // namespace

Result<Tls::Taken> Tls::take(const TlsFiles& files) {
  std::error_code missing;
  Taken taken;
  taken.certificate_at = std::filesystem::last_write_time(files.certificate, missing);
  if (missing) return wrong("tls_certificate", files.certificate, missing.message());
  taken.key_at = std::filesystem::last_write_time(files.key, missing);
  if (missing) return wrong("tls_key", files.key, missing.message());

  error_code error;
  taken.context = std::make_unique<ssl::context>(ssl::context::tls_server);
  harden(*taken.context);
  taken.context->set_password_callback(&no_password, error);
  taken.context->use_certificate_chain_file(files.certificate, error);
  if (error) return wrong("tls_certificate", files.certificate, "no certificate in PEM: " + error.message());
  taken.context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error)
    return wrong("tls_key", files.key,
                 "no key in PEM without a password that belongs to the certificate: " + error.message());
  return taken;
}

Result<std::unique_ptr<Tls>> Tls::open(TlsFiles files) {
  TRACEWEIR_TRY(taken, take(files));
  return std::unique_ptr<Tls>(new Tls(std::move(files), std::move(taken)));
}

Result<bool> Tls::reload_if_changed() {
  std::error_code missing;
  const Time certificate_at = std::filesystem::last_write_time(files_.certificate, missing);
  const Time key_at = std::filesystem::last_write_time(files_.key, missing);
  {
    const std::lock_guard lock(mutex_);
    if (!missing && certificate_at == taken_.certificate_at && key_at == taken_.key_at) return false;
  }
  TRACEWEIR_TRY(taken, take(files_));
  const std::lock_guard lock(mutex_);
  taken_ = std::move(taken);
  return true;
}

std::unique_ptr<TlsStream> Tls::stream_over(boost::asio::ip::tcp::socket& socket) const {
  const std::lock_guard lock(mutex_);
  return std::make_unique<TlsStream>(socket, *taken_.context);
}

}  // namespace traceweir::http
