"""What h2_gateway.py can do wrong, a class a fault.

accepted: a socket is there; opened: HTTP/2 has begun; begun: a request's headers are here; arrived: a request is here
whole. Where `arrived` returns True the fault has seen to the request itself; else it is answered 200.
"""

import threading

from h2.errors import ErrorCodes
from h2.settings import SettingCodes
from hyperframe.frame import (
    ContinuationFrame, DataFrame, HeadersFrame, PingFrame, PriorityFrame, PushPromiseFrame,
    RstStreamFrame, SettingsFrame)


def freeze():
    threading.Event().wait()


class Well:
    """None of them: answers all."""


class RefusesStreams:
    def arrived(self, connection, request):
        if request.place % 3 == 0:
            connection.say("refused", request.id)
            connection.reset(request, ErrorCodes.REFUSED_STREAM)
            return True


class GoesAwayMidBurst:
    """Takes ten requests a connection, and says so when it is in the middle of the next ones."""
    code = 0
    warns = False

    def arrived(self, connection, request):
        last = connection.memory.get("last", 0)
        # A body may come before that of an earlier stream.
        if request.stream < last or request.place <= 10 and "gone" not in connection.memory:
            connection.memory["last"] = max(last, request.stream)
            if self.warns and request.place == 10:
                connection.go_away(2**31 - 1)
            return False
        connection.say("refused", request.id)
        if "gone" not in connection.memory:
            connection.memory["gone"] = True
            connection.go_away(last, self.code)
        return True


class GoesAwayWithAnError(GoesAwayMidBurst):
    code = 11


class WarnsBeforeItGoes(GoesAwayMidBurst):
    warns = True


class NeverFinishesTLS:
    def accepted(self, number):
        if number <= 2:
            freeze()


class IsHalfOpen:
    def arrived(self, connection, request):
        if connection.number <= 2 and request.place > 15:
            connection.say("unanswered", request.id)
            freeze()


class NeverAnswersSome:
    def arrived(self, connection, request):
        if request.attempt == 1 and request.number % 10 == 7:
            connection.say("unanswered", request.id)
            return True


class ResetsTheSocket:
    def arrived(self, connection, request):
        if connection.number <= 3 and request.place == 25:
            connection.say("unanswered", request.id)
            connection.abort()


class NeverOpensAWindow:
    keeps_windows_shut = True


class ChangesTheLimit:
    """1, 1000, 0, 1000; h2 itself ends a connection whose client goes beyond it."""

    def limit(self, connection, count):
        with connection.lock:
            connection.h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: count})
            connection.flush()

    def opened(self, connection):
        self.limit(connection, 1)

    def arrived(self, connection, request):
        connection.answer(request)
        if request.place == 5:
            self.limit(connection, 1000)
        if request.place == 30:
            self.limit(connection, 0)
            threading.Timer(0.05, self.limit, (connection, 1000)).start()
        return True


