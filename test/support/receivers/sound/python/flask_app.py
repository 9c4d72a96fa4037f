"""Flask on Werkzeug's server, hex decoded before the comparison."""

import hashlib
import hmac
import json
import logging
import os
import threading

from flask import Flask, abort, jsonify, request
from werkzeug.serving import make_server

SECRET = os.environ["WEBHOOK_SECRET"].encode()
app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024
lock = threading.Lock()
known, processed = set(), []


def is_signed(body, header):
    prefix, _, digest = header.partition("=")
    try:
        given = bytes.fromhex(digest)
    except ValueError:
        return False
    return prefix == "sha256" and hmac.compare_digest(hmac.new(SECRET, body, hashlib.sha256).digest(), given)


@app.post("/webhook")
def receive():
    body = request.get_data()
    if not is_signed(body, request.headers.get("X-Service-Signature", "")):
        abort(401)
    try:
        payload = json.loads(body)
    except ValueError:
        abort(400)
    with lock:
        if payload["delivery_id"] not in known:
            known.add(payload["delivery_id"])
            processed.append(payload["delivery_id"])
    return "", 204


@app.get("/webhook")
def health():
    return "all is well"


@app.get("/processed")
def show():
    with lock:
        return jsonify(deliveries=list(processed))


logging.getLogger("werkzeug").disabled = True
server = make_server("127.0.0.1", 0, app, threaded=True)
print(f"listening on http://127.0.0.1:{server.server_port}/webhook", flush=True)
server.serve_forever()
