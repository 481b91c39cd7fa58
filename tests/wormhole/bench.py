"""The wormhole door beside the Python mailbox server, in one run.

One asyncio program loads both, so at the door's rates it is the load that is slow: the ratio is
a lower bound. Each of N mailboxes has two sides; one adds a message of 300 bytes and waits until
both have it, again and again. Both servers have their database on the disk that is measured.
"""

import asyncio
import base64
import json
import os
import statistics
import struct
import subprocess
import tempfile
import time

from relay_process import Relay, free_port

SECONDS = float(os.environ.get("SECONDS_EACH", "5"))
PAIRS = [1, 16, 64]
IDLE = [int(count) for count in os.environ.get("IDLE", "1000,10000").split(",")]
BODY = "00" * 150


class Client:
    async def connect(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        key = base64.b64encode(os.urandom(16)).decode()
        self.writer.write(
            f"GET /v1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        await self.reader.readuntil(b"\r\n\r\n")
        await self.receive()

    def send(self, kind, **fields):
        text = json.dumps(dict(fields, type=kind)).encode()
        length = len(text)
        if length < 126:
            header = bytes([0x81, 0x80 | length])
        else:
            header = bytes([0x81, 0xFE]) + struct.pack(">H", length)
        # A mask of noughts changes nothing, and costs this program nothing.
        self.writer.write(header + b"\0\0\0\0" + text)

    async def receive(self):
        header = await self.reader.readexactly(2)
        length = header[1] & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", await self.reader.readexactly(2))
        return await self.reader.readexactly(length)

    async def until(self, part):
        while part not in await self.receive():
            pass

    async def open(self, side, mailbox):
        self.send("bind", appid="bench", side=side)
        self.send("open", mailbox=mailbox)
        self.send("ping", ping=0)
        await self.until(b'"pong"')


def memory_kib(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


async def load(port, count):
    pairs = []
    for number in range(count):
        pair = Client(), Client()
        for side, client in zip("ab", pair):
            await client.connect(port)
            await client.open(f"{side}{number}", f"{count}-{number}-{os.getpid()}")
        pairs.append(pair)
    times, end = [], time.monotonic() + SECONDS

    async def exchange(author, reader):
        phase = 0
        while time.monotonic() < end:
            begin = time.perf_counter()
            author.send("add", phase=str(phase), body=BODY)
            await reader.until(b'"message"')
            times.append(time.perf_counter() - begin)
            await author.until(b'"message"')
            phase += 1

    await asyncio.gather(*(exchange(*pair) for pair in pairs))
    for client in (one for pair in pairs for one in pair):
        client.writer.close()
    cuts = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
    return len(times) / SECONDS, cuts[49] * 1_000, cuts[98] * 1_000


async def idle(relay):
    clients, before = [], memory_kib(relay.process)
    for count in IDLE:
        while len(clients) < count:
            client = Client()
            await client.connect(relay.port)
            await client.open(f"s{len(clients)}", f"idle {len(clients)}")
            clients.append(client)
        await asyncio.sleep(1)
        each = (memory_kib(relay.process) - before) / count
        print(f"{count:>6} idle connections, each with a mailbox open: {each:.1f} KiB each")


def python_server(folder):
    port = free_port()
    command = ["twist", "wormhole-mailbox", "--port", f"tcp:{port}:interface=127.0.0.1"]
    command.append(f"--channel-db={folder}/channel.db")
    return port, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def main():
    relay = Relay()
    with tempfile.TemporaryDirectory() as folder:
        port, server = python_server(folder)
        await asyncio.sleep(3)
        print("mailboxes  server             messages/s   p50 ms   p99 ms")
        for count in PAIRS:
            for name, at in (("Sealpost relay", relay.port), ("Python server", port)):
                rate, median, late = await load(at, count)
                print(f"{count:>9}  {name:<16} {rate:>12.0f} {median:>8.2f} {late:>8.2f}")
        server.kill()
        server.wait()
    await idle(relay)
    relay.stop()


asyncio.run(main())
