"""A relay of ours as a process: fresh, on a free port, with an empty folder."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request


class Relay:
    """Starts `SEALPOST_RELAY_PROGRAM`. Settings are those of the section `wormhole`."""

    def __init__(self, **settings):
        self.folder = tempfile.mkdtemp(prefix="sealpost-wormhole-")
        self.database = os.path.join(self.folder, "inbox.db")
        self.port = free_port()
        self.health_port = free_port()
        self.settings = settings
        self.process = None
        self.start()

    def start(self):
        config = os.path.join(self.folder, "relay.toml")
        with open(config, "w") as file:
            file.write(self._config())
        program = os.environ["SEALPOST_RELAY_PROGRAM"]
        self.log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(
            [program, "run", "--config", config], stdout=self.log, stderr=self.log
        )
        for _ in range(500):
            try:
                # The port is open before the store is.
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=10).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.01)
        raise RuntimeError("the relay doesn't start")

    def _config(self):
        lines = [
            "[relay]",
            f'keypair_path = "{self.folder}/key.hex"',
            'listen_receive = "127.0.0.1:0"',
            'listen_push = "127.0.0.1:0"',
            f'listen_health = "127.0.0.1:{self.health_port}"',
            f'listen_web = "127.0.0.1:{self.port}"',
            "[web]",
            "max_connections = 20000",
            "max_connections_per_address = 20000",
            "[store]",
            f'sqlite_path = "{self.database}"',
            "[wormhole]",
        ]
        lines += [f'{name} = "{value}"' for name, value in self.settings.items()]
        return "\n".join(lines) + "\n"

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.port}/v1"

    def openings(self):
        """How many connections have a mailbox open, as the relay counts them."""
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/metrics")
        found = re.search(r"wormhole_openings (\d+)", page.read().decode())
        return int(found.group(1))

    def kill(self):
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait()
        self.log.close()

    def stop(self):
        """Ends it for good. Its folder goes, so that nothing has to be put in order."""
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