class HasOddBodies:
    answers = [
        (503, b""), (502, b"<html><h1>Bad Gateway</h1></html>"), (500, b"\xff\xfe\x00"), (503, b'{"reason":17}'),
        (504, b'{"reason":"Unheard"'), (599, b'[[[[[[[[')]

    def arrived(self, connection, request):
        if request.attempt == 1 and request.place % 2 == 0:
            status, body = self.answers[request.place // 2 % len(self.answers)]
            connection.answer(request, status, body)
            return True


class ExpiresAndThrottles:
    """Calls the first provider token expired after a while, then some devices and once the whole connection busy."""

    def arrived(self, connection, request):
        token = connection.gateway.token(request.headers["authorization"])
        if token == 1 and (connection.number > 1 or request.place > 20):
            connection.answer(request, 403, b'{"reason":"ExpiredProviderToken"}')
        elif token > 1 and request.attempt <= 2 and request.place % 9 == 4:
            connection.answer(request, 429, b'{"reason":"TooManyRequests"}', [("retry-after", "1")])
        elif token > 1 and request.attempt <= 2 and request.place == 15:
            connection.answer(
                request, 429, b'{"reason":"TooManyProviderTokenUpdates"}', [("retry-after", "2")])
        else:
            return False
        return True


class SplitsAnswers:
    """A byte a DATA frame, with padding and empty frames between."""

    def arrived(self, connection, request):
        status, body = (200, b"{}") if request.attempt > 1 else (503, b'{"reason":"ServiceUnavailable"}')
        connection.h2.send_headers(request.stream, [(":status", str(status)), ("apns-id", request.id)])
        for byte in body:
            connection.h2.send_data(request.stream, bytes([byte]), pad_length=7)
            connection.h2.send_data(request.stream, b"")
        connection.h2.end_stream(request.stream)
        connection.say(*(("answered", request.id) if status == 200 else ("told", request.id, status)))
        connection.flush()
        return True


class AnswersInSteps:
    """103, then 200, then trailers."""

    def arrived(self, connection, request):
        connection.h2.send_headers(request.stream, [(":status", "103"), ("link", "</x>")])
        connection.h2.send_headers(request.stream, [(":status", "200"), ("apns-id", request.id)])
        connection.h2.send_headers(request.stream, [("x-end", "yes"), ("x-status", "500")], end_stream=True)
        connection.say("answered", request.id)
        connection.flush()
        return True


class AnswersEarly:
    """Before the request's body has come, and then wants no more of it (RFC 9113, section 8.1)."""

    def begun(self, connection, request):
        connection.answer(request)
        connection.raw(RstStreamFrame(request.stream, error_code=0))

    def arrived(self, connection, request):
        return True


class FloodsSettings:
    def arrived(self, connection, request):
        if connection.number <= 2 and request.place == 10:
            connection.raw(*[SettingsFrame(0, settings={0x42: number}) for number in range(5000)])


class FloodsPings:
    def arrived(self, connection, request):
        if connection.number <= 2 and request.place == 10:
            connection.raw(*[PingFrame(0, opaque_data=b"floooood") for _ in range(5000)])


class SaysTooMuch:
    """100 KB of headers, where the client has said that it takes 64."""

    def arrived(self, connection, request):
        if request.attempt == 1 and request.place % 5 == 3:
            connection.say("unanswered", request.id)
            fields = [(f"x-large-{number}", "x" * 5000) for number in range(20)]
            connection.h2.send_headers(request.stream, [(":status", "200"), *fields], end_stream=True)
            connection.flush()
            return True


class SaysTooMuchAtOnce:
    """The same in one field: too much for the client's HPACK, which costs the connection."""

    def arrived(self, connection, request):
        if connection.number <= 2 and request.place == 13:
            connection.say("unanswered", request.id)
            connection.h2.send_headers(request.stream, [(":status", "200"), ("x-large", "x" * 100_000)], end_stream=True)
            connection.flush()
            return True


class ResetsWithEveryCode:
    def arrived(self, connection, request):
        code = (request.place - 2) % 14
        if request.attempt > 1 or request.place == 1:
            return False
        connection.say("refused" if code == ErrorCodes.REFUSED_STREAM else "unanswered", request.id)
        connection.raw(RstStreamFrame(request.stream, error_code=code))
        return True


class ResetsAfterTheStatus:
    """The status stands, though the answer never ends."""

    def arrived(self, connection, request):
        connection.say("answered", request.id)
        connection.h2.send_headers(request.stream, [(":status", "200"), ("apns-id", request.id)])
        connection.reset(request, ErrorCodes.INTERNAL_ERROR)
        return True


class ClosesAtOnce:
    def opened(self, connection):
        if connection.number <= 3:
            connection.leave()


class HangsUp:
    """Closes after some answers, without GOAWAY."""

    def arrived(self, connection, request):
        if connection.number <= 3 and request.place == 20:
            connection.answer(request)
            connection.sock.unwrap()
            connection.leave()


class SpeaksHTTP1:
    protocols = ["http/1.1"]


class SaysNoProtocol:
    protocols = []


class ShowsAnotherCertificate:
    shows_other = True


class BreaksTheRules:
    words = [
        b"\0\0\1\0\0\0\0\0\0x",  # DATA on the connection
        DataFrame(9999, data=b"on no stream").serialize(),
        PushPromiseFrame(1, promised_stream_id=2, data=b"\x88", flags=["END_HEADERS"]).serialize(),
        SettingsFrame(0, settings={2: 7}).serialize(),
        HeadersFrame(1, data=b"\xff\xff\xff\xff\xff\xff", flags=["END_HEADERS"]).serialize(),
        b"HTTP/1.1 500 Internal Server Error\r\n\r\n",
    ]

    def arrived(self, connection, request):
        if connection.number <= len(self.words) and request.place == 10:
            connection.say("unanswered", request.id)
            connection.write(self.words[connection.number - 1])
            return True


class SpeaksOddly:
    """Nothing of this is wrong: unknown frames and settings, changed tables, headers in three frames."""

    def arrived(self, connection, request):
        block = connection.encoded((":status", "200"), ("apns-id", request.id), ("x", "y" * 20))
        third = len(block) // 3
        connection.flush()
        connection.say("answered", request.id)
        connection.write(b"\0\0\3\xbe\xff\0\0\0\0abc" + b"\0\0\0\xef\0" + request.stream.to_bytes(4, "big"))
        connection.raw(
            SettingsFrame(0, settings={0x99: 1, 1: request.place % 2 * 4096, 5: 16384 + request.place}),
            PriorityFrame(request.stream, depends_on=0, stream_weight=7),
            HeadersFrame(request.stream, data=block[:third], flags=["END_STREAM"]),
            ContinuationFrame(request.stream, data=block[third:2 * third]),
            ContinuationFrame(request.stream, data=block[2 * third:], flags=["END_HEADERS"]))
        return True


class Trickles:
    """Three bytes a record."""

    def opened(self, connection):
        write = connection.write
        connection.write = lambda data: [write(data[at:at + 3]) for at in range(0, len(data or b""), 3)]


BY_NAME = {kind.__name__: kind for kind in list(globals().values()) if isinstance(kind, type)}
