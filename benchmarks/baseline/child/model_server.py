"""A model on loopback that speaks OpenAI's protocol and believes all that it is given.

It fills whatever JSON schema is asked for, without knowing the tasks of a tree: an array of objects
with `text` and `sources` gets the items of `learns`, a list of texts the line of `everywhere`, all
else the first value that the schema takes.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

# A message in a prompt: its id in brackets, then stamp, speaker and words.
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
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, Any]) -> str:
        """Return the content of the answer to a request."""
        self.requests += 1
        shape = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        return json.dumps(self._filled(shape, "", _Request(shape, prompt)), ensure_ascii=False)

    def _filled(self, shape: dict[str, Any], name: str, request: _Request) -> Any:
        shape = request.resolved(shape)
        match shape:
            case {"enum": [first, *_]} | {"const": first}:
                return first
            case {"type": "object"}:
                parts = shape.get("properties", {}).items()
                return {key: self._filled(part, key, request) for key, part in parts}
            case {"type": "array"}:
                return self._list(shape, name, request)
            case {"type": "string"} if name == "due":
                return ""
            case {"type": "string"}:
                text = self.everywhere if name == "title" else ""
                return (text or "noted")[: shape.get("maxLength", 40)]
            case {"type": "number" | "integer"}:
                return shape.get("maximum", shape.get("minimum", 1))
        return False if shape.get("type") == "boolean" else None

    def _list(self, shape: dict[str, Any], name: str, request: _Request) -> list[Any]:
        inner, least = request.resolved(shape.get("items", {})), shape.get("minItems", 0)
        if {"text", "sources"} <= inner.get("properties", {}).keys():
            items = self.learns[: shape.get("maxItems")]
            return [self._item(inner, item, request) for item in items]
        if name in _IDS:
            return [request.source("")][:least]
        if self.everywhere and inner.get("type") == "string" and "enum" not in inner:
            return [self.everywhere[: inner.get("maxLength", 200)]]
        return [self._filled(inner, name, request)] * least

    def _item(self, shape: dict[str, Any], item: Item, request: _Request) -> dict[str, Any]:
        parts = {key: request.resolved(part) for key, part in shape["properties"].items()}
        values = {key: self._filled(part, key, request) for key, part in parts.items()}
        known = {"explicit": item.explicit, "speaker": item.speaker}
        if item.kind in parts.get("kind", {}).get("enum", ()):
            known["kind"] = item.kind
        text = " ".join(item.text.split())[: parts["text"].get("maxLength", 200)]
        values |= {key: value for key, value in known.items() if key in parts}
        return {**values, "text": text, "sources": [request.source(item.said)]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
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

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        return Handler


@dataclass(frozen=True, slots=True)
class _Request:
    """The schema of an answer, and the prompt that asks for it."""

    root: dict[str, Any]
    prompt: str

    def source(self, said: str) -> str:
        """Return the id under which the prompt shows a message, else that of the last one."""
        start = said.strip().split("\n")[0][:_START]
        found = _SHOWN.findall(self.prompt)
        named = [name for name, line in found if start and start in line]
        return (named or [name for name, _ in found] or ["m1"])[-1]

    def resolved(self, shape: dict[str, Any]) -> dict[str, Any]:
        """Return a schema without references and alternatives: the first of them."""
        while "$ref" in shape:
            found: Any = self.root
            for key in shape["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            shape = found
        several = shape.get("anyOf") or shape.get("oneOf")
        return self.resolved(several[0]) if several else shape
