"""http.server with a strict Pydantic model of section 6.2; every field of the payload and of user.created is required."""

import hashlib
import hmac
import json
import os
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from pydantic import BaseModel, Field, ValidationError

SECRET = os.environ["WEBHOOK_SECRET"].encode()
lock = Lock()
known, processed = set(), []


class UserCreated(BaseModel):
    user_id: str = Field(pattern=r"^(usr|uid)_\w+$")
    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+$")
    created_at: datetime


class Payload(BaseModel):
    event: str = Field(pattern=r"^[a-z]+\.[a-z]+$")
    data: dict
    timestamp: datetime
    webhook_id: str = Field(pattern=r"^wh_\w+$")
    delivery_id: str = Field(pattern=r"^del_\w+$")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        try:
            body = self.read_body()
        except (ConnectionError, ValueError):
            self.close_connection = True
            return
        expected = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        given = self.headers.get("X-Service-Signature", "")
        if not hmac.compare_digest(expected.encode(), given.encode("latin-1")):
            return self.answer(401)
        try:
            payload = Payload.model_validate_json(body)
            if payload.event == "user.created":
                UserCreated.model_validate(payload.data)
        except ValidationError as error:
            return self.answer(422, {"errors": [str(one["loc"]) for one in error.errors()]})
        with lock:
            if payload.delivery_id not in known:
                known.add(payload.delivery_id)
                processed.append(payload.delivery_id)
        self.answer(200)

    def do_GET(self):
        if self.path == "/processed":
            with lock:
                return self.answer(200, list(processed))
        self.answer(200, "ready")

    def read_body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def answer(self, status, value=None):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Connection", "keep-alive")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(f"listening on http://127.0.0.1:{server.server_port}/webhook", flush=True)
server.serve_forever()
