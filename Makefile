# The commands for users and developers (`make` lists them). Each installs the packages that it needs and calls CMake (CMakePresets.json).
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)
# Many tests wait, for processes and for time: twice as many as there are processors keep these busy.
export CTEST_PARALLEL_LEVEL = $(shell echo $$((2 * $(JOBS))))

configure = cmake --preset release --log-level=WARNING >/dev/null

.DEFAULT_GOAL := help
.PHONY: help demo test fresh fuzz check-all build install format tidy clean packages packages-check

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

demo: build ## three programs on threads, on processes and on simulated clusters; one table and a page
	@scripts/demo build/release/heddle

test: packages ## build everything but the slow tests, and run the fast ones
	@$(configure)
	@cmake --build --preset release
	@ctest --preset release

fresh: ## demo and tests on a fresh Debian 12 that is made for it (as root)
	@scripts/fresh-machine 'make demo && make test'

SECONDS_EACH ?= 60
fuzz: ## feed damaged inputs to every reader, SECONDS_EACH (default 60) for each target; installs clang
	@scripts/packages.sh build fuzz
	@scripts/fuzz $(SECONDS_EACH)

check-all: packages-check ## every test in every build: slow ones, sanitizers, no simulator, clang-tidy, benchmarks, fuzzing
	@scripts/check-all

build: packages ## build the program heddle into build/release
	@$(configure)
	@cmake --build --preset release --target heddle

install: packages ## build, and install under PREFIX (default /usr/local)
	@$(configure)
	@cmake --build --preset release
	@cmake --install build/release --prefix $(PREFIX)

format: packages ## format every source file in place
	@scripts/sources | xargs clang-format -i

tidy: packages-check ## clang-tidy over every source file
	@scripts/tidy

packages: ## install the Debian packages that are missing
	@scripts/packages.sh build

packages-check:
	@scripts/packages.sh build check fuzz

clean: ## remove everything that was built
	rm -rf build
