"""``hmxgraph fingerprint`` and ``hmxgraph digest`` as a user types them."""

import asyncio
import json
import resource
import stat
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hmxgraph
from hmxgraph.cli import app
from hmxgraph.errors import FingerprintError, FingerprintRefused, HmxGraphError, InvalidRequest, SignatureMismatch
from tests.integration.fingerprinted import Learned


def put(*given):
    """The envelope text with one value replaced at a path; None removes the field."""
    *path, value, text = given
    document = json.loads(text)
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    if value is None:
        del inner[path[-1]]
    return json.dumps(document)


@pytest.fixture
def origin(connection, tenant_id):
    """A tenant with three artifacts."""
    learned = Learned(connection, tenant_id)
    learned.learn_three()
    return learned


@pytest.fixture
def typed(address, tmp_path, monkeypatch):
    """Runs a command in an empty folder; returns its result or raises the error that ended it."""
    login = {"URI": address.uri, "USER": address.user, "PASSWORD": address.password, "DATABASE": address.database}
    for name, value in login.items():
        monkeypatch.setenv(f"HMXGRAPH_{name}", value)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        result = CliRunner().invoke(app, list(words))
        if isinstance(result.exception, HmxGraphError):
            raise result.exception
        return result

    return run


@pytest.fixture
def small_disk():
    """A context in which no file can grow beyond 100 bytes."""

    @contextmanager
    def small_disk():
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return small_disk


