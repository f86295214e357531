# Millrace. `make build` needs Go, make and git only; `make test` is the test command of the README.
GO      ?= go
# The io_uring driver stands behind a build tag, and giouring pulls syscall.munmap by linkname, which Go >= 1.23
# refuses to link unless told otherwise (docs/adr/0001-io-uring-behind-a-build-tag.md).
TAGS    := uring
LDFLAGS := -checklinkname=0
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GOBUILD := CGO_ENABLED=0 $(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS) -s -w -X main.version=$(VERSION)'
GOTEST  := $(GO) test -tags '$(TAGS) invariants' -ldflags '$(LDFLAGS)'

.PHONY: build test unit race lint generate fuzz clean

build: ## bin/millrace with both drivers
	$(GOBUILD) -o bin/millrace ./cmd/millrace

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

clean:
	rm -rf bin
