# make        set up, build the library and build/tarry
# make demo   set up, build, show the main job
# make test   set up, build, run every test (also under sanitizers), coverage
# make python    the Python package, for PYTHONPATH=python
# make bench     print the speed tables       make install [PREFIX=/usr/local]
# make bench-serve  the service beside PostgreSQL
# make valgrind  unit tests under valgrind    make tsan      threads, sanitized
# make coverage  lines run by the tests       make check     format, clang-tidy
# make mutants   wrong algorithms that the paper's rows must notice
# make plant COUNT=n SEED=s IN="src/http src/cli"   small defects that the tests
#                must notice; says which they do not
# make fuzz MINUTES=n     every parser and loader with libFuzzer
# make campaign  the long forms of kills, faults, power loss, random programs
# make format    put the code in its format   make clean
PREFIX ?= /usr/local
RELEASE = cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX)
STRICT = -DTARRY_WERROR=$(if $(CI),ON,OFF)
PYTHON ?= /usr/bin/python3

.PHONY: all demo test python wheel bench bench-serve install valgrind tsan coverage fuzz \
        campaign check mutants plant format clean
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
	@$(if $(CI),tools/check)
	@$(RELEASE) -DTARRY_TESTS=ON -DTARRY_BENCH=ON \
		-DTARRY_PYTHON=$(PYTHON) $(STRICT) >/dev/null
	@cmake --build --preset release
	@ctest --preset release
	@cmake --preset sanitize -DTARRY_TESTS=ON -DTARRY_PYTHON=$(PYTHON) \
		$(STRICT) >/dev/null
	@cmake --build --preset sanitize
	@ctest --preset sanitize
	@tools/coverage

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
	@tools/coverage --all

fuzz:
	@tools/setup build test tsan
	@tools/fuzz $(or $(MINUTES),1)

campaign:
	@tools/setup build demo test
	@$(RELEASE) -DTARRY_TESTS=ON >/dev/null
	@cmake --build --preset release
	@TARRY_CAMPAIGN=1 ctest --preset release --timeout 36000 \
		-R 'system.(faults|kills|serve_kills|serve_random|strangers)|(policy|session|service).random|store.(power|damage|faults)|sim.coverage'

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
		build-coverage-all build-fuzz build-plant build-wheel
