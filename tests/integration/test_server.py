"""``hmxgraph serve`` as its clients see it: the real SDK against a real process on a real Neo4j."""

import asyncio
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from time import perf_counter, sleep

import httpx
import pytest
from hippocortex import Hippocortex, SyncHippocortex
from hippocortex.client import HippocortexError
from hippocortex.types import CaptureEvent, LearnOptions, SynthesizeOptions
from starlette.routing import Route

import hmxgraph
from hmxgraph.graph.connection import Connection
from hmxgraph.server.app import Limits, Mount, application
from tests.integration.ingested import EVENTS, Ingested
from tests.integration.servers import free_port
from tests.integration.serving import key_for, server_process

FAILED = "Error: namespace staging not found"


@pytest.fixture
def secret(address, tenant_id):
    """The secret of a key for the test's tenant."""
    return key_for(address, tenant_id).secret


@pytest.fixture
def client(served, secret):
    """The official SDK client with a key for the test's tenant."""
    with SyncHippocortex(api_key=secret, base_url=served.base_url, timeout=120) as client:
        yield client


def message(text, session_id="s1", role="user"):
    """A message as the SDK captures it."""
    return CaptureEvent(type="message", session_id=session_id, payload={"role": role, "content": text})


def deployment(number):
    """A session in which a deployment fails until the namespace is created."""
    session_id = f"run-{number}"

    def event(kind, **payload):
        return CaptureEvent(type=kind, session_id=session_id, payload=payload)

    return [
        message("Deploy the staging environment", session_id),
        event("tool_call", tool_name="apply_manifest", input={"file": "app.yaml"}),
        event("tool_result", tool_name="apply_manifest", output=FAILED),
        event("tool_call", tool_name="create_namespace", input={"name": "staging"}),
        event("tool_result", tool_name="create_namespace", output="namespace created", success=True),
        event("tool_call", tool_name="apply_manifest", input={"file": "app.yaml"}),
        event("tool_result", tool_name="apply_manifest", output="applied", success=True),
        message("Deployed", session_id, "assistant"),
    ]


def test_the_sdk_captures_learns_and_recalls(client):
    """Captured failures come back as a playbook, with labels, provenance and budget respected."""
    receipt = client.capture(message("We deploy with kubectl", "talk"))
    assert receipt.status == "ingested"
    assert receipt.event_id
    events = [event for number in range(4) for event in deployment(number)]
    batch = client.capture_batch([*events, CaptureEvent(type="", session_id="s", payload={})])
    assert [result.status for result in batch.results] == ["ingested"] * len(events) + ["error"]
    assert "$.type" in batch.results[-1].reason
    learned = client.learn()
    assert learned.status == "completed"
    assert learned.artifacts_by_type["failure_playbook"] >= 1
    assert client.learn(LearnOptions(scope="full", min_pattern_strength=0.5)).run_id != learned.run_id
    pack = client.synthesize("Deploy staging: namespace staging not found", SynthesizeOptions(max_tokens=1_500))
    failures = [entry for entry in pack.entries if entry.section == "failures"]
    assert failures
    assert "namespace" in failures[0].content
    assert failures[0].provenance[0].artifact_type == "failure_playbook"
    assert pack.budget.used <= pack.budget.limit == 1_500
    assert [entry for entry in pack.entries if entry.content.startswith("[tool]")]
    assert pack.entries[0].content.startswith("Lines marked [tool]")
    only = client.synthesize("Deploy staging: namespace staging not found", SynthesizeOptions(sections=["failures"]))
    assert {entry.section for entry in only.entries if not entry.content.startswith("Lines marked")} == {"failures"}


