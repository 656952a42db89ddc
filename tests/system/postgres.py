"""A PostgreSQL server of the tests' own: data in a folder that goes away, a
free port on loopback.

initdb refuses root, so root becomes another user for it."""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from ports import free_port


def programs():
    """The folder of the newest server that is installed, or None."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    return max(map(os.path.dirname, found),
               key=lambda path: int(path.split("/")[-2]), default=None)


def other_user():
    """Options of setpriv that make root somebody else."""
    if os.geteuid() != 0:
        return None, []
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return user, ["--reuid", str(user.pw_uid), "--regid",
                      str(user.pw_gid), "--clear-groups"]
    raise OSError("neither postgres nor nobody is a user here")


class Server:
    def __init__(self, fsync=False):  # processes are killed, not machines
        self.folder = tempfile.mkdtemp(prefix="tarry-postgres-")
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(self.folder, "log")
        os.mkdir(self.data, 0o700)
        user, self.become = other_user()
        if user is not None:
            os.chmod(self.folder, 0o711)
            os.chown(self.data, user.pw_uid, user.pw_gid)
        self.process = None
        self.count = 0
        subprocess.run(self.command("initdb", "-D", self.data, "-U", "tarry",
                                    "-A", "trust", "-E", "UTF8", "--locale=C",
                                    "-N"), check=True, capture_output=True,
                       cwd="/")
        self.port = free_port()
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write("port = %d\nlisten_addresses = '127.0.0.1'\n"
                       "unix_socket_directories = ''\nfsync = %s\n"
                       "max_connections = 200\n"
                       % (self.port, "on" if fsync else "off"))
        self.start()

    def command(self, program, *arguments):
        """As another user, ended when this process ends."""
        return ["setpriv", *self.become, "--pdeathsig", "INT",
                os.path.join(programs(), program), *arguments]

    def url(self, schema=None):
        """Of the database, or of one of its schemas: a place for a store."""
        url = "postgresql://tarry@127.0.0.1:%d/postgres" % self.port
        return url if schema is None else \
            url + "?options=-csearch_path%3D" + schema

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                self.command("postgres", "-D", self.data), stderr=log,
                stdout=log, cwd="/")
        end = time.monotonic() + 300
        while True:
            done = subprocess.run(["psql", self.url(), "-c", "SELECT 1"],
                                  capture_output=True)
            if done.returncode == 0:
                return
            if time.monotonic() > end or self.process.poll() is not None:
                with open(self.log) as log:
                    raise OSError("no server: " + log.read()[-500:])
            time.sleep(0.05)

    def stop(self, immediate=False):
        self.process.send_signal(signal.SIGQUIT if immediate
                                 else signal.SIGINT)
        self.process.wait(60)

    def sql(self, text, url=None):
        """Rows as lists of texts."""
        done = subprocess.run(["psql", "-qAt", "-F", "\t", url or self.url(),
                               "-v", "ON_ERROR_STOP=1", "-c", text],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def place(self, name=None):
        """The URL of a new, empty place for a store."""
        if name is None:
            self.count += 1
            name = "test%d" % self.count
        self.sql("CREATE SCHEMA " + name)
        return self.url(name)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.stop(immediate=True)
        shutil.rmtree(self.folder, ignore_errors=True)
