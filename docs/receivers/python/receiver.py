"""A webhook receiver with nothing but Python's standard library (3.9 or newer). Run it:

    WEBHOOK_SECRET=whsec_... PORT=3000 python3 receiver.py
"""

import hashlib
import hmac
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 1024 * 1024


class Refusal(Exception):
    """The status and a text that gives nothing away."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Inbox:
    """Processes every delivery once.

    In production this is a table with a unique key on the delivery id, written in the same transaction
    as the side effect, whose rows are kept for longer than the 24 hours in which retries may come.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._known = set()
        self._processed = []

    def process_once(self, payload):
        # The lock spans look-up, work and record: two copies at once can't both find the id unknown.
        # If the work raises, nothing is recorded and the retry does it again.
        with self._lock:
            if payload["delivery_id"] in self._known:
                return
            self._side_effect(payload)
            self._known.add(payload["delivery_id"])

    def _side_effect(self, payload):
        # Your work goes here. Ignore events that you have no use for; never refuse them.
        self._processed.append(payload["delivery_id"])

    def processed(self):
        with self._lock:
            return list(self._processed)


def is_signed(secret, body, header):
    """Compares the whole header value, prefix included, in constant time."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    # As bytes, because compare_digest raises on text outside ASCII, which a header may hold.
    return hmac.compare_digest(expected.encode(), (header or "").encode("latin-1", "replace"))


def parse(body):
    """Looks at the fields it needs and at no others: more may be added at any time."""
    try:
        payload = json.loads(body.decode("utf-8"))
    except ValueError as error:
        raise Refusal(400, "the body is not JSON") from error
    if not isinstance(payload, dict) or not all(
        isinstance(payload.get(field), str) for field in ("event", "delivery_id")
    ):
        raise Refusal(400, "event or delivery_id is missing")
    return payload


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds of silence after which a connection is given up
    secret = ""
    inbox = Inbox()

    def do_POST(self):
        self._handle(self._receive)

    def do_GET(self):
        self._handle(self._show_processed)

    do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET

    def log_request(self, *_):
        """Only errors are logged."""

    def _handle(self, respond):
        # One request per connection keeps the framing of refused bodies out of the next request.
        self.close_connection = True
        try:
            self._answer(200, respond())
        except Refusal as refusal:
            self._answer(refusal.status, {"error": str(refusal)})
        except (ConnectionError, TimeoutError):
            pass  # the sender hung up half-way; it will come again
        except Exception:
            self.log_error("failed: %r", sys.exc_info()[1])
            self._answer(500, {"error": "internal error"})

    def _receive(self):
        if self._path() != "/webhook":
            raise Refusal(404, "not found")
        body = self._read_body()
        # First the signature, over the bytes as they came; nothing in the request is to be trusted before.
        if not is_signed(self.secret, body, self.headers.get("X-Service-Signature")):
            raise Refusal(401, "invalid signature")
        self.inbox.process_once(parse(body))
        return {"received": True}

    def _show_processed(self):
        if self._path() == "/webhook":
            raise Refusal(405, "POST only")
        if self._path() != "/processed" or self.command != "GET":
            raise Refusal(404, "not found")
        return self.inbox.processed()

    def _path(self):
        return self.path.split("?")[0]

    def _read_body(self):
        """The raw bytes. http.server leaves chunked transfer coding to us."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._read_chunks()
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit():
            raise Refusal(400, "bad Content-Length")
        if int(length) > MAX_BODY_BYTES:
            raise Refusal(413, "body too large")
        return self._read_exactly(int(length))

    def _read_chunks(self):
        chunks, size = [], 0
        while True:
            try:
                length = int(self.rfile.readline(1024).split(b";")[0], 16)
            except ValueError as error:
                raise Refusal(400, "bad chunk") from error
            if length < 0 or size + length > MAX_BODY_BYTES:
                raise Refusal(413, "body too large")
            if length == 0:
                break
            chunks.append(self._read_exactly(length))
            size += length
            self.rfile.readline(1024)  # the line end after the chunk
        while self.rfile.readline(1024) not in (b"\r\n", b"\n", b""):
            pass  # trailers
        return b"".join(chunks)

    def _read_exactly(self, length):
        data = self.rfile.read(length)
        if len(data) < length:
            raise ConnectionError("the body ended early")
        return data

    def _answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Connection", "close")
        if status == 405:
            self.send_header("Allow", "POST")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A sender that hangs up before it has read the answer is not news."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def main():
    secret = os.environ.get("WEBHOOK_SECRET", "")
    if not secret:
        sys.exit("Set WEBHOOK_SECRET to the webhook's signing secret (whsec_...).")
    Handler.secret = secret
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}/webhook", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