def test_the_asynchronous_client_lists_and_measures(served, client, secret):
    """Artifacts are sorted, paged and counted; metrics count the captured events."""
    client.capture_batch([event for number in range(4) for event in deployment(number)])
    client.learn()

    async def scenario():
        async with Hippocortex(api_key=secret, base_url=served.base_url, timeout=120) as hx:
            everything = await hx.list_artifacts(sort="confidence", order="asc", limit=100)
            pages, cursor = [], None
            while True:
                page = await hx.list_artifacts(sort="confidence", order="asc", limit=1, cursor=cursor)
                pages += page.artifacts
                cursor = page.cursor
                if not page.has_more:
                    break
            single = await hx.get_artifact(everything.artifacts[0].id)
            newest = await hx.list_artifacts(sort="createdAt", limit=1, type="failure_playbook")
            captures = await asyncio.gather(*(hx.capture(message(f"n {n}", f"s{n % 3}")) for n in range(20)))
            return everything, pages, single, newest, captures, await hx.get_metrics(period="1h")

    everything, pages, single, newest, captures, metrics = asyncio.run(scenario())
    assert everything.total == len(everything.artifacts) == len(pages) >= 1
    assert [artifact.id for artifact in pages] == [artifact.id for artifact in everything.artifacts]
    confidences = [artifact.confidence for artifact in everything.artifacts]
    assert confidences == sorted(confidences)
    assert single == everything.artifacts[0]
    assert {artifact.type for artifact in newest.artifacts} == {"failure_playbook"}
    assert {capture.status for capture in captures} == {"ingested"}
    assert metrics.events_ingested == metrics.events_total == 4 * len(deployment(0)) + 20


def test_a_repeated_capture_with_its_key_is_a_duplicate(served, secret):
    """The same event under one idempotency key is stored once; another event under that key is refused."""
    with httpx.Client(base_url=served.base_url, headers={"Authorization": f"Bearer {secret}"}, timeout=120) as http:
        body = {
            "type": "message",
            "sessionId": "s",
            "payload": {"role": "user", "content": "hi"},
            "idempotencyKey": "k",
        }
        answers = [http.post("/capture", json=body).json()["data"] for _ in range(2)]
        other = http.post("/capture", json={**body, "payload": {"role": "user", "content": "another"}})
    assert [answer["status"] for answer in answers] == ["ingested", "duplicate"]
    assert answers[0]["eventId"] == answers[1]["eventId"]
    assert (other.status_code, other.json()["error"]["code"]) == (422, "validation_error")


def test_an_event_with_an_invalid_name_rejects_no_other(served, secret):
    """A session or key that is not valid Unicode rejects its event; the rest of the batch is stored and counted."""
    event = {"type": "message", "sessionId": "s", "payload": {"role": "user", "content": "hi"}}
    batch = {"events": [event, {**event, "sessionId": "\ud800"}, {**event, "idempotencyKey": "\ud800"}]}
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    with httpx.Client(base_url=served.base_url, headers=headers, timeout=120) as http:
        results = http.post("/capture/batch", content=json.dumps(batch)).json()["data"]["results"]
        usage = http.get("/usage-metrics?period=1h").json()["data"]
    assert [result["status"] for result in results] == ["ingested", "error", "error"]
    assert "leave out the lone surrogates" in results[1]["reason"]
    counted = usage["usage"]["events"]
    assert (counted["ingested"], counted["errors"]) == (1, 2)


