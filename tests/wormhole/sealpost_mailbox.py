"""A plugin of pytest: the mailbox server that the Python client's own tests use is a relay of
ours. Tests that use no server are left out. No test is changed.
"""

import wormhole.test.common as common
from twisted.internet import defer

from relay_process import Relay
from upstream import USAGE_VIEWS, Server, tables


class Service:
    def __init__(self, relay):
        self.relay = relay

    def startService(self):
        pass

    def stopService(self):
        self.relay.stop()
        return defer.succeed(None)


class Port:
    def __init__(self, relay):
        self._realPortNumber = relay.port

    def stopListening(self):
        return defer.succeed(None)


class Mailbox:
    """Has what upstream's fixture has."""

    def __init__(self, relay):
        self.url = relay.url
        self.rendezvous = Server(relay)
        self.usage_db = tables(relay, USAGE_VIEWS)
        self.service = Service(relay)
        self.port = Port(relay)


async def setup_mailbox(reactor, advertise_version=None, error=None):
    settings = {"usage": "1m"}
    if advertise_version:
        settings["current_cli_version"] = advertise_version
    if error:
        settings["welcome_error"] = error
    return Mailbox(Relay(**settings))


common.setup_mailbox = setup_mailbox


def uses_server(item):
    fixtures = ("mailbox", "unwelcome_mailbox", "unwelcome_config")
    names = getattr(item, "fixturenames", ())
    # One test makes its server itself.
    return any(name in names for name in fixtures) or item.name == "test_override"


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if not uses_server(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if uses_server(item)]
