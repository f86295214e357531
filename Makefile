# Millrace. `make build` needs Go, make and git only; `make test` is the test command of the README.
GO      ?= go
# The io_uring driver stands behind a build tag, and giouring pulls syscall.munmap by linkname, which Go >= 1.23
# refuses to link unless told otherwise (docs/adr/0001-io-uring-behind-a-build-tag.md).
TAGS    := uring
LDFLAGS := -checklinkname=0
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GOBUILD := CGO_ENABLED=0 $(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS) -s -w -X main.version=$(VERSION)'
GOTEST  := $(GO) test -tags '$(TAGS) invariants' -ldflags '$(LDFLAGS)'

.PHONY: build run test unit race lint generate dumplog e2e clients kill9 recovery10g kgo groupkill9 groupstorm compaction fuzz bench bench-check clean

build: ## bin/millrace with both drivers
	$(GOBUILD) -o bin/millrace ./cmd/millrace

run: build ## a complete single-node broker on localhost:9092, data in ./data
	bin/millrace serve

test: lint unit ## everything that needs nothing but Go

unit:
	$(GOTEST) ./...

race: ## the packages that share memory between goroutines, with the race detector
	$(GO) test -race -tags '$(TAGS) invariants' -ldflags '$(LDFLAGS)' ./internal/... ./netpoll/... ./engine/... ./controller/... ./vfs/...

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt:"; echo "$$out"; exit 1; fi
	$(GO) vet -tags $(TAGS) ./...

generate: ## reference pages that are made from code
	$(GO) generate ./...

dumplog: ## Kafka's own reader on our files; KAFKA_DUMP_LOG names the tool
	@test -n "$$KAFKA_DUMP_LOG" || { echo "set KAFKA_DUMP_LOG to Apache Kafka's kafka-dump-log"; exit 1; }
	$(GOTEST) -count=1 -run Kafka ./segment/...

e2e: build ## everything in test/ at the size of CI; test/README.md says what it needs
	cd test && go test -count=1 -p 1 -timeout 30m ./...

clients: build ## the million-line matrix of clients and codecs (hours)
	cd test && MILLRACE_LINES=1000000 MILLRACE_READERS=all go test -count=1 -timeout 8h ./clients

kill9: build ## 500 rounds of kill -9 under load
	cd test && MILLRACE_ROUNDS=500 go test -count=1 -timeout 3h -run TestKill9 ./crash

recovery10g: build ## a start after kill -9 with 10 GB kept takes at most a second; needs 10 GB under TMPDIR, removed afterwards
	cd test && MILLRACE_RECOVERY_GB=10 MILLRACE_START_LIMIT=1s go test -count=1 -v -timeout 30m -run TestStartWithMuchKept ./crash

kgo: build ## the test suite of franz-go's kgo at its own size; test/kgo/not-yet.txt says what is left out
	test/kgo/run.sh

groupkill9: build ## 200 rounds of kill -9 while groups commit
	cd test && MILLRACE_ROUNDS=200 go test -count=1 -v -timeout 1h -run TestCommitsSurviveKill9 ./groups

groupstorm: build ## 1,000 groups of 10 members join at once and send heartbeats; opens 10,000 connections
	cd test && MILLRACE_GROUPS=1000 MILLRACE_SECONDS=20 go test -count=1 -v -timeout 10m -run TestManyGroups ./groups

compaction: build ## 10 M updates of 100 k keys, the broker cleans and is killed; 1 GB under TMPDIR, removed afterwards
	cd test && MILLRACE_UPDATES=10000000 MILLRACE_KEYS=100000 MILLRACE_ROUNDS=20 go test -count=1 -v -timeout 2h ./compaction

FUZZTIME ?= 30s
fuzz: ## every fuzz target for FUZZTIME each
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; \
	    $(GOTEST) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$pkg || exit 1; \
	  done; \
	done

bench: build ## floors and both I/O engines, quick sizes; `bin/millrace bench run --help` for the campaign
	bin/millrace bench run --quick

bench-check: build ## a two-minute slice against recorded ratios to the floors; fails on a fall of more than 25 %, twice in a row
	bin/millrace bench check

clean:
	rm -rf bin
