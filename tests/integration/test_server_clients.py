"""The server with the SDK's wrapper and adapter, over TLS, and the commands that manage its keys."""

import asyncio
import gc
import json
import threading
import warnings
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hippocortex import wrap
from hippocortex.adapters.openclaw import create_middleware

from tests.integration.serving import key_for, server_process

openai = pytest.importorskip("openai", reason="pip install 'hmxgraph[formats-test]'")


class Model(BaseHTTPRequestHandler):
    """A fake model API that keeps its prompts; asked to extract facts, it returns one."""

    asked: list[str] = []  # noqa: RUF012 - shared on purpose

    def do_POST(self):
        """Answer one completion request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = json.dumps(body["messages"])
        self.asked.append(prompt)
        said = '["Ana runs Fedora 41"]' if "Extract key facts" in prompt else "Fedora it is."
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        answer = {"id": "c1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture
def model():
    """The base URL of the fake model, and the prompts it received."""
    Model.asked = []
    with HTTPServer(("127.0.0.1", 0), Model) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_port}/v1", Model.asked
        listener.shutdown()


def talk(model_url, secret, base_url, *questions):
    """Ask questions through a wrapped OpenAI client; the wrapper never closes the SDK client inside it."""
    with openai.OpenAI(api_key="none", base_url=model_url) as plain:
        client = wrap(plain, api_key=secret, base_url=base_url, session_id="talk")
        for question in questions:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": question}])


def test_a_wrapped_client_remembers(served, address, tenant_id, graph, model):
    """The SDK's wrapped OpenAI client stores messages and extracted facts, and recalls them for the next question."""
    model_url, asked = model
    secret = key_for(address, tenant_id).secret
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        talk(model_url, secret, served.base_url, "My laptop runs Fedora 41, remember that", "What does my laptop run?")
        gc.collect()
    (recalling,) = [prompt for prompt in asked if "What does my laptop run" in prompt and "Extract key" not in prompt]
    assert "[Hippocortex Memory Context]" in recalling
    assert "My laptop runs Fedora 41" in recalling
    types = [row["event_type"] for row in graph.query("explore/session_story", session_id="talk")]
    assert types[:3] == ["message", "message", "x-hmxgraph-memory"]
    assert graph.verify().wrong == ()


def test_events_from_an_adapter_are_stored_and_recalled(served, address, tenant_id, graph):
    """The adapter hides failures, so its events are checked here: stored, in order, and recalled."""
    secret = key_for(address, tenant_id).secret

    async def scenario():
        memory = create_middleware(api_key=secret, base_url=served.base_url, session_id="claw")
        await memory.on_message("Deploy the staging environment")
        await memory.on_tool_call("kubectl", {"verb": "apply"})
        await memory.on_tool_result("kubectl", "Error: namespace staging not found")
        await memory.on_response("It failed")
        context = await memory.get_context("Deploy the staging environment")
        await memory.close()
        return context

    context = asyncio.run(scenario())
    assert "namespace staging not found" in context
    assert "confidence:" in context
    assert [row["event_type"] for row in graph.query("explore/session_story", session_id="claw")] == [
        "message",
        "tool_call",
        "tool_result",
        "message",
    ]


def certificate(folder):
    """Files with a self-signed certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    chain, private = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    private.write_bytes(key.private_bytes(*pem))
    return chain, private


@pytest.mark.slow
def test_a_certificate_is_used(address, tenant_id, tmp_path):
    """With a certificate, the server answers over TLS only."""
    chain, private = certificate(tmp_path)
    secret = key_for(address, tenant_id).secret
    options = ("--tls-cert", chain, "--tls-key", private)
    with server_process(address, tmp_path, *options, certificate=chain) as served:
        answer = httpx.get(
            f"{served.base_url}/artifacts",
            headers={"Authorization": f"Bearer {secret}"},
            verify=served.trusted,
            timeout=120,
        )
        assert answer.json()["ok"]
        with pytest.raises(httpx.HTTPError):
            httpx.get(served.root.replace("https", "http") + "/health", timeout=60)


def test_keys_are_made_listed_and_revoked(run, graph):
    """The commands create a key for the tenant, list it without its secret, and revoke it."""
    code, text, _ = run("key", "create", "--agent", "ops", "--scope", "read", "--label", "ci", "--days", "2", "--json")
    made = json.loads(text)
    assert (code, made["scopes"], made["agent_id"], made["label"]) == (0, ["read"], "ops", "ci")
    assert graph.keys.find(made["secret"]).key_id == made["key_id"]
    code, text, _ = run("key", "list")
    assert made["key_id"] in text
    assert made["secret"] not in text
    code, text, _ = run("key", "revoke", made["key_id"], "--json")
    assert json.loads(text)["revoked_at"]
    code, _, errors = run("key", "revoke", "nobody")
    assert (code, "hmxgraph key list" in errors) == (1, True)
    code, _, errors = run("key", "create", "--scope", "admin")
    assert (code, "read, write" in errors) == (2, True)


def test_a_certificate_needs_its_key(run, tmp_path):
    """A certificate without its key is a usage error."""
    chain, _ = certificate(tmp_path)
    code, _, errors = run("serve", "--tls-cert", chain)
    assert (code, "--tls-key" in errors) == (2, True)
