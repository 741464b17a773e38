"""Every endpoint of the server under schemathesis: valid and invalid requests generated from its OpenAPI document."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.integration.serving import key_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(find_spec("schemathesis") is None, reason="pip install 'hmxgraph[server-test]'"),
]
# The check that invalid data are refused is left out: by the SDK's contract an empty parameter counts as absent.
CHECKS = "status_code_conformance,content_type_conformance,response_schema_conformance"


def fuzzed(served, secret, *options):
    """Exit status and output of one run of schemathesis."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{served.root}/openapi.json"]
    command += ["--header", f"Authorization: Bearer {secret}", "--phases", "examples,coverage,fuzzing", *options]
    command += ["--generation-deterministic", "--no-color", "--request-timeout", "120"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=850, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def test_no_request_breaks_the_server(served, address, tenant_id):
    """No request gets a 500 (outside ``/vault``) or a response that the OpenAPI document does not describe."""
    secret = key_for(address, tenant_id).secret
    memory = ("--exclude-path-regex", "/vault", "--checks", f"not_a_server_error,{CHECKS}")
    code, report = fuzzed(served, secret, *memory, "--max-examples", "40")
    assert code == 0, report[-6_000:]
    code, report = fuzzed(served, secret, "--include-path-regex", "/vault", "--checks", CHECKS, "--max-examples", "10")
    assert code == 0, report[-6_000:]
