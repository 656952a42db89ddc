# make demo   set up, build, show the main job
# make test   set up, build, run every test (also under sanitizers)
# make        build build/tarry        make bench     print the speed tables
# make install [PREFIX=/usr/local]     make valgrind  unit tests under valgrind
#                                      make tsan      threads under a sanitizer
PREFIX ?= /usr/local

.PHONY: all setup setup-test demo test bench install valgrind tsan format clean
all: setup
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build --preset release

setup:
	@tools/setup

setup-test:
	@tools/setup test

demo: all
	@build/tarry paper --quick --out build/demo

test: setup-test all
	@ctest --preset release
	@cmake --preset sanitize >/dev/null
	@cmake --build --preset sanitize
	@ctest --preset sanitize

bench: all
	@for b in design arms policy sim rivals; do echo "== $$b"; build/bench/bench_$$b || exit 1; echo; done

install: all
	@cmake --install build

valgrind: all
	@tools/valgrind

tsan:
	@tools/tsan

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build build-sanitize build-thread
