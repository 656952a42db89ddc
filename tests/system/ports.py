"""Ports for servers that tell no port, or begin again at the same one."""
import random
import socket


def free_port():
    """A port below those that the system gives to clients (32768 and above):
    no client of any program takes it before the server, or between two."""
    while True:
        port = random.SystemRandom().randrange(10000, 32768)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
