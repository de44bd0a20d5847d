# A thin front of CMake and scripts/.
BUILD  := build
PREFIX ?= /usr/local
JOBS   := $(shell nproc 2>/dev/null || echo 2)

FAST_PROGRAM := -DDAEDALUS_LTO=ON -DCMAKE_C_FLAGS_RELEASE="-O3 -DNDEBUG"
FAST_BUILD   := -DDAEDALUS_LTO=OFF -DCMAKE_C_FLAGS_RELEASE="-O2 -DNDEBUG"

# The program, both libraries and the examples, optimized across files.
all: tools
	cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DDAEDALUS_TESTS=OFF $(FAST_PROGRAM)
	cmake --build $(BUILD) -j$(JOBS)

tools:
	@command -v cmake >/dev/null || { missing=$$(scripts/install-deps --missing); \
	echo "make: cmake is missing; as root: apt-get install -y --no-install-recommends $${missing:-cmake}" >&2; \
	echo "      ('make demo' and 'make check' do that themselves)" >&2; exit 1; }

install: all
	cmake --install $(BUILD) --prefix $(PREFIX)

# What is shown is the program: nothing else is built, and that quickly.
demo:
	@scripts/install-deps
	@scripts/progress "configuring" $(BUILD)/configure.log cmake -S . -B $(BUILD) \
	    -DCMAKE_BUILD_TYPE=Release -DDAEDALUS_TESTS=OFF $(FAST_BUILD)
	@scripts/progress "building the program, a minute on two cores" $(BUILD)/build.log \
	    cmake --build $(BUILD) -j$(JOBS) --target daedalus
	@scripts/demo

check:
	@scripts/install-deps check
	@scripts/install-deps browser || \
	    echo "check: no Chromium here; the test of report pages will be skipped"
	@scripts/check

# The two commands of the README in a minimal Debian system.
check-bare:
	@scripts/install-deps bare
	@scripts/check-bare

# A thousand kills of every kind of file, every request for memory refused, all hostile texts: hours.
faults: all
	cmake -S . -B $(BUILD) -DDAEDALUS_TESTS=ON
	cmake --build $(BUILD) -j$(JOBS) --target test_hostile fail_malloc
	scripts/kill-results
	scripts/fail-allocations
	HOSTILE=all DAEDALUS_PROGRAM=$(BUILD)/daedalus $(BUILD)/tests/test_hostile

fuzz:
	@scripts/install-deps check
	scripts/fuzz

bench:
	@scripts/install-deps bench
	scripts/bench

# Generated problems with known solutions, 290,000 runs: an hour on two cores. docs/prove.md.
prove: tools
	cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DDAEDALUS_TESTS=OFF $(FAST_BUILD)
	cmake --build $(BUILD) -j$(JOBS) --target prove
	$(BUILD)/prove --jobs $(JOBS)

# One deliberate fault after another, and the tests that must notice: docs/mutants.md.
mutants:
	@scripts/install-deps check
	@scripts/mutants

format:
	find include src problems reproduce prove examples tests bench -name '*.[ch]' | \
		xargs -r clang-format -i

clean:
	rm -rf $(BUILD)

.PHONY: all tools install demo check check-bare faults fuzz bench prove mutants format clean
