"""Builds the package's wheel: the module in C by CMake, then a zip file.

A wheel carries the library (linked into the module) and the program `tarry`;
jansson and the C library's are those of the system.  Only
Python's standard library is needed, so that pip works without a network."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(HERE)
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        return re.search(r"project\(tarry VERSION ([0-9.]+)",
                         file.read()).group(1)


def tag():
    python = "cp%d%d" % sys.version_info[:2]
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return "%s-%s-%s" % (python, python, platform)


def is_built(folder):
    """Whether a build folder has a release module for this interpreter."""
    try:
        with open(os.path.join(folder, "CMakeCache.txt")) as file:
            release = "CMAKE_BUILD_TYPE:STRING=Release\n" in file.read()
    except OSError:
        return False
    return release and os.path.exists(
        os.path.join(folder, "python", "tarry", "_tarry" + SUFFIX))


def build():
    """The files of the package as they stand in the wheel, and where.  What
    `make python` has built is only brought up to date."""
    folder = os.path.join(ROOT, "build")
    if not is_built(folder):
        folder = os.path.join(ROOT, "build-wheel")
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja",
             "-DCMAKE_BUILD_TYPE=Release", "-DTARRY_MPI=OFF",
             "-DTARRY_PYTHON=" + sys.executable], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "python_module",
                    "program"], check=True)
    files = {"tarry/" + name: os.path.join(HERE, "tarry", name)
             for name in os.listdir(os.path.join(HERE, "tarry"))
             if name.endswith((".py", ".pyi", ".typed"))}
    files["tarry/_tarry" + SUFFIX] = os.path.join(folder, "python", "tarry",
                                                  "_tarry" + SUFFIX)
    files["tarry/bin/tarry"] = os.path.join(folder, "tarry")
    return files


def metadata():
    return ("Metadata-Version: 2.1\nName: tarry\nVersion: %s\n"
            "Summary: Decisions under delayed feedback: optimal designs, "
            "bandit policies, a laboratory\nLicense: MIT\n"
            "Requires-Python: >=3.10\nRequires-Dist: numpy\n"
            "Provides-Extra: all\nRequires-Dist: pandas ; extra == 'all'\n"
            "Requires-Dist: matplotlib ; extra == 'all'\n"
            "Requires-Dist: tqdm ; extra == 'all'\n" % version()).encode()


class Wheel:
    """A zip file whose RECORD lists what is in it."""

    def __init__(self, folder):
        self.info = "tarry-%s.dist-info/" % version()
        self.name = "tarry-%s-%s.whl" % (version(), tag())
        self.zip = zipfile.ZipFile(os.path.join(folder, self.name), "w",
                                   zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        self.record.append("%s,sha256=%s,%d\n" % (
            name, digest.decode().rstrip("="), len(data)))
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)

    def end(self):
        self.add(self.info + "METADATA", metadata())
        self.add(self.info + "WHEEL", (
            "Wheel-Version: 1.0\nGenerator: tarry\nRoot-Is-Purelib: false\n"
            "Tag: %s\n" % tag()).encode())
        record = self.info + "RECORD"
        self.zip.writestr(record, "".join(self.record) + record + ",,\n")
        self.zip.close()
        return self.name


def read(path):
    with open(path, "rb") as file:
        return file.read()


# ---- what pip calls --------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    wheel = Wheel(wheel_directory)
    for name, path in sorted(build().items()):
        wheel.add(name, read(path),
                  0o755 if name.startswith("tarry/bin/") else 0o644)
    return wheel.end()


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    module = "tarry/_tarry" + SUFFIX
    with open(os.path.join(HERE, module), "wb") as file:
        file.write(read(build()[module]))
    wheel = Wheel(wheel_directory)
    wheel.add("tarry-editable.pth", (HERE + "\n").encode())
    return wheel.end()


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("the package is built in the tree of tarry; "
                     "make a wheel")


if __name__ == "__main__":
    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else os.getcwd()))
