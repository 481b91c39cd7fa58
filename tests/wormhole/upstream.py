"""What upstream's tests call on their server, done to a relay of ours.

They look into the server's tables and act for other clients. Looking is done in the relay's
database, through views that have the names and columns of theirs; acting is done as a client.
"""

import itertools
import json
import sqlite3

import websocket

CHANNEL_VIEWS = """
CREATE TEMP VIEW nameplates AS SELECT id, app AS app_id, name,
    (SELECT name FROM relay.wormhole_mailboxes AS one WHERE one.id = mailbox) AS mailbox_id
    FROM relay.wormhole_nameplates;
CREATE TEMP VIEW nameplate_sides AS SELECT nameplate AS nameplates_id, side,
    is_claimed AS claimed, claimed_ms / 1000.0 AS added FROM relay.wormhole_nameplate_sides;
CREATE TEMP VIEW mailboxes AS SELECT name AS id, app AS app_id, for_nameplate,
    touched_ms / 1000.0 AS updated FROM relay.wormhole_mailboxes;
CREATE TEMP VIEW mailbox_sides AS SELECT one.name AS mailbox_id, side, is_open AS opened, mood
    FROM relay.wormhole_sides JOIN relay.wormhole_mailboxes AS one ON one.id = mailbox;
"""

USAGE_VIEWS = """
CREATE TEMP VIEW client_versions AS SELECT app AS app_id, side, implementation, version
    FROM relay.wormhole_usage_clients;
CREATE TEMP VIEW nameplates AS SELECT app AS app_id, result FROM relay.wormhole_usage_nameplates;
"""


def tables(relay, views):
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.row_factory = sqlite3.Row
    database.execute("ATTACH ? AS relay", (relay.database,))
    database.executescript(views)
    return database


class Peer:
    """A client that waits for each of its commands."""

    def __init__(self, url, app, side):
        self.socket = websocket.create_connection(url, timeout=20)
        self.pings = itertools.count()
        self.heard = []
        self.ask("bind", appid=app, side=side)

    def ask(self, kind, **fields):
        """Sends a command and returns what came until everything about it had come."""
        self.socket.send(json.dumps(dict(fields, type=kind)))
        return self.sync()

    def sync(self):
        ping = next(self.pings)
        self.socket.send(json.dumps({"type": "ping", "ping": ping}))
        heard = []
        while True:
            frame = json.loads(self.socket.recv())
            if frame["type"] == "error":
                raise AssertionError(frame["error"])
            if frame["type"] == "pong" and frame["pong"] == ping:
                return [one for one in heard if one["type"] not in ("ack", "welcome")]
            heard.append(frame)

    def close(self):
        self.socket.close()


class Server:
    """Stands for upstream's server object."""

    def __init__(self, relay):
        self.relay = relay
        self.usage = tables(relay, USAGE_VIEWS)
        self.listeners = []

    def get_app(self, app):
        return App(self, app)

    @property
    def _apps(self):
        rows = self.usage.execute("SELECT DISTINCT app_id FROM client_versions")
        return {row["app_id"]: self.get_app(row["app_id"]) for row in rows}

    def settle(self):
        """Lets every listener hear what the relay has sent so far."""
        for listener in self.listeners:
            listener.settle()

    def close(self):
        for listener in self.listeners:
            listener.peer.close()
        self.usage.close()


class App:
    def __init__(self, server, app):
        self.server = server
        self.app = app
        self._db = tables(server.relay, CHANNEL_VIEWS)

    def peer(self, side):
        return Peer(self.server.relay.url, self.app, side)

    def once(self, side, kind, **fields):
        peer = self.peer(side)
        heard = peer.ask(kind, **fields)
        peer.close()
        return heard

    def allocate_nameplate(self, side, when):
        return self.once(side, "allocate")[0]["nameplate"]

    def claim_nameplate(self, name, side, when):
        return self.once(side, "claim", nameplate=name)[0]["mailbox"]

    def get_nameplate_ids(self):
        rows = self._db.execute("SELECT name FROM nameplates WHERE app_id = ?", (self.app,))
        return {row["name"] for row in rows}

    def open_mailbox(self, mailbox, side, when):
        self.once(side, "open", mailbox=mailbox)
        return Mailbox(self, mailbox)

    @property
    def _mailboxes(self):
        rows = self._db.execute("SELECT id FROM mailboxes WHERE app_id = ?", (self.app,))
        return {row["id"]: Mailbox(self, row["id"]) for row in rows}


class Mailbox:
    def __init__(self, app, mailbox):
        self.app = app
        self.mailbox = mailbox

    def add_message(self, message):
        peer = self.app.peer(message.side)
        peer.ask("open", mailbox=self.mailbox)
        peer.ask("add", phase=message.phase, body=message.body, id=message.msg_id)
        peer.close()

    def add_listener(self, handle, send, stop):
        self.app.server.listeners.append(Listener(self, handle, send))

    def has_listeners(self):
        # A connection of ours that has just been closed may still be counted.
        for _ in range(200):
            openings = self.app.server.relay.openings()
            if openings == len(self.app.server.listeners):
                return False
            if openings == len(self.app.server.listeners) + 1:
                return True
        return True

    def close(self, side, mood, when):
        self.app.once(side, "close", mailbox=self.mailbox, mood=mood)


class Message:
    def __init__(self, fields):
        self.side, self.phase, self.body = fields["side"], fields["phase"], fields["body"]


class Listener:
    """Subscribed as the side that has opened the mailbox before."""

    def __init__(self, mailbox, handle, send):
        query = "SELECT side FROM mailbox_sides WHERE mailbox_id = ?"
        side = mailbox.app._db.execute(query, (mailbox.mailbox,)).fetchone()["side"]
        self.send = send
        self.peer = mailbox.app.peer(side)
        self.peer.ask("open", mailbox=mailbox.mailbox)

    def settle(self):
        for frame in self.peer.sync():
            self.send(Message(frame))
