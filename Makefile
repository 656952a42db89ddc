# make        set up, build the library and build/tarry
# make demo   set up, build, show the main job
# make test   set up, build, run every test, most of them also with sanitizers
# make quick  set up, build, run the quick tests: between two edits
# make python    the Python package, for PYTHONPATH=python
# make bench     print the speed tables       make install [PREFIX=/usr/local]
# make bench-serve  the service beside PostgreSQL
# make valgrind  unit tests under valgrind    make tsan      threads, sanitized
# make coverage  lines run by the tests, of which some folders must have enough
# make check     format, clang-tidy
# make mutants   wrong algorithms that the paper's rows must notice
# make plant COUNT=n SEED=s IN="src/http src/cli"   small defects that the tests
#                must notice; says which they do not
# make fuzz MINUTES=n     every parser and loader with libFuzzer
# make campaign  the long form of each test that has one: kills, faults, power
#                loss, random programs, statistics
# make arm       build for aarch64, compare digests under qemu (needs root)
# make format    put the code in its format   make clean
PREFIX ?= /usr/local
RELEASE = cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX)
STRICT = -DTARRY_WERROR=$(if $(CI),ON,OFF)
PYTHON ?= /usr/bin/python3
DEFINITIONS = -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DTARRY_PYTHON=$(PYTHON) $(STRICT)

.PHONY: all demo test quick python wheel bench bench-serve install valgrind tsan coverage fuzz \
        campaign arm check mutants plant format clean
all:
	@tools/setup build
	@$(RELEASE) >/dev/null
	@cmake --build --preset release

demo: all
	@tools/setup demo
	@build/tarry paper --quick --out build/demo

python:
	@tools/setup build python
	@$(RELEASE) -DTARRY_PYTHON=$(PYTHON) >/dev/null
	@cmake --build --preset release
	@cp build/python/tarry/_tarry.*.so python/tarry/

wheel:
	@tools/setup build python
	@$(PYTHON) python/build-backend/tarry_wheel.py build

test:
	@tools/setup build demo test python python-test
	@tools/suite $(if $(CI),--check) $(DEFINITIONS)

quick:
	@tools/setup build demo test python python-test
	@tools/suite --quick $(DEFINITIONS)

bench:
	@tools/setup build
	@$(RELEASE) -DTARRY_BENCH=ON >/dev/null
	@cmake --build --preset release
	@for b in build/bench/bench_*; do echo "== $$b"; $$b || exit 1; echo; done

bench-serve: all
	@tools/setup bench
	@bench/serve

install: all
	@cmake --install build

valgrind:
	@tools/setup build test
	@$(RELEASE) -DTARRY_TESTS=ON >/dev/null
	@cmake --build --preset release
	@tools/valgrind

tsan:
	@tools/setup build test tsan
	@tools/tsan

coverage:
	@tools/setup build demo test
	@tools/coverage $(if $(ALL),--all)

fuzz:
	@tools/setup build test tsan
	@tools/fuzz $(or $(MINUTES),1)

campaign:
	@tools/setup build demo test
	@$(RELEASE) -DTARRY_TESTS=ON >/dev/null
	@cmake --build --preset release
	@TARRY_CAMPAIGN=1 ctest --preset release --timeout 36000 -L '^campaign$$' \
		-j $$(($$(nproc) + 1))

arm:
	@tools/arm

check:
	@tools/setup build check
	@tools/check

mutants: all
	@tools/setup demo
	@tools/mutants/run build

plant:
	@tools/setup build demo test python python-test
	@tools/plant --count $(or $(COUNT),50) --seed $(or $(SEED),1) $(IN)

format:
	@tools/setup check
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build build-sanitize build-thread build-coverage \
		build-coverage-all build-arm build-fuzz build-plant build-wheel
