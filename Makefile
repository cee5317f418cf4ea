# Antiphon. `make` lists what there is; `make talk` and `make test` are the two that matter.

PORT     ?= 8080
PIPELINE ?= best
MODELS   ?= neural-en
FUZZTIME ?= 20s
BENCH    ?= .
N        ?= 20000
SEED     ?=

# Go's own installer puts it here; and a Go that is only a little too old may fetch the one that go.mod asks for.
export PATH := $(PATH):/usr/local/go/bin
export GOTOOLCHAIN ?= auto
# A checkout that git does not trust must still build. Without the paths of a clone, all clones share what was compiled.
export GOFLAGS := $(strip $(filter-out -buildvcs=false -trimpath,$(GOFLAGS)) -buildvcs=false -trimpath)
# No C: the binary needs none, and every step then shares what was compiled. The race detector alone turns it on.
export CGO_ENABLED := 0
# How long a test of gomega waits that names no time. Its own default is 1 s, and a busy machine may stand still for longer. Only a failing
# test waits to the end.
export GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT ?= 20s

# What a browser runs.
SHARED   := ./coord/... ./wire/... ./internal/coord/... ./internal/coordtest/... ./internal/projection/... ./internal/voice/... ./sdk/... ./wasm/... ./web/...
LINT     := $(CURDIR)/.cache/bin/golangci-lint

.DEFAULT_GOAL := help

##@ Use
.PHONY: help talk cluster build sdk sdk-budget doctor

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z0-9-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

talk: ## Set up what is missing, build, and serve the Talk page (PORT=8080; MODELS=none fetches no neural models)
	@MODELS=$(MODELS) scripts/setup.sh talk
	@scripts/talk.sh $(PORT) $(PIPELINE) $(MODELS)

cluster: ## Serve the Talk page with three servers on one NATS server behind Caddy, on this machine; says how to kill each (PORT=8080)
	@MODELS=none scripts/setup.sh cluster
	@# The script gets a process group of its own (bash -m): Ctrl-C ends the script alone, and make ends without an error.
	@bash -mc '"$$@"' cluster scripts/cluster.sh $(PORT) $(PIPELINE)

build: ## Build bin/antiphon
	@scripts/build.sh

sdk: ## Make what browsers load, with TinyGo, and the npm package; run its program, hold its size to the budget
	@scripts/sdk.sh

sdk-budget: ## Take the present sizes of the SDK for its budget
	@scripts/sdk.sh -write

doctor: build ## Say what is installed, what is missing and how to get it
	@bin/antiphon doctor

##@ Prove
.PHONY: test test-long check tidy fmt-check lint lint-tool house verify-setup verify-spec verify-test verify-long verify-official \
	generated unit race teardown faults chaos protocol mutate-code mutate-driver simulate wasm-test cross types examples services fuzz e2e sound trace-check

test: ## Set up what is missing and pass everything, as CI does (some 25 minutes on 2 processors; what has not changed is not run again)
	@scripts/test.sh

test-long: build verify-setup ## The campaigns: run before a release and before an issue is closed (hours)
	@scripts/test-long.sh

check: lint-tool verify-setup ## The loop at the desk: format, vet, unit tests of what changed, the machines' specs, the house's rules
	@scripts/check.sh

tidy: verify-setup ## go.mod and go.sum are tidy
	go mod tidy -diff
	cd e2e && go mod tidy -diff
	cd tools && go mod tidy -diff
	cd tools/tinygo && go mod tidy -diff
	cd tools/proto && go mod tidy -diff
	cd formal-verification && go mod tidy -diff
	cd formal-verification/setup && go mod tidy -diff

fmt-check: lint-tool ## Every file is formatted
	$(LINT) fmt --diff

lint: lint-tool verify-setup ## Lint natively and for js/wasm, import rules included
	@scripts/lint.sh

