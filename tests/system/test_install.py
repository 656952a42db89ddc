"""The installed copy: found by pkg-config and CMake wherever it was moved to,
with headers that stand by themselves and no symbols but the public ones.

Needs TARRY_BUILD, a build folder; TARRY_SANITIZE must be empty.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ["TARRY_BUILD"])
SANITIZE = os.environ.get("TARRY_SANITIZE", "")
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]

CONSUMER = r"""
#include <stdio.h>
#include <tarry/tarry.h>

int main(void)
{
    const double arms[] = {2.385, 0, 0.3, 1.7, 1, -0.2};
    tarry_design *design;
    if (tarry_design_solve(arms, 3, 2, NULL, &design) != TARRY_OK)
        return 1;
    printf("%zu %.9f\n", design->rank, design->g);
    tarry_design_free(design);
    return 0;
}
"""

EXPERIMENT = r"""
#include <stdio.h>
#include <tarry/tarry.h>

int main(void)
{
    tarry_world_params where = tarry_world_defaults();
    tarry_experiment_params how = tarry_experiment_defaults();
    tarry_world *world;
    tarry_experiment *e;
    char *text;
    how.horizon = 3000;
    how.runs = 3;
    if (tarry_world_create(&where, &world, NULL) != TARRY_OK ||
        tarry_experiment_create(&how, &e, NULL) != TARRY_OK ||
        tarry_experiment_add_world(e, world, NULL) != TARRY_OK ||
        tarry_experiment_add_policy(e, "lints", NULL) != TARRY_OK ||
        tarry_experiment_add_policy(e, "mab", NULL) != TARRY_OK ||
        tarry_experiment_run(e, NULL) != TARRY_OK)
        return 1;
    text = tarry_experiment_json(e);
    puts(text);
    tarry_experiment_free_json(text);
    tarry_experiment_free(e);
    tarry_world_free(world);
    return 0;
}
"""

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C)
find_package(tarry %s REQUIRED)
foreach(library tarry static)
    add_executable(${library} consumer.c)
    target_link_libraries(${library} PRIVATE tarry::${library})
endforeach()
"""


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=100,
                          stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise AssertionError("%s:\n%s" % (" ".join(command), done.stdout))
    return done.stdout


def write(path, text):
    with open(path, "w") as f:
        f.write(text)
    return path


