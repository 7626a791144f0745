#!/bin/sh
# Runs on a machine with a GPU what "make gpu-programs" built, there or elsewhere:
#
#   gpu.sh test              unit tests, the same under compute-sanitizer, tests of the Go package
#   gpu.sh parity            the trainer against Hugging Face transformers
#   gpu.sh bench PART...     speed and memory against PyTorch; without a part it lists them
#
# Neither Go nor nvcc is needed, nor a network. What is missing is named, and nothing
# is run without it. LIBRARY names another library, such as the emulated one.
set -eu
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}
library=${LIBRARY:-build/libmillrace_cuda.so}
missing=

need() { # what, then a command that succeeds where it is there
  what=$1; shift
  if ! "$@" >/dev/null 2>&1; then missing="$missing
  $what"; fi
}
need_built() { need "kernels/cuda/build/$1: make gpu-programs builds it, where Go and a C++ compiler are" test -x "build/$1"; }
need_python() { need "$PYTHON with $1 (PYTHON names another Python)" "$PYTHON" -c "import $1"; }
need_gpu() {
  need "a GPU that nvidia-smi lists" nvidia-smi -L
  need "cuBLASLt and cuDNN: a Python package nvidia, or MILLRACE_CUDA_LIBRARIES" test -n "$MILLRACE_CUDA_LIBRARIES"
}
start() {
  if [ -n "$missing" ]; then
    echo "gpu.sh: this needs$missing" >&2
    exit 1
  fi
  if command -v nvidia-smi >/dev/null; then nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader; fi
}

# torch's own copies of NVIDIA's libraries serve where none is installed for all.
: "${MILLRACE_CUDA_LIBRARIES:=$("$PYTHON" -c 'import nvidia; print(":".join(nvidia.__path__))' 2>/dev/null || true)}"
MILLRACE_CUDA=$(realpath -m "$library")
PYTHONDONTWRITEBYTECODE=1
export MILLRACE_CUDA MILLRACE_CUDA_LIBRARIES PYTHONDONTWRITEBYTECODE

sanitize() { # tool
  echo "== unit tests under compute-sanitizer's $1"
  # Tests that ask for too much memory get CUDA's error, which is not one of theirs.
  compute-sanitizer --tool "$1" --error-exitcode 9 --report-api-errors no build/millrace_cuda_test
}

case ${1:-} in
test)
  need_gpu
  need_built millrace_cuda_test
  need_built cuda.test
  need_built libmillrace_cuda.so
  need "compute-sanitizer, which comes with CUDA's toolkit, in PATH" command -v compute-sanitizer
  start
  echo "== unit tests"
  build/millrace_cuda_test
  sanitize memcheck
  sanitize racecheck
  echo "== tests of the Go package"
  MILLRACE_REQUIRE_ALL=1 build/cuda.test -test.timeout 5m
  ;;
parity)
  need "$library: make gpu-programs builds it" test -e "$library"
  need_built parity
  need_python torch
  need_python transformers
  need_python safetensors
  set -- --program build/parity
  if [ -z "${LIBRARY:-}" ]; then
    need_gpu
    set -- "$@" --device cuda --size large
  fi
  start
  exec "$PYTHON" parity/parity.py "$@"
  ;;
bench)
  shift
  need_gpu
  need_built bench
  need_built millrace_cuda_bench
  need_built libmillrace_cuda.so
  need_python torch
  need_python transformers
  need_python safetensors
  start
  exec "$PYTHON" bench/bench.py "$@"
  ;;
*)
  echo "usage: gpu.sh test | parity | bench PART..." >&2
  exit 2
  ;;
esac
