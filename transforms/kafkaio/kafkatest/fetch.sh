#!/bin/sh
# Fetches the Kafka brokers that tests start: the jars of each version below
# testdata, from Maven Central, into the user's cache. What is there is kept.
#
# A machine without Java or Maven is told so and skips those tests, unless CI is
# true or MILLRACE_REQUIRE_ALL is set.
set -eu
cd "$(dirname "$0")"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/millrace/kafka

without() {
  echo "kafka: $1: the tests on a real broker (TestKafka) cannot run" >&2
  if [ "${CI:-}" = true ] || [ -n "${MILLRACE_REQUIRE_ALL:-}" ]; then exit 1; fi
  exit 0
}

command -v java >/dev/null || without "no java in PATH (version 17 or newer is needed)"
for pom in testdata/*/pom.xml; do
  version=$(basename "$(dirname "$pom")")
  if [ -d "$cache/$version" ]; then continue; fi
  command -v mvn >/dev/null || without "no mvn in PATH"
  mkdir -p "$cache"
  part=$(mktemp -d "$cache/.part.XXXXXX") # so that a directory with the version's name is whole
  trap 'rm -rf "$part"' EXIT
  echo "kafka: fetching Apache Kafka $version into $cache"
  mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$part" || without "mvn could not fetch Apache Kafka $version"
  mv "$part" "$cache/$version"
done
