# A thin front of CMake and scripts/.
BUILD := build
JOBS  := $(shell nproc 2>/dev/null || echo 2)

all:
	scripts/fetch-uplot
	cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release
	cmake --build $(BUILD) -j$(JOBS)

demo:
	scripts/install-deps
	$(MAKE) all
	scripts/demo

check:
	scripts/install-deps
	scripts/install-browser
	scripts/check

fuzz:
	scripts/install-deps
	scripts/fuzz

bench:
	scripts/install-deps bench
	scripts/bench

format:
	find include src problems reproduce examples tests bench -name '*.[ch]' | \
		xargs -r clang-format -i

clean:
	rm -rf $(BUILD)

.PHONY: all demo check fuzz bench format clean