def test_tenants_see_nothing_of_each_other(served, client, address, tenant_id):
    """Neither recall nor lists nor guessed ids reach another tenant's data."""
    client.capture_batch([event for number in range(4) for event in deployment(number)])
    client.capture(message("The vault code is zanzibar"))
    client.learn()
    other_key = key_for(address, f"{tenant_id}-b").secret

    async def probe(secret):
        async with Hippocortex(api_key=secret, base_url=served.base_url, timeout=120) as hx:
            pack = await hx.synthesize("What is the vault code? zanzibar staging")
            listed = await hx.list_artifacts(limit=100)
            return pack.entries, listed

    entries, listed = asyncio.run(probe(other_key))
    assert entries == []
    assert (listed.artifacts, listed.total) == ([], 0)
    with httpx.Client(base_url=served.base_url, headers={"Authorization": f"Bearer {other_key}"}, timeout=120) as http:
        own = client.synthesize("staging").entries
        for source_id in {source.source_id for entry in own for source in entry.provenance or ()}:
            assert http.get(f"/artifacts/{source_id}").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nowhere", None, 404, "not_found"),
        ("GET", "/capture", None, 405, "method_not_allowed"),
        ("POST", "/capture", b'{"type": ', 422, "validation_error"),
        ("POST", "/capture", b"[]", 422, "validation_error"),
        ("POST", "/capture", b'{"type": "message", "sessionId": "s", "payload": "x"}', 422, "validation_error"),
        ("POST", "/capture", b'{"type": "message", "sessionId": "\\ud800", "payload": {}}', 422, "validation_error"),
        ("POST", "/capture/batch", b'{"events": 7}', 422, "validation_error"),
        ("POST", "/synthesize", b'{"query": "x", "options": {"maxTokens": -1}}', 422, "validation_error"),
        ("POST", "/synthesize", b'{"query": "x", "options": {"sections": ["nope"]}}', 422, "validation_error"),
        ("POST", "/learn", b'{"scope": "sideways"}', 422, "validation_error"),
        ("GET", "/artifacts?status=nope", None, 422, "validation_error"),
        ("GET", "/artifacts?cursor=nope", None, 404, "not_found"),
        ("GET", "/artifacts?limit=0", None, 422, "validation_error"),
        ("GET", "/artifacts/a/b%2Fc", None, 404, "not_found"),
        ("GET", "/usage-metrics?period=1y", None, 422, "validation_error"),
        ("POST", "/vault/query", b'{"query": "x"}', 501, "not_implemented"),
        ("POST", "/vault/query/a/reveal", b"{}", 501, "not_implemented"),
        ("POST", "/capture", b" " * (9 << 20), 413, "request_too_large"),
    ],
)
def test_every_error_has_the_envelope(served, address, method, path, body, status, code):
    """Every error response has the same JSON envelope, with a non-null error."""
    secret = key_for(address, "envelopes").secret
    headers = {"Authorization": f"Bearer {secret}"}
    answer = httpx.request(method, served.base_url + path, content=body, headers=headers, timeout=120)
    document = answer.json()
    assert (answer.status_code, document["ok"], document["error"]["code"]) == (status, False, code)
    assert document["error"]["message"]
    assert isinstance(document["error"]["details"], list)
    assert document["meta"]["requestId"] == answer.headers["x-request-id"]


def test_the_sdk_raises_its_own_error(client):
    """The SDK's exception carries code, status, message and details."""
    with pytest.raises(HippocortexError, match="maxTokens") as refused:
        client.synthesize("x", SynthesizeOptions(max_tokens=0))
    assert (refused.value.code, refused.value.status_code) == ("validation_error", 422)
    assert refused.value.details[0]["path"] == "$.options.maxTokens"
    with pytest.raises(HippocortexError) as refused:
        client.vault_query("the password")
    assert (refused.value.code, refused.value.status_code) == ("not_implemented", 501)


def test_keys_are_refused_when_they_should_be(served, address, tenant_id, graph):
    """Unknown, expired and revoked keys are unauthorized, and a read-only key cannot write."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    secrets = {
        "unknown": "hmx_nobody",
        "expired": key_for(address, tenant_id, expires=yesterday).secret,
        "reader": key_for(address, tenant_id, scopes=["read"]).secret,
    }
    revoked = graph.keys.create("ops")
    graph.keys.revoke(revoked.key.key_id)
    secrets["revoked"] = revoked.secret
    refusals = {}
    for name, value in secrets.items():
        with SyncHippocortex(api_key=value, base_url=served.base_url, timeout=120) as hx:
            with pytest.raises(HippocortexError) as refused:
                hx.capture(message("hi"))
            refusals[name] = (refused.value.status_code, refused.value.code)
    assert refusals == {
        "unknown": (401, "unauthorized"),
        "expired": (401, "unauthorized"),
        "reader": (403, "forbidden"),
        "revoked": (401, "unauthorized"),
    }
    assert graph.health()["event_count"] == 0


def test_a_key_in_use_is_revoked(client, graph):
    """A running server refuses a revoked key within two seconds."""
    client.capture(message("hi"))
    (key,) = graph.keys.list()
    graph.keys.revoke(key.key_id)
    sleep(2.1)
    with pytest.raises(HippocortexError, match="is revoked"):
        client.capture(message("hi again"))


def test_no_secret_is_stored_or_logged(served, client, secret, graph, connection):
    """The key listing and the log never contain a key's secret, and the log contains no captured content."""
    client.capture(message("the word is rumpelstiltskin", "hidden-session"))
    (key,) = graph.keys.list()
    assert secret not in str(key.document())
    log = served.log.read_text()
    assert key.key_id in log
    assert secret not in log
    assert "rumpelstiltskin" not in log
    assert "hidden-session" not in log


