#!/bin/sh
# Installs what compiling for GPUs takes, by pip, into the user's cache: the headers of
# headers.txt and, where no nvcc is in PATH, the compiler of compiler.txt. What
# is there is kept. The shared libraries that come with the headers are removed: they
# take 1.5 GB, and nothing is linked with them.
set -eu
cd "$(dirname "$0")"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/millrace/cuda

without() {
  echo "cuda: $1: the CUDA library cannot be compiled" >&2
  exit 1
}

# install puts the packages of list $1.txt into the folder $1.
install() {
  home=$cache/$1
  if cmp -s "$1.txt" "$home/$1.txt"; then return; fi
  command -v python3 >/dev/null || without "no python3 in PATH"
  echo "cuda: installing $2 into $home"
  mkdir -p "$cache"
  part=$(mktemp -d "$cache/.part.XXXXXX") # so that a folder with the list's name is whole
  trap 'rm -rf "$part"' EXIT
  chmod 755 "$part"
  python3 -m venv "$part/venv" || without "python3 cannot make a virtual environment (on Debian: install python3-venv)"
  # No code of the packages runs in Python, so those for one version of it serve.
  "$part/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$part" --only-binary=:all: \
    --python-version 3.11 --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
    --platform manylinux2014_x86_64 --platform manylinux2010_x86_64 -r "$1.txt" || without "pip could not install $2"
  rm -rf "$part/venv"
  find "$part" \( -name 'libcublas*.so*' -o -name 'libnvblas*.so*' -o -name 'libcudnn*.so*' -o -name '*.cpython-*.so' \) -delete
  # nvcc looks for its libraries in lib64.
  if [ -d "$part/nvidia/cu13/lib" ]; then ln -s lib "$part/nvidia/cu13/lib64"; fi
  cp "$1.txt" "$part/"
  rm -rf "$home"
  mv "$part" "$home"
}

install headers "the headers of cuDNN"
if ! command -v nvcc >/dev/null; then install compiler "nvcc and the headers of cuBLAS"; fi
