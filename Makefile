# Everything is built by the Go toolchain alone; nothing here needs a C compiler.
export CGO_ENABLED = 0

SEED  ?= 7
RUN   ?= runs/seed-$(SEED)
KILLS ?= 20

.PHONY: build run test kafka flink python docker chaos bench lint warmstart clean

build: ## compile bin/millrace
	go build -trimpath -ldflags='-s -w' -o bin/millrace .

run: build ## the main job: train the default agent, embedded, no services needed; goes on with a run that was stopped
	bin/millrace train --dir $(RUN) --seed $(SEED) $(if $(wildcard $(RUN)/config.yaml),--resume)

test: kafka flink python docker ## vet and every test; one package at a time, since some start clusters of processes
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
