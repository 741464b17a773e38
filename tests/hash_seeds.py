"""Run the same work in processes with different hash seeds, so that sets and dictionaries iterate differently."""

import os
import subprocess
import sys


def digests_of(module: str) -> set[str]:
    """The results of ``digest()`` in the test module *module*, from processes with two hash seeds."""
    program = f"import sys; sys.path.insert(0, '.'); from {module} import digest; print(digest())"
    return {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
