# Run `make help` for the targets. Needs Go, make and git.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 20s

.PHONY: help build test t race fuzz demo perf lint fmt clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

build: ## bin/sluice, and bin/as-git with git and the server commands as links to it
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/sluice ./cmd/sluice
	bin/sluice install bin/as-git

test: build ## vet, Go tests, and the scripts of t/ under stock git and under sluice
	go run ./t/cmd/runtests

t: build ## the scripts of t/ alone (T=t1400 for some of them)
	go run ./t/cmd/runtests -scripts $(T)

race: ## Go tests under the race detector
	go test -race ./...

fuzz: ## every fuzz target for FUZZTIME (20s)
	go run ./t/cmd/fuzzall -fuzztime $(FUZZTIME)

demo: build ## a durable scripted push of Go's own source tree, beside stock git
	t/demo/run

perf: build ## write paths timed against stock git in one run
	t/perf/run

lint: ## gofmt, vet on every platform, shell syntax
	@test -z "$$(gofmt -l cmd gitcompat syncpolicy t)" || { gofmt -l cmd gitcompat syncpolicy t; exit 1; }
	for os in linux darwin windows; do GOOS=$$os go vet ./... && GOOS=$$os CGO_ENABLED=0 go build -o /dev/null ./cmd/sluice || exit 1; done
	for s in t/*.sh t/demo/*.sh t/demo/run t/perf/run; do sh -n $$s || exit 1; done

fmt: ## gofmt
	gofmt -w cmd gitcompat syncpolicy t

clean: ## remove what the targets made
	rm -rf bin
