"""Texts between real clients through a relay of ours."""

import itertools
import json
import subprocess
import time

import pytest
import websocket

from relay_process import Relay
from upstream import CHANNEL_VIEWS, tables

WAIT = 40
CODES = (f"{number}-guitarist-revenge" for number in itertools.count(101))


@pytest.fixture
def relay():
    relay = Relay()
    yield relay
    relay.stop()


class Python:
    @staticmethod
    def base(relay):
        return ["wormhole", "--relay-url", relay.url, "--transit-helper", "tcp:127.0.0.1:9"]

    @staticmethod
    def send(relay, code, text):
        return start(Python.base(relay) + ["send", "--text", text, "--code", code])

    @staticmethod
    def receive(relay, code):
        return start(Python.base(relay) + ["receive", code])


def start(command):
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)


def finish(process):
    out, err = process.communicate(timeout=WAIT)
    assert process.returncode == 0, err.decode()
    return out.decode()


def sides(relay):
    """How many sides have opened a mailbox."""
    database = tables(relay, CHANNEL_VIEWS)
    count = database.execute("SELECT count(*) FROM mailbox_sides").fetchone()[0]
    database.close()
    return count


def wait_until(is_so):
    end = time.monotonic() + WAIT
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


# The last is about as long as an argument of a program can be.
@pytest.mark.parametrize("text", ["hello", "Grüße ☂ \" {}", "x" * 100_000])
def test_a_text_arrives(relay, text):
    code = next(CODES)
    sender, receiver = Python.send(relay, code, text), Python.receive(relay, code)
    assert finish(receiver).rstrip("\n") == text
    finish(sender)
    assert sides(relay) == 0, "the last close removes the mailbox"


def test_the_receiver_may_be_first(relay):
    code = next(CODES)
    receiver = Python.receive(relay, code)
    wait_until(lambda: sides(relay) == 1)
    sender = Python.send(relay, code, "late")
    assert finish(receiver).rstrip("\n") == "late"
    finish(sender)


def test_the_relay_may_be_killed_in_between(relay):
    code = next(CODES)
    sender = Python.send(relay, code, "through a crash")
    wait_until(lambda: sides(relay) == 1)
    relay.kill()
    relay.start()
    receiver = Python.receive(relay, code)
    assert finish(receiver).rstrip("\n") == "through a crash"
    finish(sender)


def test_every_command_is_acked_first_with_its_id(relay):
    """Upstream's tests pass without acks, and the Rust client hangs without them."""
    socket = websocket.create_connection(relay.url, timeout=WAIT)
    assert json.loads(socket.recv())["type"] == "welcome"
    commands = [
        ({"type": "list"}, "error"),
        ({"type": "bind", "appid": "a", "side": "s"}, None),
        ({"type": "allocate"}, "allocated"),
        ({"type": "claim", "nameplate": "77"}, "claimed"),
        ({"type": "release"}, "released"),
        ({"type": "open", "mailbox": "m"}, None),
        ({"type": "add", "phase": "p", "body": "b"}, "message"),
        ({"type": "message-ack", "side": "t", "seqnum": 1}, None),
        ({"type": "delete", "their-side": "t", "their-phase": "p"}, None),
        ({"type": "list"}, "nameplates"),
        ({"type": "submit-permission"}, "error"),
        ({"type": "close"}, "closed"),
        ({"type": "ping", "ping": 1}, "pong"),
    ]
    for number, (command, _) in enumerate(commands):
        socket.send(json.dumps(dict(command, id=f"{number:04x}")))
    for number, (_, reply) in enumerate(commands):
        opcode, frame = socket.recv_data()
        assert opcode == websocket.ABNF.OPCODE_TEXT
        ack = json.loads(frame)
        assert (ack["type"], ack["id"]) == ("ack", f"{number:04x}")
        if reply:
            assert json.loads(socket.recv())["type"] == reply
    socket.close()


class PythonFiles:
    """The Python client with a file, which the Rust client can send and receive too."""

    @staticmethod
    def send(relay, code, file):
        return start(Python.base(relay) + ["send", "--code", code, str(file)])

    @staticmethod
    def receive(relay, code, folder):
        options = ["receive", "--accept-file", "--output-file", str(folder / "letter.txt"), code]
        return start(Python.base(relay) + options)


class RustFiles:
    @staticmethod
    def base(relay):
        return ["--rendezvous-server", relay.url, "--force-direct"]

    @staticmethod
    def send(relay, code, file):
        options = [*RustFiles.base(relay), "--code", code, "--no-qr"]
        return start(["wormhole-rs", "send", *options, str(file)])

    @staticmethod
    def receive(relay, code, folder):
        options = [*RustFiles.base(relay), "--noconfirm", "--out-dir", str(folder)]
        return start(["wormhole-rs", "receive", *options, code])


@pytest.mark.parametrize(
    "sender, receiver",
    [(RustFiles, PythonFiles), (PythonFiles, RustFiles), (RustFiles, RustFiles)],
)
def test_a_rust_client_exchanges_files(relay, tmp_path, sender, receiver):
    code = next(CODES)
    letter = tmp_path / "letter.txt"
    letter.write_text("hello from another client")
    folder = tmp_path / "received"
    folder.mkdir()
    sending = sender.send(relay, code, letter)
    wait_until(lambda: sides(relay) == 1)
    receiving = receiver.receive(relay, code, folder)
    finish(receiving)
    finish(sending)
    assert (folder / "letter.txt").read_text() == "hello from another client"
    assert sides(relay) == 0


def connected(relay, side):
    socket = websocket.create_connection(relay.url, timeout=WAIT)
    socket.recv()
    for command in ({"type": "bind", "appid": "a", "side": side}, {"type": "open", "mailbox": "m"}):
        socket.send(json.dumps(command))
        assert json.loads(socket.recv())["type"] == "ack"
    return socket


def next_frame(socket):
    return json.loads(socket.recv())


def test_acks_echoes_and_replies_keep_their_order_under_load(relay):
    socket = connected(relay, "s")
    count = 300
    for number in range(count):
        socket.send(json.dumps({"type": "add", "phase": str(number), "body": "", "id": number}))
        socket.send(json.dumps({"type": "ping", "ping": number, "id": -number}))
        socket.send(json.dumps({"type": "open", "id": [number]}))
    for number in range(count):
        kinds = [next_frame(socket) for _ in range(6)]
        assert [one["type"] for one in kinds] == ["ack", "message", "ack", "pong", "ack", "error"]
        assert [one["id"] for one in kinds if one["type"] == "ack"] == [number, -number, [number]]
        assert kinds[1]["phase"] == str(number)
        assert kinds[3]["pong"] == number
    socket.close()


def test_a_slow_reader_holds_nobody_up_and_gets_everything_in_the_end(relay):
    slow, author = connected(relay, "slow"), connected(relay, "author")
    body = "x" * 1_000_000
    for number in range(15):
        author.send(json.dumps({"type": "add", "phase": str(number), "body": body}))
        assert [next_frame(author)["type"] for _ in range(2)] == ["ack", "message"]
    author.send(json.dumps({"type": "add", "phase": "one too many", "body": body * 2}))
    assert [next_frame(author)["type"] for _ in range(2)] == ["ack", "error"]
    slow.close()
    late = connected(relay, "slow")
    assert [next_frame(late)["phase"] for _ in range(15)] == [str(one) for one in range(15)]
    late.close()
    author.close()
