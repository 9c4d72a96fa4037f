"""A WSGI application on the standard library's server; deliveries are kept in SQLite."""

import hashlib
import hmac
import json
import os
import sqlite3
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from socketserver import ThreadingMixIn

SECRET = os.environ["WEBHOOK_SECRET"].encode()
LOCK = threading.Lock()
DB = sqlite3.connect(":memory:", check_same_thread=False)
DB.execute("CREATE TABLE deliveries (id TEXT PRIMARY KEY)")


def read_body(environ):
    stream = environ["wsgi.input"]
    if "chunked" not in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return stream.read(int(environ.get("CONTENT_LENGTH") or 0))
    chunks = []
    while size := int(stream.readline().split(b";")[0], 16):
        chunks.append(stream.read(size))
        stream.readline()
    stream.readline()
    return b"".join(chunks)


def respond(environ):
    path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
    if path == "/processed":
        with LOCK:
            return "200 OK", json.dumps([row[0] for row in DB.execute("SELECT id FROM deliveries")])
    if path != "/webhook":
        return "404 Not Found", ""
    if method != "POST":
        return "405 Method Not Allowed", ""
    body = read_body(environ)
    expected = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    given = environ.get("HTTP_X_SERVICE_SIGNATURE", "")
    if not hmac.compare_digest(expected.encode(), given.encode("latin-1")):
        return "401 Unauthorized", "invalid signature"
    try:
        payload = json.loads(body)
    except ValueError:
        return "400 Bad Request", "not JSON"
    with LOCK, DB:
        DB.execute("INSERT OR IGNORE INTO deliveries VALUES (?)", (payload["delivery_id"],))
    return "200 OK", "ok"


def application(environ, start_response):
    status, text = respond(environ)
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(text)))])
    return [text.encode()]


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


class Handler(WSGIRequestHandler):
    def log_message(self, *args):
        pass


server = make_server("127.0.0.1", 0, application, Server, Handler)
print(f"listening on http://127.0.0.1:{server.server_port}/webhook", flush=True)
sys.stderr = open(os.devnull, "w")
server.serve_forever()
