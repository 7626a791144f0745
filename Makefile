# The binary is built by the Go toolchain alone; only the CUDA library, which it loads
# where there is a GPU, needs a C++ compiler.
export CGO_ENABLED = 0

SEED  ?= 7
RUN   ?= runs/seed-$(SEED)
KILLS ?= 20

.PHONY: build run test kafka flink python docker emulator cuda cuda-test gpu-programs test-gpu parity-gpu bench-gpu chaos bench lint warmstart clean

build: ## compile bin/millrace
	go build -trimpath -ldflags='-s -w' -o bin/millrace .

run: build ## the main job: train the default agent, embedded, no services needed; goes on with a run that was stopped
	bin/millrace train --dir $(RUN) --seed $(SEED) $(if $(wildcard $(RUN)/config.yaml),--resume)

test: kafka flink python docker emulator ## vet and every test; one package at a time, since some start clusters of processes
	go vet ./...
	go test -p 1 -timeout 20m ./...

kafka: ## fetch the Kafka brokers that tests start, by Maven, into the user's cache
	transforms/kafkaio/kafkatest/fetch.sh

flink: ## fetch Apache Flink, for the tests on a real cluster, by Maven into the user's cache
	@if command -v java >/dev/null && command -v mvn >/dev/null; then go run . flink fetch; \
	else echo "flink: no java or no mvn in PATH: the tests on a real cluster (TestFlink) cannot run" >&2; \
	  test "$${CI:-}" != true -a -z "$${MILLRACE_REQUIRE_ALL:-}"; fi

python: ## install DuckDB, pyarrow and Polars, for the test that reads our files with them, into the user's cache
	pipelines/export/python.sh

docker: ## make the images of the tests in containers, with debootstrap; needs a Docker daemon
	transforms/sandbox/docker/dockertest/images.sh

emulator: ## compile the CUDA library for this machine's CPU, for the tests of kernels/cuda; needs a C++ compiler
	@if command -v g++ >/dev/null && [ "$$(uname -sm)" = "Linux x86_64" ]; then $(MAKE) -C kernels/cuda host; \
	else echo "emulator: no g++ for x86-64 in PATH: the tests of kernels/cuda cannot run" >&2; \
	  test "$${CI:-}" != true -a -z "$${MILLRACE_REQUIRE_ALL:-}"; fi

cuda: ## compile the CUDA library and its tests, for GPUs; without nvcc in PATH it is installed by pip into the user's cache
	$(MAKE) -C kernels/cuda gpu gpu-test-binary

cuda-test: ## run the CUDA library's tests on this machine's CPU, with g++ and no GPU
	$(MAKE) -C kernels/cuda host test

gpu-programs: cuda ## build what the next three need, which then run on a machine without Go or a compiler
	$(MAKE) -C kernels/cuda gpu-bench-binary
	go test -c -o kernels/cuda/build/cuda.test ./kernels/cuda
	go build -o kernels/cuda/build/ ./kernels/cuda/parity ./kernels/cuda/bench

BUILT_HERE := $(if $(shell command -v go),gpu-programs)

test-gpu: $(BUILT_HERE) ## every test of the CUDA library on this machine's GPU, also under compute-sanitizer
	kernels/cuda/gpu.sh test

parity-gpu: $(BUILT_HERE) ## the GPU learner against Hugging Face transformers; needs torch and transformers
	kernels/cuda/gpu.sh parity

bench-gpu: $(BUILT_HERE) ## the GPU learner against PyTorch, one PART a call: docs/gpu.md lists them
	kernels/cuda/gpu.sh bench $(PART)

chaos: ## kill and disturb the processes of a run, KILLS times by the schedule of SEED, and count what became of it
	go build -trimpath -o bin/chaos ./runners/chaos/cmd/chaos
	bin/chaos --seed $(SEED) --kills $(KILLS)

bench: build ## speed, as ratios within one run
	go test -run '^$$' -bench . -benchtime 1s ./schemas ./kernels/... ./transforms/... ./runners/embedded

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

warmstart: build ## make the shipped warm start again, from nothing
	bin/millrace warmstart --out pipelines/train/policy

clean:
	rm -rf bin
