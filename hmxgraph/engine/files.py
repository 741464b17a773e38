"""Small private files that are always whole: written aside, flushed, renamed into place."""

import os
import secrets
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Put *text* at *path*, readable by its owner only; a reader sees the old or the new text, never a part."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