@unittest.skipIf(SANITIZE, "a sanitized library is not for installing")
class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        first = os.path.join(cls.folder, "first")
        run("cmake", "--install", BUILD, "--prefix", first)
        cls.prefix = os.path.join(cls.folder, "moved here")
        os.rename(first, cls.prefix)
        cls.consumer = write(os.path.join(cls.folder, "consumer.c"), CONSUMER)
        cls.library = cls.find("libtarry.so")
        cls.environment = {
            **os.environ,
            "PKG_CONFIG_PATH": os.path.dirname(cls.find("tarry.pc")),
            "LD_LIBRARY_PATH": os.path.dirname(cls.library)}

    @classmethod
    def find(cls, name):
        return glob.glob(cls.prefix + "/**/" + name, recursive=True)[0]

    def test_each_command_has_a_man_page_and_is_completed(self):
        program = self.prefix + "/bin/tarry"
        commands = run(program, "--help=words",
                       env=self.environment).split()
        self.assertIn("design", commands)
        for command in commands:
            with open(self.find("tarry-%s.1" % command)) as f:
                page = f.read()
            for word in run(program, command, "--help=words",
                            env=self.environment).split():
                self.assertIn(word.strip("-=").replace("-", "\\-"), page)
        script = ("source '%s'; COMP_WORDS=(tarry design --ru); COMP_CWORD=2;"
                  "_tarry; echo ${COMPREPLY[@]}"
                  % self.find("bash-completion/completions/tarry"))
        self.assertEqual(run("bash", "-c", script).split(), ["--rule"])

    def headers(self):
        names = sorted(os.listdir(self.prefix + "/include/tarry"))
        self.assertIn("tarry.h", names)
        return names

    def pkg_config(self, *arguments):
        """Its words; a space inside one is written with a backslash."""
        words = run("pkg-config", *arguments, "tarry", env=self.environment)
        return [word.replace("\\ ", " ")
                for word in re.findall(r"(?:\\.|\S)+", words)]

    def check_output(self, program):
        rank, g = run(program, env=self.environment).split()
        self.assertEqual(rank, "2")
        self.assertTrue(2 - 1e-9 <= float(g) <= 2 * (1 + 1e-3))

    def test_pkg_config_builds_a_consumer(self):
        compilers = ["gcc", "g++"] if shutil.which("g++") else ["gcc"]
        for compiler in compilers:
            with self.subTest(compiler):
                program = os.path.join(self.folder, compiler + ".out")
                language = "c" if compiler == "gcc" else "c++"
                run(compiler, *STRICT, "-x", language, self.consumer, "-x",
                    "none", "-o", program, *self.pkg_config("--cflags"),
                    *self.pkg_config("--libs"))
                self.check_output(program)

    def test_pkg_config_knows_what_the_static_library_needs(self):
        program = os.path.join(self.folder, "static.out")
        archive = self.find("libtarry.a")
        run("gcc", *STRICT, self.consumer, "-o", program,
            *self.pkg_config("--cflags"),
            *(archive if word == "-ltarry" else word
              for word in self.pkg_config("--static", "--libs")))
        self.check_output(program)
        self.assertNotIn("libtarry", run("ldd", program))

    def test_own_policies_and_delays_run_beside_ours(self):
        """The same results on one thread, on two, and from a journal."""
        source = os.path.join(ROOT, "examples", "own.c")
        program = os.path.join(self.folder, "own")
        run("gcc", "-std=c17", *STRICT, source, "-o", program,
            *self.pkg_config("--cflags"), *self.pkg_config("--libs"))
        journal = os.path.join(self.folder, "own.runs")
        one, two, kept, resumed = (
            run(program, *arguments, env=self.environment) for arguments in
            (["1"], ["2"], ["2", journal], ["1", journal]))
        self.assertEqual({one, two, kept, resumed}, {one})
        names = [line.split()[0] for line in one.splitlines()]
        self.assertEqual(names, ["greedy:explore=0.05", "lints",
                                 "recommended"])
        with open(journal) as f:
            self.assertEqual(len(f.readlines()), 1 + 3 * (1 + 6))

    def test_the_program_prints_what_the_library_answers(self):
        source = write(os.path.join(self.folder, "experiment.c"), EXPERIMENT)
        program = os.path.join(self.folder, "experiment")
        run("gcc", *STRICT, source, "-o", program,
            *self.pkg_config("--cflags"), *self.pkg_config("--libs"))
        texts = (run(program, env=self.environment),
                 run(self.prefix + "/bin/tarry", "run", "--horizon", "3000",
                     "--runs", "3", "--policy", "lints", "--policy", "mab",
                     "--json"))
        library, program = (re.sub(r'"rounds_per_second": [^}]*?(?=[,}])',
                                   "", text) for text in texts)
        self.assertIn('"lints"', library)
        self.assertEqual(library, program)

    def test_cmake_builds_a_consumer(self):
        write(self.folder + "/CMakeLists.txt", PROJECT % "0.1")
        build = self.folder + "/build"
        run("cmake", "-S", self.folder, "-B", build,
            "-DCMAKE_PREFIX_PATH=" + self.prefix)
        run("cmake", "--build", build)
        self.check_output(build + "/tarry")
        self.check_output(build + "/static")
        linked = run("ldd", build + "/static", env=self.environment)
        self.assertNotIn("libtarry", linked)

    def test_cmake_refuses_another_version(self):
        folder = self.folder + "/other"
        os.mkdir(folder)
        write(folder + "/CMakeLists.txt", PROJECT % "7.3")
        with self.assertRaisesRegex(AssertionError, "not accepted:"):
            run("cmake", "-S", folder, "-B", folder + "/build",
                "-DCMAKE_PREFIX_PATH=" + self.prefix)

    def test_program_library_and_pkg_config_have_one_version(self):
        program = run(self.prefix + "/bin/tarry", "--version").split()[1]
        self.assertEqual(self.pkg_config("--modversion"), [program])
        real = os.path.basename(os.path.realpath(self.library))
        self.assertEqual(real, "libtarry.so." + program)

    def test_every_header_stands_by_itself(self):
        languages = [("gcc", "c", "-std=c11"), ("gcc", "c", "-std=c17")]
        if shutil.which("g++"):
            languages += [("g++", "c++", "-std=c++11"),
                          ("g++", "c++", "-std=c++20")]
        for header in self.headers():
            for compiler, language, standard in languages:
                with self.subTest(header, standard=standard):
                    run(compiler, standard, *STRICT, "-fsyntax-only",
                        "-I", self.prefix + "/include", "-x", language, "-",
                        input="#include <tarry/%s>\n" % header)

    def test_exactly_what_the_headers_declare_is_exported(self):
        declared = set()
        for header in self.headers():
            with open(self.prefix + "/include/tarry/" + header) as f:
                declared |= set(re.findall(r"^TARRY_API\b[^;(]*?\b(tarry_\w+)"
                                           r"\(", f.read(), re.M))
        symbols = run("nm", "-D", "--defined-only", self.library)
        exported = {line.split()[-1] for line in symbols.splitlines()}
        self.assertIn("tarry_design_solve", declared)
        self.assertEqual(exported, declared)
        self.assertFalse([name for name in exported if "__" in name])


