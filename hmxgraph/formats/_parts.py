"""Convert message contents made of blocks: text blocks become text, all others become attachments."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import unquote_to_bytes

from hmxgraph.formats._values import mapping, name, parsed, present, text
from hmxgraph.formats.conversion import JsonObject

# Fields in which producers keep the text of a block.
_TEXT_FIELDS = ("text", "content", "output_text", "input_text", "refusal", "transcript", "value", "thinking")
_TEXT_BLOCKS = frozenset(
    {"text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text", "plain_text"}
)
# Maximum characters of a field of a non-text block; longer ones are cut, because they are data that nobody reads.
_LONGEST_FIELD = 2_000
# Fields in which producers keep the data of a block.
_DATA_FIELDS = ("data", "file_data", "b64_json", "blob", "base64")


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a message: its text and its attachments."""

    text: str = ""
    attachments: tuple[JsonObject, ...] = field(default=())

    def fields(self) -> JsonObject:
        """The fields of a message's content (HMX-E 4.1)."""
        return {"text": self.text} | ({"attachments": list(self.attachments)} if self.attachments else {})


def contents(value: Any) -> Contents:
    """The contents of a message: text, or blocks as OpenAI, Anthropic, LangChain and OpenTelemetry write them.

    Text blocks are joined by line breaks; all other blocks are attachments.

    >>> contents([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "https://a/b.png"}}])
    Contents(text='Look:', attachments=({'type': 'image', 'url': 'https://a/b.png'},))
    """
    if isinstance(value, str):
        return Contents(value)
    texts: list[str] = []
    attachments: list[JsonObject] = []
    for block in value if isinstance(value, list) else [value] if isinstance(value, Mapping) else []:
        text_of_block = block_text(block)
        if text_of_block is not None:
            texts.append(text_of_block)
        elif block is not None:
            attachments.append(attachment(block))
    return Contents("\n".join(filter(None, texts)), tuple(attachments))


def block_text(block: Any) -> str | None:
    """The text of a text block, which may be just a string; None for a block without text or of another kind.

    >>> block_text({"type": "text", "text": "hi"}), block_text({"type": "image"})
    ('hi', None)
    """
    if isinstance(block, str):
        return block
    fields = mapping(block)
    if name(fields.get("type", "text")) not in _TEXT_BLOCKS:
        return None
    return next((fields[field] for field in _TEXT_FIELDS if isinstance(fields.get(field), str)), None)


def attachment(block: Any) -> JsonObject:
    """A non-text block as an attachment: its kind, and the size and hash of its data, or its address and name.

    A block without data, address and name keeps its fields.

    >>> attachment({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}})["bytes"]
    2
    """
    fields = mapping(block)
    inner = next((mapping(fields[key]) for key in _INNER if isinstance(fields.get(key), Mapping)), {})
    merged = {**fields, **inner}
    url = _first_text(merged, _ADDRESSES) or _first_text(fields, ("image_url", "file_url"))
    kind = name(fields.get("type")).removeprefix("input_").removesuffix("_url") or "data"
    if url.startswith("data:"):
        return {"type": kind, **_data_of_url(url)}
    data_fields = (*_DATA_FIELDS, "content") if kind == "blob" else _DATA_FIELDS
    data = next((merged[key] for key in data_fields if isinstance(merged.get(key), str)), None)
    media_type = _first_text(merged, _MEDIA_TYPES)
    if data is not None:
        media = media_type or text(merged.get("format"))
        return {"type": kind, **_data(data, media), **present(name=name(merged.get("filename")))}
    described = present(
        url=url,
        media_type=media_type,
        name=name(merged.get("filename")) or name(merged.get("title")),
        file_id=name(merged.get("file_id")),
    )
    return {"type": kind, **(described or {key: _short(part) for key, part in fields.items() if key != "type"})}


# Fields in which blocks nest their data or its address; Gemini uses the last four.
_INNER = (
    *("image_url", "source", "input_audio", "file", "audio", "image", "document", "blob"),
    *("inlineData", "inline_data", "fileData", "file_data"),
)
_ADDRESSES = ("url", "uri", "fileUri", "file_uri")
_MEDIA_TYPES = ("media_type", "mime_type", "mimeType")


def _first_text(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """The text of the first of the fields *names* that has any; "" if none has."""
    return next(filter(None, (text(fields.get(field)) for field in names)), "")


def _data_of_url(url: str) -> JsonObject:
    """Media type, size and hash of the data in a ``data:`` URL (RFC 2397)."""
    header, _, data = url[len("data:") :].partition(",")
    media_type = header.partition(";")[0]
    if header.endswith(";base64"):
        return _data(data, media_type)
    return _measured(unquote_to_bytes(data.encode("utf-8", "surrogatepass")), media_type)


def _data(encoded: str, media_type: str) -> JsonObject:
    r"""Size and hash of base64 data, or of the text if it is not base64.

    >>> _data("aGkg\naGk=", "")["bytes"], _data("Who are you?", "text/plain")["bytes"]
    (5, 12)
    """
    try:
        return _measured(b64decode("".join(encoded.split()), validate=True), media_type)
    except ValueError:
        return _measured(encoded.encode("utf-8", "surrogatepass"), media_type)


def _measured(data: bytes, media_type: str) -> JsonObject:
    """The size and hash of *data*, which is not stored: a memory of text has no use for the bytes of an image."""
    return present(media_type=media_type) | {"bytes": len(data), "sha256": sha256(data).hexdigest()}


def _short(value: Any) -> Any:
    return f"{value[:_LONGEST_FIELD]} […]" if isinstance(value, str) and len(value) > _LONGEST_FIELD else value


# Calls and results.


def arguments(value: Any) -> JsonObject:
    """The arguments of a call as an object; JSON text is parsed, and anything but an object goes under ``input``.

    >>> arguments('{"a": 1}'), arguments({"a": 1}), arguments("make all"), arguments("")
    ({'a': 1}, {'a': 1}, {'input': 'make all'}, {})
    """
    parsed_value = parsed(value) if isinstance(value, str) else value
    if isinstance(parsed_value, Mapping):
        return dict(parsed_value)
    return {} if value in (None, "") else {"input": value if parsed_value is None else parsed_value}


def result(value: Any) -> tuple[Any, list[JsonObject]]:
    """The result of a call, and its attachments.

    Text blocks are joined to one text, and other blocks are the attachments. Text that is a JSON object or array is
    parsed.

    >>> result([{"type": "text", "text": "done"}]), result('{"rows": 3}')
    (('done', []), ({'rows': 3}, []))
    """
    if isinstance(value, list) and all(_is_block(part) for part in value) and value:
        blocks = contents(value)
        return _structured(blocks.text), list(blocks.attachments)
    return _structured(value) if isinstance(value, str) else value, []


def _is_block(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str)


def _structured(value: str) -> Any:
    """The object or array that *value* encodes, else the text itself."""
    structure = parsed(value) if value.lstrip()[:1] in {"{", "["} else None
    return structure if isinstance(structure, dict | list) else value
