"""A sandbox of Understudy per test, for pytest. Copy it beside your tests; the standard library is all it needs.

The server is the one that UNDERSTUDY_URL names, else one that `npx understudy` starts for the run. Inside
`understudy suite` each test uses the suite's sandbox, in which the scenario is active.
"""

import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import pytest


class Refused(Exception):
    """A refusal of the control API, as a sentence."""


class SandboxDeleted(Refused):
    """The sandbox is gone: a test may delete it itself."""


def call(method, url, body=None, token=os.environ.get("UNDERSTUDY_TOKEN")):
    __tracebackhide__ = True
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
    if token:
        request.add_header("authorization", "Bearer " + token)
    try:
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        is_deleted = problem["type"] == "urn:understudy:problem:unknown-sandbox"
        raise (SandboxDeleted if is_deleted else Refused)(problem["detail"]) from None
    return json.loads(text) if text else None


class Sandbox:
    """`url` is the base URL for your application; the methods call the control API of the sandbox."""

    def __init__(self, control_url):
        self.control_url = control_url
        state = self.control("GET")
        self.name, self.url = state["name"], state["origin"] or state["base_url"]
        self.credentials = {}
        for key in self.control("GET", "/state/api_keys?limit=1000")["items"]:
            if not key["revoked"] and (key["expires_at"] is None or key["expires_at"] > state["clock"]["now"]):
                self.credentials.setdefault(key["user_id"], key["key"])

    def control(self, method, path="", body=None):
        __tracebackhide__ = True
        return call(method, self.control_url + path, body)

    def fault(self, match, **rule):
        """Arms a rule: sandbox.fault({"operation": "models.list"}, times=1, effect={"status": 503})."""
        __tracebackhide__ = True
        return self.control("POST", "/faults", {"match": match, **rule})

    def advance(self, by):
        """Moves the clock and returns the timers that ran."""
        return self.control("POST", "/clock/advance", {"by": by})["ran"]

    def assert_received(self, count=1, **match):
        """sandbox.assert_received(operation="threads.delete", count={"min": 1})"""
        __tracebackhide__ = True
        found = self.control("POST", "/journal/verify", {"match": match, "count": count})
        assert found["ok"], f"{found['found']} requests match {match}; nearest: {found['nearest'][:3]}"

    def journal(self):
        entries = self.control("GET", "/journal?limit=50")["entries"]
        return "\n".join(
            f"{one['at']} {one['method']} {one['path']} -> {one['status']} ({one['decision']})" for one in entries
        )


@pytest.fixture(scope="session")
def understudy():
    """The server's address."""
    if os.environ.get("UNDERSTUDY_URL"):
        yield os.environ["UNDERSTUDY_URL"]
        return
    with tempfile.TemporaryDirectory() as folder:
        ready = os.path.join(folder, "ready.json")
        command = ["npx", "--no", "understudy", "start", "--port", "0", "--quiet", "--ready-file", ready]
        process = subprocess.Popen(command, shell=False)
        while not os.path.exists(ready):
            if process.poll() is not None:
                pytest.exit(f"understudy did not start; is understudy-sandbox installed in {os.getcwd()}?", 2)
            time.sleep(0.05)
        with open(ready) as file:
            started = json.load(file)
        yield started["url"]
        os.kill(started["pid"], 15)
        process.wait()


@pytest.fixture
def sandbox(request, understudy):
    """A fresh sandbox; mark a test with `sandbox(clock={...}, scenarios=[...])` for options."""
    url = os.environ.get("UNDERSTUDY_CONTROL_URL")
    is_own = url is None
    if is_own:
        mark = request.node.get_closest_marker("sandbox")
        # A port of its own if this run started the server; a server elsewhere may not have its other ports open.
        options = {"origin": not os.environ.get("UNDERSTUDY_URL"), **(mark.kwargs if mark else {})}
        created = call("POST", understudy + "/_control/sandboxes", options)
        url = f"{understudy}/_control/sandboxes/{created['name']}"
    sandbox = Sandbox(url)
    request.node.understudy = sandbox
    yield sandbox
    try:
        faults = sandbox.control("GET", "/faults")["items"]
        if is_own:
            sandbox.control("DELETE")
    except SandboxDeleted:
        return
    untriggered = [one["match"] for one in faults if one["hits"] == 0]
    if untriggered and not getattr(request.node, "has_failed", False):
        pytest.fail(f"armed but never triggered: {untriggered}", pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call" and report.failed and hasattr(item, "understudy"):
        item.has_failed = True
        try:
            report.sections.append(("Journal of the sandbox, newest first", item.understudy.journal()))
        except SandboxDeleted:
            pass


def pytest_configure(config):
    config.addinivalue_line("markers", "sandbox(**options): options of the test's sandbox")
