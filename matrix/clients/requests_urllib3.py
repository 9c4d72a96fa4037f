import os
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

base = os.environ["UNDERSTUDY_BASE_URL"]
session = requests.Session()
session.headers["api-key"] = "ak_adaOwnerAcme000000000000000000000000000"
retry = Retry(total=4, backoff_factor=0.2, backoff_jitter=0.3, status_forcelist=[429, 500, 502, 503, 504], allowed_methods=["GET"])
session.mount("http://", HTTPAdapter(max_retries=retry))


def send(method, path, body=None):
    answer = session.request(method, base + path, json=body, timeout=3, allow_redirects=False)
    answer.raise_for_status()
    if answer.status_code >= 300:
        raise SystemExit(f"HTTP {answer.status_code}")
    return answer.json()


assert isinstance(send("GET", "/v1/models")["models"], list)
send("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["user.created"]})
send("GET", "/v1/models")