class SetUpWithoutDpkg(unittest.TestCase):
    TOOLS = ["sh", "cat", "dirname", "cc", "cmake", "ninja", "pkg-config"]

    def set_up(self, tools, **more):
        with tempfile.TemporaryDirectory() as folder:
            for tool in tools:
                os.symlink(shutil.which(tool), os.path.join(folder, tool))
            done = subprocess.run(
                [ROOT + "/tools/setup", "build"], stderr=subprocess.PIPE,
                text=True, env={**os.environ, "PATH": folder, **more})
        return done.returncode, done.stderr

    def test_it_goes_on_where_everything_is_there(self):
        self.assertEqual(self.set_up(self.TOOLS), (0, ""))

    def test_it_says_which_tool_or_library_is_missing(self):
        for tool in self.TOOLS[3:]:
            code, error = self.set_up(set(self.TOOLS) - {tool})
            self.assertEqual(code, 1)
            self.assertIn("needs %s," % tool, error)
        code, error = self.set_up(self.TOOLS, PKG_CONFIG_LIBDIR="/nowhere")
        self.assertEqual(code, 1)
        self.assertIn("needs jansson,", error)


class SetUpWithDpkg(unittest.TestCase):
    """Programs of the test's own stand for dpkg-query, id and apt-get."""

    def set_up(self, *groups, there=(), apt="exit 0"):
        """Exit code, stdout, stderr, and the calls of apt-get."""
        programs = {
            "id": "echo 0",
            "apt-get": 'echo "$@" >>"$0.calls"; ' + apt,
            "dpkg-query": 'case " %s " in *" $4 "*) echo ok installed;; esac'
                          % " ".join(there)}
        with tempfile.TemporaryDirectory() as folder:
            for name, text in programs.items():
                path = os.path.join(folder, name)
                with open(path, "w") as file:
                    file.write("#!/bin/sh\n%s\n" % text)
                os.chmod(path, 0o755)
            done = subprocess.run(
                [ROOT + "/tools/setup", *groups], capture_output=True,
                text=True, env={**os.environ, "PATH": folder + ":" +
                                os.environ["PATH"]})
            calls = os.path.join(folder, "apt-get.calls")
            asked = []
            if os.path.exists(calls):
                with open(calls) as file:
                    asked = file.read().splitlines()
        return done.returncode, done.stdout, done.stderr, asked

    def packages(self, *groups):
        """The packages that a set-up of these groups installs."""
        code, _, error, asked = self.set_up(*groups)
        self.assertEqual((code, error), (0, ""))
        return asked[-1].split("--no-install-recommends ")[1].split()

    def test_set_up_names_each_package_and_its_reason_first(self):
        code, out, error, asked = self.set_up("demo", "python",
                                              there=["python3-dev"])
        self.assertEqual((code, error), (0, ""))
        for name, why in (("gnuplot-nox", "draws the figures"),
                          ("python3-numpy", "arrays in and out")):
            self.assertRegex(out, "(?m)^  %s +%s" % (name, why))
        self.assertNotIn("python3-dev", out)
        self.assertEqual(len(asked), 2)
        self.assertRegex(asked[0], "Lock::Timeout=.* update$")
        self.assertRegex(asked[1], "Lock::Timeout=.* gnuplot-nox python3 "
                                   "python3-numpy$")

    def test_set_up_is_silent_where_all_packages_are_there(self):
        self.assertEqual(self.set_up("demo", there=["gnuplot-nox"]),
                         (0, "", "", []))

    def test_set_up_waits_for_the_lock_of_another_package_manager(self):
        """Of the package lists and of dpkg, which have different errors."""
        for lock in ("Could not get lock /var/lib/apt/lists/lock. It is held "
                     "by process 7 (apt-get)",
                     "Unable to acquire the dpkg frontend lock"):
            code, out, error, asked = self.set_up(
                "demo", apt='[ "$(wc -l <"$0.calls")" -gt 2 ] || '
                            '{ echo "E: %s" >&2; exit 100; }' % lock)
            self.assertEqual((code, error, len(asked)), (0, "", 4))
            self.assertEqual(out.count(lock), 1)

    def test_set_up_fails_with_the_words_of_apt(self):
        code, _, error, asked = self.set_up(
            "demo", apt="echo 'E: Temporary failure resolving' >&2; exit 100")
        self.assertEqual((code, error, len(asked)),
                         (1, "E: Temporary failure resolving\n", 1))

    def test_the_python_package_is_built_without_test_tools(self):
        self.assertEqual(self.packages("python"),
                         ["python3", "python3-dev", "python3-numpy"])
        self.assertIn("mypy", self.packages("python-test"))


if __name__ == "__main__":
    unittest.main()
