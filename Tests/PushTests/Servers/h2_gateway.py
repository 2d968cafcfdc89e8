"""A gateway like Apple's on the package h2, which misbehaves as it is told.

    h2_gateway.py FAULT CERTIFICATE KEY OTHER_CERTIFICATE OTHER_KEY

The files are PEM; the second pair is shown where FAULT is about certificates. Prints the port, then a line for
each request that it took, as it sees the matter itself:

    answered ID      the whole answer, 200, is written
    told ID STATUS   the same, another status
    unanswered ID    it was processed, and no whole answer will come
    refused ID       it was surely not processed
    token N          so many different provider tokens have come
"""

import json
import socket
import ssl
import struct
import sys
import threading

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings
from hyperframe.frame import GoAwayFrame

import h2_faults

MAX_STREAMS = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS
OUTPUT = threading.Lock()


def say(*words):
    with OUTPUT:
        print(*words, flush=True)


class Gone(Exception):
    """This side has ended the connection."""


class Request:
    def __init__(self, stream, headers, place, attempt):
        self.stream = stream
        self.headers = {name.decode(): value.decode() for name, value in headers}
        self.id = self.headers["apns-id"]
        self.place = place  # which request of its connection, from 1
        self.attempt = attempt  # which try of its id, from 1
        self.body = b""

    @property
    def number(self):
        """The number that its notification's body is."""
        return int(json.loads(self.body)["aps"]["alert"]["body"])


class Gateway:
    """What the connections share."""

    def __init__(self):
        self.lock = threading.Lock()
        self.attempts = {}
        self.tokens = []

    def attempt(self, id):
        with self.lock:
            self.attempts[id] = self.attempts.get(id, 0) + 1
            return self.attempts[id]

    def token(self, authorization):
        """Which provider token it is, from 1."""
        with self.lock:
            if authorization not in self.tokens:
                self.tokens.append(authorization)
                say("token", len(self.tokens))
            return self.tokens.index(authorization) + 1


class Connection:
    def __init__(self, gateway, sock, number, fault):
        self.gateway = gateway
        self.sock = sock
        self.number = number  # from 1
        self.fault = fault
        self.lock = threading.RLock()
        self.count = 0
        self.requests = {}
        self.memory = {}  # the fault's own
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, validate_outbound_headers=False))

    def run(self):
        self.h2.initiate_connection()
        self.h2.update_settings({MAX_STREAMS: 1000})
        self.tell("opened")
        self.flush()
        while True:
            data = self.sock.recv(65536)
            if not data:
                return
            with self.lock:
                for event in self.h2.receive_data(data):
                    self.take(event)
                self.flush()

    def tell(self, moment, *arguments):
        action = getattr(self.fault, moment, None)
        return action(self, *arguments) if action else None

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.count += 1
            request = Request(event.stream_id, event.headers, self.count, 0)
            request.attempt = self.gateway.attempt(request.id)
            self.gateway.token(request.headers["authorization"])
            self.requests[event.stream_id] = request
            self.tell("begun", request)
        elif isinstance(event, h2.events.DataReceived):
            if event.stream_id in self.requests:
                self.requests[event.stream_id].body += event.data
            if not getattr(self.fault, "keeps_windows_shut", False) or self.number > 2:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            request = self.requests.pop(event.stream_id, None)
            if request and not self.tell("arrived", request):
                self.answer(request)

    def flush(self):
        self.write(self.h2.data_to_send())

    def write(self, data):
        if data:
            self.sock.sendall(data)

    def raw(self, *frames):
        """Writes frames that h2 itself would not."""
        self.flush()
        self.write(b"".join(frame.serialize() for frame in frames))

    def answer(self, request, status=200, body=b"", headers=()):
        head = [(":status", str(status)), ("apns-id", request.id), *headers]
        self.h2.send_headers(request.stream, head, end_stream=not body)
        if body:
            self.h2.send_data(request.stream, body, end_stream=True)
        # Told before it is done: whoever reads the answer may read this at once.
        say(*(("answered", request.id) if status == 200 else ("told", request.id, status)))
        self.flush()

    def reset(self, request, code):
        self.h2.reset_stream(request.stream, code)
        self.flush()

    def encoded(self, *headers):
        return self.h2.encoder.encode(list(headers))

    def say(self, *words):
        say(*words)

    def leave(self):
        """Closes the socket without a word."""
        raise Gone

    def abort(self):
        """The same by RST: whatever is not read yet is lost."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Gone

    def go_away(self, last, code=0, debug=b'{"reason":"Shutdown"}'):
        self.raw(GoAwayFrame(0, last_stream_id=last, error_code=code, additional_data=debug))


def context(certificate, key, protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def serve(sock, number, gateway, fault, good, bad):
    try:
        if hasattr(fault, "accepted"):
            fault.accepted(number)
        sock = (bad if number <= 2 else good).wrap_socket(sock, server_side=True)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sock.selected_alpn_protocol() != "h2":
            sock.recv(1)
        else:
            Connection(gateway, sock, number, fault).run()
    except (OSError, Gone, h2.exceptions.ProtocolError) as error:
        print(f"connection {number}: {error!r}", file=sys.stderr)
    finally:
        sock.close()


def main():
    name, certificate, key, other_certificate, other_key = sys.argv[1:]
    fault = h2_faults.BY_NAME[name]()
    good = context(certificate, key, ["h2"])
    shown = (other_certificate, other_key) if hasattr(fault, "shows_other") else (certificate, key)
    bad = context(*shown, getattr(fault, "protocols", ["h2"]))
    gateway = Gateway()
    listener = socket.create_server(("127.0.0.1", 0))
    say(listener.getsockname()[1])
    number = 0
    while True:
        sock, _ = listener.accept()
        number += 1
        threading.Thread(target=serve, args=(sock, number, gateway, fault, good, bad), daemon=True).start()


main()
