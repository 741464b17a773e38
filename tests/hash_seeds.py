"""The same work in processes whose sets and dictionaries have other orders."""

import os
import subprocess
import sys


def digests_of(module: str) -> set[str]:
    """What ``digest()`` of the test module *module* gives in two processes with hash seeds of their own."""
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
