import os
import httpx
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_exponential_jitter

client = httpx.Client(
    base_url=os.environ["UNDERSTUDY_BASE_URL"],
    headers={"api-key": "ak_adaOwnerAcme000000000000000000000000000"},
    timeout=3,
)
spread = wait_exponential_jitter(initial=0.2, max=5, jitter=0.3)


def may_retry(error):
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code == 429 or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError)


def wait(state):
    error = state.outcome.exception()
    told = error.response.headers.get("retry-after", "0") if isinstance(error, httpx.HTTPStatusError) else "0"
    return max(float(told), spread(state))


def send(method, path, body=None):
    answer = client.request(method, path, json=body)
    answer.raise_for_status()
    return answer.json()


@retry(retry=retry_if_exception(may_retry), stop=stop_after_attempt(5), wait=wait, reraise=True)
def read(path):
    return send("GET", path)


assert isinstance(read("/v1/models")["models"], list)
send("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["user.created"]})
read("/v1/models")
