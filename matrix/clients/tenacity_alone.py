"""tenacity around the standard library: no HTTP package."""
import json
import os
import urllib.error
import urllib.request
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_exponential_jitter

base = os.environ["UNDERSTUDY_BASE_URL"]
spread = wait_exponential_jitter(initial=0.2, max=5, jitter=0.3)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


opener = urllib.request.build_opener(NoRedirects)


def may_retry(error):
    if isinstance(error, urllib.error.HTTPError):
        return error.code == 429 or error.code >= 500
    return isinstance(error, OSError)


def wait(state):
    error = state.outcome.exception()
    told = error.headers.get("retry-after", "0") if isinstance(error, urllib.error.HTTPError) else "0"
    return max(float(told), spread(state))


def send(method, path, body=None):
    headers = {"api-key": "ak_adaOwnerAcme000000000000000000000000000", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, headers=headers, method=method)
    with opener.open(request, timeout=3) as answer:
        return json.load(answer)


@retry(retry=retry_if_exception(may_retry), stop=stop_after_attempt(5), wait=wait, reraise=True)
def read(path):
    return send("GET", path)


assert isinstance(read("/v1/models")["models"], list)
send("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["user.created"]})
read("/v1/models")
