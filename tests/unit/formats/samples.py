"""One or more small sources of every format, each a list of records."""

import json
from pathlib import Path
from typing import Any

SAMPLES: dict[str, list[list[Any]]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
