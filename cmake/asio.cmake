# Asio and Beast compiled once, instead of into every file that uses them: their own way to do so. traceweir::asio is that
# library; the definitions are with everybody's flags (warnings.cmake), since all files of a program have to agree on them.
set(asio_source ${CMAKE_BINARY_DIR}/asio.cpp)
file(CONFIGURE OUTPUT ${asio_source} CONTENT "// What is not a template of Asio, its TLS streams and Beast.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
")
add_library(traceweir_asio STATIC ${asio_source})
add_library(traceweir::asio ALIAS traceweir_asio)
target_link_libraries(traceweir_asio PUBLIC traceweir_flags Boost::headers OpenSSL::SSL Threads::Threads)