# go build looks for itself whether there is anything to do.
lint-tool:
	@mkdir -p .cache/bin
	@cd tools && go build -o $(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

house: lint-tool ## The import rules bite, the code keeps the house rules, the documents tell the truth
	cd tools && go test -count=1 -vet=off -ldflags='-s -w' ./...

# The checker's module lacks its generated code. What is there and of the right version stays.
verify-setup:
	@cd formal-verification/setup && go run . ../go.mod

verify-spec: verify-setup ## Check every spec, its mutants and the code beside it (SPEC=FILE: one spec alone)
	@scripts/verify-spec.sh '$(SPEC)'

verify-test: verify-setup ## Tests of the parser, the checker and the gate
	cd formal-verification && go test -timeout 30m -vet=off -ldflags='-s -w' ./...

verify-long: verify-setup ## Explore the whole composition of a session, all of its parts together (6 minutes)
	cd formal-verification && go run ./cmd/unsliced

verify-official: verify-setup ## Check every spec with FizzBee's own parser and program (3 minutes)
	@scripts/verify-official.sh

generated: ## go generate changes nothing
	@scripts/generated.sh

unit: ## Unit tests of the packages without goroutines, natively, shuffled
	@scripts/native-test.sh unit

race: ## Unit tests of all other packages, natively, shuffled, with the race detector
	@scripts/native-test.sh race

faults: build ## Hold twenty good calls beside hostile clients and failing parts (LONG=5m)
	ANTIPHON_FAULTS=$(or $(LONG),5m) go -C e2e test -count=1 -timeout 60m -v -artifacts ./faults

chaos: build ## Kill the proxy of idempotent requests at random (N=50 times), with 100,000 tries of 10,000 keys; then a server of a cluster with calls, and one with a page in Firefox and in Chromium, as often
	ANTIPHON_CHAOS=$(if $(filter-out file,$(origin N)),$(N),50) go test -count=1 -timeout 70m -run '^TestChaos$$' -v ./internal/once
	ANTIPHON_CHAOS=$(if $(filter-out file,$(origin N)),$(N),50) go -C e2e test -count=1 -timeout 70m -run '^TestACallOutlivesItsServer$$' -v ./deploy
	ANTIPHON_CHAOS=$(if $(filter-out file,$(origin N)),$(N),50) go -C e2e test -count=1 -timeout 70m -run '^TestTheServerIsKilled$$' -v ./firefox

protocol: ## Every event and field of the protocol is in a real session; prints how many
	@scripts/protocol.sh

teardown: ## Close calls at every moment of their start (N=10000; make race closes 200)
	ANTIPHON_TEARDOWNS=$(if $(filter-out file,$(origin N)),$(N),10000) go test -count=1 -timeout 60m -run TestTeardownAtEveryMoment -v ./internal/call/rtc

mutate-code: ## Every one-place fault of every machine's table is seen; prints by what
	@scripts/mutate.sh

mutate-driver: ## Plant faults into the drivers of the machines, and print those that no test finds (N=40 SEED=n AT=place; N=0: all)
	go -C tools run ./drivers -n $(or $(N),40) $(if $(SEED),-seed $(SEED)) -at "$(AT)"

simulate: ## Play whole calls on virtual time (N=20000, and N/40 with both real ends), or those of one seed again (SEED=n)
	@scripts/simulate.sh '$(N)' '$(SEED)'

wasm-test: ## Unit tests of what a browser runs, under js/wasm in Node
	@scripts/wasm-test.sh $(SHARED)

cross: ## bin/antiphon builds for Windows and macOS, without C
	GOOS=windows GOARCH=amd64 go build -ldflags='-s -w' -o .cache/cross/windows-amd64/antiphon.exe ./cmd/antiphon
	GOOS=darwin GOARCH=arm64 go build -ldflags='-s -w' -o .cache/cross/darwin-arm64/antiphon ./cmd/antiphon

types: ## The types of the page's script, read by a strict compiler
	@scripts/types.sh

services: ## Run the adapters against speech services of other projects, installed from PyPI (400 MB)
	@scripts/services.sh
	go -C e2e test -count=1 -timeout 10m -tags services -v ./services

examples: build ## Build and run every example, those that are pages in a real Chromium
	go test -count=1 -vet=off -ldflags='-s -w' ./examples/...
	go -C e2e test -count=1 -vet=off -ldflags='-s -w' ./examples

fuzz: verify-setup ## Run every fuzz target (FUZZTIME=20s each; make test takes 1s)
	@scripts/fuzz.sh $(FUZZTIME)

e2e: build ## Native callers, Chromium and Firefox against the real server
	@scripts/e2e.sh

sound: build ## Measure in Chromium what a person hears who talks over the agent; the machine must be idle
	go -C e2e test -count=1 -vet=off -ldflags='-s -w' ./bargein

trace-check: verify-setup ## What the servers of the last e2e did is a path of the tables and of the specs (TRACE=FILE: that one)
	@scripts/trace-check.sh $(TRACE)

##@ Work
.PHONY: fmt release bench bench-store bench-bargein bench-listening bench-models bench-turns capacity soak hooks clean

fmt: lint-tool ## Format every file
	$(LINT) fmt

release: ## Check, and make the files of a release in .cache/release (DIR=FOLDER; TAG=1 also makes the tag)
	@DIR='$(DIR)' TAG='$(TAG)' scripts/release.sh

bench: build ## Print speed and size beside a reference (BENCH=regexp)
	@scripts/bench.sh '$(BENCH)'

bench-bargein: build ## Measure what a person hears who talks over the agent (ROWS=silence,coughs CLIENTS=ours N=6)
	@scripts/bench-bargein.sh '$(ROWS)' '$(CLIENTS)' '$(if $(filter-out file,$(origin N)),$(N))'

bench-store: ## Measure what antiphon once adds to a request, runs, and the floor of one synced write (N=1000)
	go -C e2e test -run '^$$' -bench . -benchtime $(if $(filter-out file,$(origin N)),$(N),1000)x ./storebench

bench-models: ## Measure the engines of speech on this machine, with a person's sentences (PROMPTS=a-m N=30; N=0: all)
	@scripts/bench-models.sh '$(or $(PROMPTS),a-m)' '$(if $(filter-out file,$(origin N)),$(N),30)'

bench-listening: build ## Measure how well a person is heard (PARTS=ends,voices,noise,calls,over,sounds,people; for ends PROMPTS=n-z N=1; FLAGS=-fit fits the weights: then PROMPTS=a-m)
	@PARTS='$(PARTS)' scripts/bench-listening.sh '$(or $(PROMPTS),n-z)' '$(if $(filter-out file,$(origin N)),$(N),1)' $(FLAGS)

bench-turns: build ## Measure turn-taking as tau-voice does: yields, and what does not stop the agent (FLAGS="-report -events 104 -calls 10 -conditions clean -clients antiphon,plain")
	@scripts/models.sh
	go -C e2e test -count=1 -timeout 2h -run '^$$' -bench '^BenchmarkTurns$$' -benchtime 1x ./noisebench $(if $(SHORT),-short) -args $(or $(FLAGS),-report)

capacity: build ## Hold more and more calls until one processor does not serve them on time (N=300)
	bin/antiphon bench --sessions $(if $(filter-out file,$(origin N)),$(N),300)

soak: build ## Hold calls for a long time and print the server's memory every minute (N=100 LONG=10m)
	bin/antiphon bench --soak --sessions $(if $(filter-out file,$(origin N)),$(N),100) --time $(or $(LONG),10m)

hooks: lint-tool ## Check format, vet and the machines before each commit
	git config core.hooksPath .githooks

clean: ## Remove what was built
	rm -rf bin .cache sdk/npm/dist formal-verification/.gen
