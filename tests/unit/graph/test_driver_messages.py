"""The driver's own messages."""

import subprocess
import sys

PROGRAM = "import logging; from hmxgraph.graph import driver; logging.getLogger('neo4j.pool').error('connection lost')"


def test_driver_messages_stay_off_the_terminal():
    """A program that configures no logging sees only hmxgraph's errors, not the driver's messages as well."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert done.stderr == ""