def test_figures_and_description_need_no_key(served):
    """Metrics, OpenAPI document and docs need no key, and the metrics name no tenant."""
    figures = httpx.get(f"{served.root}/metrics", timeout=60)
    assert 'hmxgraph_requests_total{method="GET",route="/health",status="200"}' in figures.text
    assert "tenant" not in figures.text
    assert httpx.get(f"{served.root}/openapi.json", timeout=60).json()["openapi"] == "3.1.0"
    assert "/v1/capture" in httpx.get(f"{served.root}/docs", timeout=60).text


# The application in this process, with rate limits that must not affect other tests.


@asynccontextmanager
async def started(app):
    """Run the application's lifespan, as uvicorn does."""
    to_app, from_app = asyncio.Queue(), asyncio.Queue()
    running = asyncio.create_task(app({"type": "lifespan", "state": {}}, to_app.get, from_app.put))
    await to_app.put({"type": "lifespan.startup"})
    assert (await from_app.get())["type"] == "lifespan.startup.complete"
    yield
    await to_app.put({"type": "lifespan.shutdown"})
    assert (await from_app.get())["type"] == "lifespan.shutdown.complete"
    await running


async def _broken(_request):
    raise RuntimeError("the password is blue")


def test_limits_and_defects_are_answered(address, tenant_id, caplog):
    """A rate-limited response says when to retry; an unexpected error is answered without its message."""
    root = hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id)
    secret = root.keys.create("ops").secret
    extra = Mount([Route("/broken", _broken)], None)
    app = application(root, Limits(rate=0.001, burst=3), lambda _service: extra)

    async def scenario():
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {secret}"}
        async with (
            started(app),
            httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as http,
        ):
            answers = [await http.get("/broken"), await http.get("/v1/artifacts"), await http.get("/v1/artifacts")]
            answers.append(await http.get("/v1/artifacts"))
            strangers = [await http.get("/v1/artifacts", headers={"Authorization": "Bearer x"}) for _ in range(4)]
            return answers, strangers

    answers, strangers = asyncio.run(scenario())
    assert [answer.status_code for answer in answers] == [500, 200, 200, 429]
    assert answers[0].json()["error"]["code"] == "internal_error"
    assert "blue" not in answers[0].text + caplog.text
    assert int(answers[3].headers["retry-after"]) >= 1
    assert answers[3].json()["error"]["code"] == "rate_limited"
    assert [answer.status_code for answer in strangers] == [401, 401, 401, 429]


# Stopping.


def test_a_stopped_server_finishes_what_it_began(address, tenant_id, tmp_path, secret, graph):
    """On SIGTERM, pending requests are answered, usage is stored, and the process exits with 0."""
    with server_process(address, tmp_path, "--rate", "0") as served:
        headers = {"Authorization": f"Bearer {secret}"}
        url = f"{served.base_url}/capture"

        def capture(number):
            body = {
                "type": "message",
                "sessionId": f"s{number % 4}",
                "payload": {"role": "user", "content": f"n{number}"},
            }
            try:
                return httpx.post(url, json=body, headers=headers, timeout=120).status_code
            except httpx.HTTPError:
                return 0

        assert capture(0) == 200
        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(capture, number) for number in range(1, 40)]
            while sum(answer.done() for answer in answers) < 5:
                sleep(0.01)
            assert served.stop() == 0
            statuses = [answer.result() for answer in answers]
    acknowledged = 1 + statuses.count(200)
    assert set(statuses) <= {200, 0}
    assert graph.health()["event_count"] == acknowledged
    assert sum(hour.ingested for hour in graph.usage.hours()) == acknowledged


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_it_acknowledged(address, tmp_path, secret, graph):
    """After kill -9 during captures and a restart, every acknowledged event is stored."""
    acknowledged = set()
    for _ in range(3):
        with server_process(address, tmp_path, "--rate", "0") as served:

            def capture(number, base=served.base_url):
                with SyncHippocortex(api_key=secret, base_url=base, timeout=60) as hx:
                    try:
                        return hx.capture(message(f"n{number}", f"s{number % 5}")).event_id
                    except HippocortexError:
                        return None

            with ThreadPoolExecutor(16) as pool:
                answers = [pool.submit(capture, number) for number in range(200)]
                while sum(answer.done() for answer in answers) < 60:
                    sleep(0.01)
                served.stop(signal.SIGKILL)
                acknowledged |= {answer.result() for answer in answers} - {None}
    assert len(acknowledged) >= 180
    assert graph.verify().wrong == ()
    stored = {event_id for event_id in acknowledged if graph.explain(event_id).record_id == event_id}
    assert stored == acknowledged


