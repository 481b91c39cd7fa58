"""Upstream's own socket tests of its server, run against a relay of ours.

The relay is started fresh for each test, with an empty folder. No test is changed.
"""

import pytest
from autobahn.twisted.websocket import WebSocketClientFactory
from twisted.internet import defer, reactor
from wormhole_mailbox_server.test import test_web, test_websocket
from wormhole_mailbox_server.test.ws_client import WSClient, WSFactory

from relay_process import Relay
from upstream import USAGE_VIEWS, Server, tables

# The address that upstream's in-memory client has.
CLIENT_PORT = 31337


class SettledClient(WSClient):
    """Upstream's client, whose listeners are as far as it is."""

    server = None

    def onMessage(self, payload, isBinary):
        self.server.settle()
        WSClient.onMessage(self, payload, isBinary)


class TestServer(test_web.WebSocketAPI):
    def setUp(self):
        self._clients = []
        self._relay = Relay(current_cli_version="advertised.version", usage="1m")
        self._server = Server(self._relay)
        self._usage_db = tables(self._relay, USAGE_VIEWS)
        self.relayurl = self._relay.url
        self.rdv_ws_port = self._relay.port

    def tearDown(self):
        for client in self._clients:
            client.transport.loseConnection()
        self._server.close()
        self._relay.stop()

    @defer.inlineCallbacks
    def make_client(self):
        factory = WSFactory(self.relayurl)
        factory.protocol = type("Client", (SettledClient,), {"server": self._server})
        factory.d = defer.Deferred()
        reactor.connectTCP("127.0.0.1", self.rdv_ws_port, factory)
        client = yield factory.d
        self._clients.append(client)
        return client


class SocketAgent:
    """Opens real connections where upstream's tests open some in memory."""

    def __init__(self, relay):
        self.relay = relay

    def open(self, url, options, protocol):
        opened = defer.Deferred()

        class Opened(protocol):
            def onOpen(self):
                protocol.onOpen(self)
                opened.callback(self)

        headers = options.get("headers", {})
        factory = WebSocketClientFactory(self.relay.url, headers=headers)
        factory.protocol = Opened
        # Trial looks for timers that are left, and these would be.
        factory.setProtocolOptions(
            openHandshakeTimeout=0, closeHandshakeTimeout=0, serverConnectionDropTimeout=0
        )
        # A proxy tells where the client is; without one, its own port is looked at.
        bind = None if headers else ("127.0.0.1", CLIENT_PORT)
        reactor.connectTCP("127.0.0.1", self.relay.port, factory, bindAddress=bind)
        return opened


class TestSocket(test_websocket.WebSocket):
    def setUp(self):
        self.reactor = reactor
        self.pumper = None
        self._relay = Relay(motd="fake message of the day")
        self._patch = pytest.MonkeyPatch()
        agent = SocketAgent(self._relay)
        self._patch.setattr(test_websocket, "create_memory_agent", lambda *_: agent)

    def tearDown(self):
        self._patch.undo()
        self._relay.stop()
