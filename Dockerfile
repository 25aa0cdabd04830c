# The service as an image: traceweird, and beside it the traceweir that reads traces in a process of its own.
# `./dev containers` runs these very instructions in fresh roots; it knows the instructions that are used here.

FROM debian:12-slim AS build
WORKDIR /src
COPY . .
RUN ./dev build

FROM debian:12-slim
# Shared libraries of the two programs; curl asks /readyz for the health check.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates curl libboost-url1.81.0 libfmt9 libisal2 libpq5 libpqxx-6.4 libprometheus-cpp-core1.0 libseccomp2 libsimdjson14 libspdlog1.10 libsqlite3-0 libssl3 \
      libstdc++6 libtomlplusplus3 libzstd1 zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /var/lib/traceweir --shell /usr/sbin/nologin traceweir \
 && install -d -o traceweir -g traceweir -m 0750 /var/lib/traceweir
COPY --from=build /src/build/release/traceweird /src/build/release/traceweir /usr/local/bin/
# A library that is missing shows here and not at the first upload.
RUN traceweird --version && traceweir --version
USER traceweir
ENV TRACEWEIR_LISTEN=0.0.0.0:8080 TRACEWEIR_DATA_DIR=/var/lib/traceweir
VOLUME /var/lib/traceweir
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD curl -fsS http://127.0.0.1:8080/readyz
ENTRYPOINT ["traceweird"]