class Once(CaptureEvent):
    """A message stored once however often it is sent."""

    def to_dict(self):
        """The body with its text as idempotency key."""
        return super().to_dict() | {"idempotencyKey": self.payload["content"]}


class Retrying:
    """The official client as agents use it: calls that fail to connect are retried until they succeed."""

    def __init__(self, secret, base_url):
        self.client = SyncHippocortex(api_key=secret, base_url=base_url, timeout=120)
        self.times, self.captured, self.retries = [], {}, 0

    def capture(self, text, session_id):
        """Capture a message."""
        body = Once(type="message", session_id=session_id, payload={"role": "user", "content": text})
        self.captured[self._answered(lambda: self.client.capture(body)).event_id] = text

    def synthesize(self, question):
        """Ask a question."""
        self._answered(lambda: self.client.synthesize(question, SynthesizeOptions(max_tokens=500)))

    def _answered(self, call):
        """The result of *call*, retried on network errors for up to three minutes."""
        began = perf_counter()
        while True:
            try:
                answer = call()
            except HippocortexError as error:
                if error.code != "network_error" or perf_counter() - began > 180:
                    raise
                self.retries += 1
                sleep(0.2)
            else:
                self.times.append(perf_counter() - began)
                return answer


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_fifty_clients_for_minutes_and_a_kill(address, tenant_id, tmp_path):
    """50 concurrent clients survive a kill -9 and restart: only network errors occur, and no event is lost.

    Prints latency percentiles.
    """
    tenants = [f"{tenant_id}-{number}" for number in range(2)]
    secrets = [key_for(address, tenant).secret for tenant in tenants]
    seconds = int(os.environ.get("HMXGRAPH_TEST_SECONDS", "300"))
    end, port = perf_counter() + seconds, free_port()

    def work(number):
        client = Retrying(secrets[number % 2], f"http://127.0.0.1:{port}/v1")
        with client.client:
            while perf_counter() < end or not client.times:
                if len(client.times) % 5:
                    client.capture(f"client {number} says {len(client.times)}", f"s{number}")
                else:
                    client.synthesize(f"What does client {number} say?")
        return client

    with ThreadPoolExecutor(50) as pool:
        with server_process(address, tmp_path, "--rate", "0", port=port) as served:
            working = [pool.submit(work, number) for number in range(50)]
            sleep(max(0, end - seconds / 2 - perf_counter()))
            served.stop(signal.SIGKILL)
        with server_process(address, tmp_path, "--rate", "0", port=port):
            clients = [each.result() for each in working]
    _report(clients)
    for place, tenant in enumerate(tenants):
        captured = {event_id: text for client in clients[place::2] for event_id, text in client.captured.items()}
        assert _stored(address, tenant) == captured
    assert all(sum(each) for each in zip(*((len(client.captured), client.retries) for client in clients), strict=True))


def _report(clients):
    times = sorted(time for client in clients for time in client.times)
    p50, p99 = (times[int(len(times) * share)] for share in (0.5, 0.99))
    captured, retries = (sum(each) for each in zip(*((len(c.captured), c.retries) for c in clients), strict=True))
    sys.stdout.write(
        f"{len(times)} requests, {captured} captures, {retries} sent again, p50 {p50:.3f} s, p99 {p99:.3f} s, "
        f"longest {times[-1]:.3f} s\n"
    )


def _stored(address, tenant_id):
    """The text of each stored event, by id, after checking that verify finds nothing wrong."""
    login = {"user": address.user, "password": address.password, "database": address.database}
    with hmxgraph.connect(address.uri, tenant_id=tenant_id, **login) as graph:
        assert graph.verify().wrong == ()
    connection = Connection(address)
    try:
        rows = Ingested(connection, tenant_id).rows(EVENTS)
    finally:
        connection.close()
    return {row["event_id"]: json.loads(row["content"])["text"] for row in rows}