def test_an_export_that_finds_no_room_leaves_the_one_before(typed, origin, tmp_path, small_disk):
    """An export that fails for lack of space leaves the previous file unchanged and no other file behind."""
    export = ("fingerprint", "export", "-t", origin.tenant_id, "-o", "f.json")
    typed(*export)
    before = (tmp_path / "f.json").read_bytes()
    with small_disk(), pytest.raises(FingerprintRefused):
        typed(*export)
    assert (tmp_path / "f.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["f.json"]


def test_a_signed_fingerprint_travels(typed, origin):
    """A signed envelope can be exported, verified, imported by another tenant once, and taken back."""
    public = json.loads(typed("fingerprint", "keygen", "key", "--json").stdout)["public_key"]
    assert stat.S_IMODE(Path("key").stat().st_mode) == 0o600
    exported = typed("fingerprint", "export", "-t", origin.tenant_id, "-o", "f.json", "--key", "key", "--json")
    assert json.loads(exported.stdout)["verdict"] == "verified"
    verified = typed("fingerprint", "verify", "f.json", "--trust", "key.pub", "--json")
    assert json.loads(verified.stdout)["signed_by"] == public
    words = ("fingerprint", "import", "f.json", "-t", f"{origin.tenant_id}-b", "--trust", public, "--json")
    first, second = (json.loads(typed(*words).stdout) for _ in range(2))
    assert (first["outcome"], len(first["created_ids"]), second["outcome"]) == ("imported", 3, "unchanged")
    gone = typed("fingerprint", "take-back", first["import_id"], "-t", f"{origin.tenant_id}-b")
    assert "3 deprecated, 0 kept" in gone.stdout


def test_each_kind_of_bad_input_has_its_own_error(typed, origin):
    """A missing file, an existing key, an unpinned signature and a damaged envelope each have their own error."""
    typed("fingerprint", "keygen", "key")
    with pytest.raises(FingerprintRefused, match="key exists"):
        typed("fingerprint", "keygen", "key")
    Path("half.pub").write_text("somebody's", encoding="ascii")
    with pytest.raises(FingerprintRefused, match=r"half\.pub exists; a key is never overwritten"):
        typed("fingerprint", "keygen", "half")
    assert (Path("half").exists(), Path("half.pub").read_text(encoding="ascii")) == (False, "somebody's")
    with pytest.raises(FingerprintRefused, match=r"^nothing\.json: No such file"):
        typed("fingerprint", "verify", "nothing.json")
    typed("fingerprint", "export", "-t", origin.tenant_id, "-o", "f.json", "--key", "key")
    with pytest.raises(SignatureMismatch, match="not pinned"):
        typed("fingerprint", "verify", "f.json", "--trust", "00" * 32)
    Path("half.json").write_bytes(Path("f.json").read_bytes()[:500])
    with pytest.raises(FingerprintRefused, match="check 'json' failed"):
        typed("fingerprint", "verify", "half.json")
    assert typed("fingerprint", "export", "-t", origin.tenant_id, "--key", "key").exit_code == 2


BAD = {
    "truncated": ("json", lambda text: text[: len(text) // 2]),
    "huge": ("size", lambda text: text + " " * (1024 * 1024)),
    "empty": ("json", lambda _: ""),
    "a list": ("format", lambda text: f"[{text}]"),
    "bare fingerprint": ("format", lambda text: json.dumps(json.loads(text)["fingerprint"])),
    "wrong fingerprint_hash": ("fingerprint_hash", partial(put, "fingerprint", "fingerprint_hash", "0" * 64)),
    "wrong integrity_hash": ("integrity_hash", partial(put, "integrity_hash", "0" * 64)),
    "changed content": ("fingerprint_hash", partial(put, "fingerprint", "source_event_count", 77)),
    "other format": ("format", partial(put, "format", "zip")),
    "other envelope": ("envelope_version", partial(put, "envelope_version", 9)),
    "other protocol": ("hmx_version", partial(put, "hmx_version", "HMX-9.0")),
    "version of another type": ("fingerprint_version", partial(put, "fingerprint", "fingerprint_version", "one")),
    "no fingerprint": ("structure", partial(put, "fingerprint", None)),
    "no integrity_hash": ("structure", partial(put, "integrity_hash", None)),
    "no exported_by": ("structure", partial(put, "exported_by", None)),
    "NaN": ("json", lambda text: text.replace('"confidence":0.8', '"confidence":NaN', 1)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_writes_nothing(typed, origin, name):
    """A bad envelope is refused, on the command line and in Python, with the name of the check; nothing is stored."""
    check, damaged = BAD[name]
    other = Learned(origin.connection, f"{origin.tenant_id}-b")
    text = damaged(origin.export().to_json())
    Path("bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(FingerprintError) as typed_error:
        typed("fingerprint", "import", "bad.json", "-t", other.tenant_id)
    with pytest.raises(FingerprintError) as called_error:
        other.receive(text)
    for error in (typed_error, called_error):
        assert check in str(error.value).partition("\n")[0]
    assert other.counts() == {}


def test_both_faces_refuse_what_no_check_can_read(address, origin):
    """An invalid envelope, signature or trusted key is refused, sync and async, and the error names the argument."""
    made, other = origin.export(), Learned(origin.connection, f"{origin.tenant_id}-b")
    asked = {
        "envelope": {"envelope": None},
        "signature": {"envelope": made, "signature": {"algorithm": "Ed25519"}},
        "trusted_keys": {"envelope": made, "trusted_keys": [None]},
    }
    where = {"user": address.user, "password": address.password, "database": address.database}

    async def asked_awaiting(given):
        async with hmxgraph.connect_async(address.uri, tenant_id=other.tenant_id, **where) as graph:
            await graph.import_fingerprint(**given)

    with hmxgraph.connect(address.uri, tenant_id=other.tenant_id, **where) as graph:
        for name, given in asked.items():
            with pytest.raises(InvalidRequest, match=f"invalid {name}"):
                graph.import_fingerprint(**given)
            with pytest.raises(InvalidRequest, match=f"invalid {name}"):
                asyncio.run(asked_awaiting(given))
    assert other.counts() == {}


def test_contents_and_differences_are_shown(typed, origin):
    """``show`` prints the contents of an envelope and ``diff`` what was learned between two."""
    typed("fingerprint", "export", "-t", f"{origin.tenant_id}-empty", "-o", "a.json")
    typed("fingerprint", "export", "-t", origin.tenant_id, "-o", "b.json")
    shown = typed("fingerprint", "show", "b.json").stdout
    assert "Deploy to staging" in shown
    differences = json.loads(typed("fingerprint", "diff", "a.json", "b.json", "--json").stdout)
    assert {summary["change"] for summary in differences["summaries"]} == {"learned"}
    assert "learned" in typed("fingerprint", "diff", "a.json", "b.json").stdout
    assert json.loads(typed("fingerprint", "show", "b.json", "--json").stdout)["compression_tier"] == "full"


def test_the_digest_is_printed(typed, origin):
    """``hmxgraph digest`` prints the numbers of HMX-F 5."""
    measures = json.loads(typed("digest", "-t", origin.tenant_id, "--json").stdout)
    assert measures["entity_count"] == 0
    assert "entities" in typed("digest", "-t", origin.tenant_id).stdout
