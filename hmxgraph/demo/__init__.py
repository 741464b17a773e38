"""A small sample event file: a team deploys to Kubernetes staging, with failures and recoveries."""

from importlib.resources import as_file, files
from pathlib import Path

TENANT = "demo"
QUESTION = "Deploy the staging environment"
# A failure in the sample sessions, and what an agent asks when it occurs again.
FAILURE = 'namespaces "staging" not found'
FAILURE_QUESTION = f"kubectl apply failed: {FAILURE}"


def events_file() -> Path:
    """The path of the sample event file (newline-delimited JSON).

    >>> events_file().name
    'deployments.ndjson'

    """
    with as_file(files("hmxgraph.demo").joinpath("deployments.ndjson")) as path:
        return path
