#!/bin/sh
# Installs DuckDB, pyarrow and Polars, with which a test reads what was exported:
# the versions in testdata/requirements.txt, by pip, into the user's cache.
#
# A machine without Python is told so and skips that test, unless CI is true or
# MILLRACE_REQUIRE_ALL is set.
set -eu
cd "$(dirname "$0")"
home=${XDG_CACHE_HOME:-$HOME/.cache}/millrace/python

without() {
  echo "python: $1: the test of other engines on our files (TestOtherEnginesReadManyRuns) cannot run" >&2
  if [ "${CI:-}" = true ] || [ -n "${MILLRACE_REQUIRE_ALL:-}" ]; then exit 1; fi
  exit 0
}

if cmp -s testdata/requirements.txt "$home/requirements.txt"; then exit 0; fi
command -v python3 >/dev/null || without "no python3 in PATH"
echo "python: installing DuckDB, pyarrow and Polars into $home"
rm -rf "$home"
python3 -m venv "$home" || without "python3 cannot make a virtual environment (on Debian: install python3-venv)"
"$home/bin/pip" install --quiet --disable-pip-version-check -r testdata/requirements.txt || without "pip could not install them"
cp testdata/requirements.txt "$home/" # last: a home that has it is whole
