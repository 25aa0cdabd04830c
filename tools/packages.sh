# shellcheck shell=bash disable=SC2034  # read by ./dev
# Every package that the verbs need, and why. Nothing else is assumed on a new Debian 12 machine.
# What building and the demo need; the image (Dockerfile) is built with these.
readonly build_packages='
  g++                    the compiler
  cmake                  the build
  ninja-build            the build
  pkg-config             finds toml++
  libboost1.81-dev       Beast and Asio (HTTP), Math; 1.74, the default, lacks what we use
  libboost-url1.81-dev   targets and queries of requests
  libexpected-dev        errors as values
  nlohmann-json3-dev     JSON of the API and of reports
  libsimdjson-dev        Kineto traces
  libsqlite3-dev         Nsight Systems exports
  libsqlitecpp-dev       the embedded store
  libpqxx-dev            the Postgres store
  libtomlplusplus-dev    policies and configuration
  libcli11-dev           command lines
  libspdlog-dev          the log
  libfmt-dev             text
  prometheus-cpp-dev     counters and the text of GET /metrics
  libssl-dev             hashes, random secrets, TLS of the client
  zlib1g-dev             gzip traces
  libisal-dev            gzip traces, faster; the build does without it too
  libzstd-dev            zstd traces
  libseccomp-dev         the sandbox of the analysing child
  python3                turns the REST contract and the dashboard into sources; lint, tests of programs
  python3-yaml           reads the REST contract
  curl                   demo and tests: curl alone is a full client
  jq                     demo and tests read JSON
'
# Only where `node` and `npm` are not there already, from wherever: Debian's npm brings hundreds of packages.
readonly node_packages='
  nodejs                 bundles the dashboard (18 is enough)
  npm                    installs the few packages that the dashboard is made of
'
readonly test_packages='
  doctest-dev            tests
  postgresql             tests start servers of their own with its programs; the one that Debian sets up is not used
  nginx-light            tests hide requests from it; the bench measures the least that an HTTP answer can cost; its own server is not used
  haproxy                tests hide requests from it; its own server is not used
  pgbouncer              tests run services through it in transaction mode; the one that Debian sets up is not used
  librapidcheck-dev      property tests
  clang-format           format
  clang-tidy             lint
  shellcheck             lint of shell scripts
  python3-jsonschema     tests check answers against the REST contract
  zstd                   the corpus of real traces is packed with it
  strace                 sees which files the service touches
  zsh                    completion is tried in it
  fish                   completion is tried in it
  groff-base             shows the pages of man, and says what is wrong with them
  chromium               tests of the dashboard, in a real browser
  libfaketime            sets the clocks of service and client in the stress test
  valgrind               counts the instructions of two fixed analyses
'
readonly bench_packages='
  python3-pandas         what people write by hand today is one of the references
'
# Of ./dev fuzz alone.
readonly fuzz_packages='
  clang                  libFuzzer
  libclang-rt-14-dev     its library and those of the sanitizers
'
readonly container_packages='
  debootstrap            fresh Debian roots in which the image is built
  iproute2               their network
  python3-yaml           reads docker-compose.yml
  curl                   speaks to the service
'
