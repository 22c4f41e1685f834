"""A model on loopback that speaks OpenAI's protocol and believes all that it is given.

It fills whatever JSON schema is asked for: an array of objects with `text` and `sources` gets the
items of `learns`, everything else gets the smallest value that the schema takes. So it needs no
knowledge of the tasks of a tree.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

# A message in a prompt: its id in brackets, its stamp and its speaker before the words.
_SHOWN = re.compile(r"^\[([^\]\s]+)\] ([^\n]*)", re.MULTILINE)
_IDS = frozenset({"sources", "replaces", "ids"})
_START = 24


@dataclass(frozen=True, slots=True)
class Item:
    """What the model claims to have learnt, and the words of the message that it names for it."""

    text: str
    said: str
    kind: str = "fact"
    explicit: bool = False
    speaker: str = ""


class BelievingModel:
    """The server; `url` is what a client is given, `requests` counts what it was asked."""

    def __init__(self) -> None:
        self.learns: list[Item] = []
        self.everywhere = ""
        self.requests = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The address for `OPENAI_API_BASE`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, Any]) -> str:
        """Return the content of the answer to a request."""
        self.requests += 1
        shape = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        filled = _Form(shape, prompt, self.learns, self.everywhere).filled(shape, "")
        return json.dumps(filled, ensure_ascii=False)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            """Answers a completion."""

            def do_POST(self) -> None:  # noqa: N802 - http.server's name
                """Answer a request."""
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                message = {"role": "assistant", "content": model.answer(body)}
                choice = {"index": 0, "finish_reason": "stop", "message": message}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
                data = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002, ARG002
                """Say nothing."""

        return Handler


@dataclass(frozen=True, slots=True)
class _Form:
    """A schema with the prompt that it came with."""

    root: dict[str, Any]
    prompt: str
    items: list[Item]
    everywhere: str

    def filled(self, shape: dict[str, Any], name: str) -> Any:
        """Return a value that the schema takes."""
        shape = self._resolved(shape)
        if "enum" in shape:
            return shape["enum"][0]
        match shape.get("type"):
            case "object":
                parts = shape.get("properties", {}).items()
                return {key: self.filled(part, key) for key, part in parts}
            case "array":
                return self._list(shape, name)
            case "string":
                text = self.everywhere if name == "title" else ""
                return (text or "noted")[: shape.get("maxLength", 40)]
            case "number" | "integer":
                return shape.get("maximum", shape.get("minimum", 1))
            case "boolean":
                return False
        return None

    def _list(self, shape: dict[str, Any], name: str) -> list[Any]:
        inner = self._resolved(shape.get("items", {}))
        parts = inner.get("properties", {})
        if {"text", "sources"} <= parts.keys():
            most = shape.get("maxItems", len(self.items))
            return [self._item(inner, item) for item in self.items[:most]]
        if name in _IDS:
            return [self._source("")] if shape.get("minItems") else []
        if self.everywhere and inner.get("type") == "string" and "enum" not in inner:
            return [self.everywhere[: inner.get("maxLength", 200)]]
        return [self.filled(inner, name) for _ in range(shape.get("minItems", 0))]

    def _item(self, shape: dict[str, Any], item: Item) -> dict[str, Any]:
        values = {key: self.filled(part, key) for key, part in shape["properties"].items()}
        text = self._resolved(shape["properties"]["text"])
        known = {"explicit": item.explicit, "speaker": item.speaker, "confidence": 0.95}
        values |= {key: value for key, value in known.items() if key in values}
        kinds = self._resolved(shape["properties"].get("kind", {})).get("enum", ())
        values |= {"kind": item.kind} if item.kind in kinds else {}
        clipped = " ".join(item.text.split())[: text.get("maxLength", 200)]
        return {**values, "text": clipped, "sources": [self._source(item.said)]}

    def _source(self, said: str) -> str:
        """Return the id under which the prompt shows a message."""
        start = said.strip().split("\n")[0][:_START]
        found = _SHOWN.findall(self.prompt)
        named = [name for name, line in found if start and start in line]
        rest = [name for name, _ in found]
        return (named or rest or ["m1"])[-1]

    def _resolved(self, shape: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in shape:
            place: Any = self.root
            for key in shape["$ref"].removeprefix("#/").split("/"):
                place = place[key]
            shape = place
        for several in ("anyOf", "oneOf", "allOf"):
            if several in shape:
                return self._resolved(shape[several][0])
        return shape
