// traceweir as one static file that starts on any Linux: what differs from main.cpp is what libraries would load at run
// time.
#include <nss.h>
#include <openssl/crypto.h>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  // Names are looked up in files and DNS, which are in here. Other services would be modules of this machine's own C
  // library, and loading those into another one crashes. Source: glibc, nss/nss_database.c; nsswitch.conf(5).
  __nss_configure_lookup("hosts", "files dns");
  // The machine's openssl.cnf is written for its own OpenSSL and may ask for modules of that.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  return traceweir::cli::run_commands(argc, argv);
}
