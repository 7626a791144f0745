#!/usr/bin/env bash
# Makes the images of the tests in containers, of Debian's packages and the Go
# toolchain in PATH. No image registry is asked. See dockertest.go.
set -euo pipefail

version=1
prefix=millrace-test
cache=${XDG_CACHE_HOME:-$HOME/.cache}/millrace/docker

# Where nothing may be left out, what is missing is an error.
missing() {
  echo "docker: $1: the tests in containers cannot run" >&2
  if [ "${CI:-}" = true ] || [ -n "${MILLRACE_REQUIRE_ALL:-}" ]; then exit 1; fi
  exit 0
}
have() { docker image inspect "$prefix/$1:$version" >/dev/null 2>&1; }

command -v docker >/dev/null || missing "no docker in PATH"
docker info >/dev/null 2>&1 || missing "no daemon answers"
if have python && have go && have busybox; then exit 0; fi

root=$(mktemp -d)
trap 'rm -rf "$root"; docker rm -f "$prefix-making" >/dev/null 2>&1 || true' EXIT

if ! have python || ! have busybox; then
  if [ ! -f "$cache/bookworm-$version.tar" ]; then
    command -v debootstrap >/dev/null || missing "no debootstrap in PATH to make images with"
    [ "$(id -u)" = 0 ] || missing "debootstrap, which makes images, needs root"
    mkdir -p "$cache"
    debootstrap --variant=minbase --include=python3,python3-pytest,git,patch,busybox-static,ca-certificates bookworm "$root" >&2
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
    mkdir -p "$root/testbed"
    tar -C "$root" -cf "$cache/bookworm-$version.tar.part" .
    mv "$cache/bookworm-$version.tar.part" "$cache/bookworm-$version.tar"
  fi
  docker import --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' --change 'WORKDIR /testbed' \
    "$cache/bookworm-$version.tar" "$prefix/python:$version" >/dev/null
fi

if ! have go; then
  docker create --name "$prefix-making" "$prefix/python:$version" true >/dev/null
  tar -C "$(dirname "$(go env GOROOT)")" --transform "s,^$(basename "$(go env GOROOT)"),go," \
    --exclude='*/test' --exclude='*/api' --exclude='*/doc' -c "$(basename "$(go env GOROOT)")" |
    docker cp - "$prefix-making:/usr/local"
  docker commit -c 'ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    -c 'ENV GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0' "$prefix-making" "$prefix/go:$version" >/dev/null
  docker rm -f "$prefix-making" >/dev/null
fi

if ! have busybox; then
  small=$root/small
  mkdir -p "$small/bin" "$small/testbed" "$small/tmp" "$small/etc"
  tar -C "$small" -xf "$cache/bookworm-$version.tar" ./bin/busybox 2>/dev/null || tar -C "$small" -xf "$cache/bookworm-$version.tar" ./usr/bin/busybox
  [ -f "$small/bin/busybox" ] || mv "$small/usr/bin/busybox" "$small/bin/busybox"
  for name in $("$small/bin/busybox" --list); do [ "$name" = busybox ] || ln -sf busybox "$small/bin/$name"; done
  echo 'root:x:0:0:root:/:/bin/sh' >"$small/etc/passwd"
  tar -C "$small" -c . | docker import --change 'ENV PATH=/bin' - "$prefix/busybox:$version" >/dev/null
fi
