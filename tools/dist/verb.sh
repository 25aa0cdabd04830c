# shellcheck shell=bash
# The verb `dist` of ./dev, which sources this: packages that only it needs, and its phases.

readonly dist_packages='
  git                    the time of the last commit, so that the bytes are the same whoever packs them
  binutils               strip; readelf proves that the client is static
  dpkg-dev               dependencies of the package (dpkg-shlibdeps), sources of libraries without a static form
'
readonly dist_check_packages='
  debootstrap            fresh Debian roots in which it is tried
  iproute2               their network
  openssl                a certificate to be trusted, or not
  lintian                what Debian says of the package
  systemd                systemd-analyze judges the unit
'

build_static() {
  local sources
  sources=$(python3 tools/dist/dist.py fetch) || return 1
  # shellcheck disable=SC2086  # options, one word each
  quiet configure-static.log cmake --preset static $sources && compile static traceweir
}

verb_dist() {
  local check=no options=()
  for option in "$@"; do
    case $option in
      --check) check=yes ;;
      --reuse) options+=(--reuse) ;;
      *) die "dist: unknown option: $option" 2 ;;
    esac
  done
  ensure_packages "$dist_packages"
  [ "$check" = no ] || ensure_packages "$dist_check_packages"
  phase 'build (static)' build_static
  phase 'build (release)' build_release
  phase 'pack' python3 tools/dist/dist.py pack
  [ "$check" = no ] || phase 'check' python3 tools/dist/check.py "${options[@]}"
  print_times
}
