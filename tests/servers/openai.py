"""An OpenAI-compatible server on loopback that answers as a test says and counts what it bills."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a request; parts of a split content are joined."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a client asked for; `number` counts from 1, `key` is the bearer token, `body` the
    whole JSON.
    """

    number: int
    path: str
    key: str
    model: str
    messages: tuple[ChatMessage, ...]
    stream: bool
    response_format: str  # "", "json_object" or "json_schema"
    schema: Mapping[str, Any] | None
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def system(self) -> str:
        """The system messages, joined."""
        return "\n".join(message.content for message in self.messages if message.role == "system")

    @property
    def user(self) -> str:
        """The user messages, joined: the second one says why an answer was refused."""
        return "\n".join(message.content for message in self.messages if message.role == "user")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server answers.

    Tokens left at None are counted by `counted`. `delay` is in seconds, before the first byte; `drip` in seconds,
    after every few bytes of the body; a body is `cut` after so many bytes, though more were promised. `raw` goes out
    as the whole body, `message` stands for the whole message of the assistant. A reply with status 200 is billed, also when the client has hung up meanwhile, as real
    providers do; others are not. `reports_usage=False` bills without telling, as some local servers do.
    """

    content: str = ""
    finish_reason: str | None = "stop"
    message: Mapping[str, Any] | None = None
    choices: bool = True
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reports_usage: bool = True
    status: int = 200
    error: str = ""
    kind: str = "invalid_request_error"
    code: str | None = None
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    # MB of the letter x, without a length before them.
    flood: int = 0


@dataclass(frozen=True, slots=True)
class Billed:
    """The sums of what was billed; `cached` tokens are part of `prompt`."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0


Respond = Callable[[ChatRequest], Reply]


def refused_key() -> Reply:
    """401: the key is wrong."""
    return Reply(status=401, error="Incorrect API key provided.", code="invalid_api_key")


def unknown_model(model: str) -> Reply:
    """404: there is no such model."""
    return Reply(status=404, error=f"The model `{model}` does not exist.", code="model_not_found")


def too_many(retry_after: float | str = 1) -> Reply:
    """429: wait for so many seconds, or until a date."""
    return Reply(
        status=429,
        error="Rate limit reached for requests.",
        kind="requests",
        code="rate_limit_exceeded",
        headers={
            "Retry-After": retry_after if isinstance(retry_after, str) else f"{retry_after:g}"
        },
    )


def broken(status: int = 500) -> Reply:
    """500 and its kin: the server failed."""
    return Reply(status=status, error="The server had an error.", kind="server_error")


def refused(words: str, status: int = 400, code: str | None = None) -> Reply:
    """400 and its kin, in a provider's own words."""
    return Reply(status=status, error=words, code=code)


def refused_format(request: ChatRequest) -> Reply:
    """400: this kind of structured output is not there."""
    wanted = f"'response_format' of type '{request.response_format}'"
    return Reply(status=400, error=f"Invalid parameter: {wanted} is not supported with this model.")


# A word of letters and digits is one token, a sign is one, and so is each character outside ASCII.
_TOKEN = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
# What a provider adds around each message, in tokens.
_AROUND_A_MESSAGE = 4


def counted(text: str) -> int:
    """The tokens of a text: rough, but the same every time."""
    return sum(1 for _ in _TOKEN.finditer(text))


def counted_prompt(messages: Sequence[ChatMessage]) -> int:
    """The tokens of a prompt."""
    return sum(counted(message.content) + _AROUND_A_MESSAGE for message in messages)


class OpenAIServer:
    """Answers on `url` while its `with` block lasts; `requests` and `billed` say what came and what
    it cost.

    `respond` is called for one request at a time, in the order they came; the delays of replies run side by
    side. When it raises, the client sees the connection close, and the `with` block ends with the error.
    """

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._lock = threading.Lock()
        self._requests: list[ChatRequest] = []
        self._billed = Billed()
        self._errors: list[BaseException] = []
        self._closing = threading.Event()
        self.flooded = 0
        """MB of floods that went out."""
        self._http = _Server(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self._errors and error is None:
            raise self._errors[0]

    @property
    def url(self) -> str:
        """The address without a path; clients take `url + "/v1"`."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def requests(self) -> tuple[ChatRequest, ...]:
        """Every well-formed chat request so far, in order."""
        with self._lock:
            return tuple(self._requests)

    @property
    def billed(self) -> Billed:
        """What was billed so far."""
        with self._lock:
            return self._billed

    def _answered(
        self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> tuple[ChatRequest, Reply]:
        """Record a request, let the test answer it, and bill the answer."""
        with self._lock:
            request = _request(len(self._requests) + 1, path, headers, body)
            self._requests.append(request)
            reply = _with_tokens(self._respond(request), request)
            if reply.status == 200:
                self._bill(reply)
        return request, reply

    def _bill(self, reply: Reply) -> None:
        old = self._billed
        self._billed = Billed(
            old.calls + 1,
            old.prompt + (reply.prompt_tokens or 0),
            old.completion + (reply.completion_tokens or 0),
            old.cached + (reply.cached_tokens or 0),
        )


def _request(
    number: int, path: str, headers: Mapping[str, str], body: Mapping[str, Any]
) -> ChatRequest:
    wanted = body.get("response_format") or {}
    return ChatRequest(
        number=number,
        path=path,
        key=headers.get("authorization", "").removeprefix("Bearer "),
        model=str(body["model"]),
        messages=tuple(
            ChatMessage(str(m["role"]), _text(m.get("content"))) for m in body["messages"]
        ),
        stream=bool(body.get("stream")),
        response_format=str(wanted.get("type", "")),
        schema=(wanted.get("json_schema") or {}).get("schema"),
        body=body,
        headers=headers,
    )


def _text(content: object) -> str:
    """The text of a message: a string, or the text parts of a list."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _with_tokens(reply: Reply, request: ChatRequest) -> Reply:
    prompt = (
        counted_prompt(request.messages) if reply.prompt_tokens is None else reply.prompt_tokens
    )
    completion = (
        counted(reply.content) if reply.completion_tokens is None else reply.completion_tokens
    )
    return replace(reply, prompt_tokens=prompt, completion_tokens=completion)


def _usage(reply: Reply) -> dict[str, Any]:
    prompt, completion = reply.prompt_tokens or 0, reply.completion_tokens or 0
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if reply.cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": reply.cached_tokens}
    return usage


def _whole(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """The body of an answer in one piece."""
    if reply.status != 200:
        return {
            "error": {"message": reply.error, "type": reply.kind, "param": None, "code": reply.code}
        }
    message = (
        {"role": "assistant", "content": reply.content} if reply.message is None else reply.message
    )
    body = _head(request, "chat.completion")
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    body["choices"] = [choice] if reply.choices else []
    if reply.reports_usage:
        body["usage"] = _usage(reply)
    return body


def _head(request: ChatRequest, kind: str) -> dict[str, Any]:
    # A fixed time: two runs of one test get the same bytes.
    return {
        "id": f"chatcmpl-{request.number}",
        "object": kind,
        "created": 1_772_409_600,
        "model": request.model,
    }


# Short enough that any real answer comes in several pieces.
_PIECE = 12


def _pieces(request: ChatRequest, reply: Reply) -> Iterator[str]:
    """The data lines of a streamed answer; usage comes last, and only when it was asked for."""
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [
        {"content": reply.content[i : i + _PIECE]} for i in range(0, len(reply.content), _PIECE)
    ]
    for delta in deltas:
        yield _chunk(request, [{"index": 0, "delta": delta, "finish_reason": None}])
    yield _chunk(request, [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}])
    if reply.reports_usage and (request.body.get("stream_options") or {}).get("include_usage"):
        yield _chunk(request, [], _usage(reply))
    yield "[DONE]"


def _chunk(
    request: ChatRequest, choices: list[dict[str, Any]], usage: dict[str, Any] | None = None
) -> str:
    body = _head(request, "chat.completion.chunk") | {"choices": choices}
    return json.dumps(body | {"usage": usage} if usage else body, ensure_ascii=False)


class _Server(ThreadingHTTPServer):
    # Closing waits for the answers under way, so that no thread outlives its test.
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, owner: OpenAIServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is no error; what `respond` raised is kept for the end of its
        block.
        """
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError | TimeoutError):
            self.owner._errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    # Every answer closes its connection: no idle connection holds a thread when the server closes.
    protocol_version = "HTTP/1.1"
    timeout = 10

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Quiet: a test reads `requests`."""

    def do_POST(self) -> None:
        """Answer a chat request; anything else is refused as OpenAI does."""
        body = self._body()
        if self.path != "/v1/chat/completions":
            self._send_error(404, f"Invalid URL (POST {self.path})")
        elif body is None:
            self._send_error(400, "The body is not a JSON object with `model` and `messages`.")
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._answer(*self.server.owner._answered(self.path, headers, body))

    def do_GET(self) -> None:
        """There is nothing to read here."""
        self._send_error(404, f"Invalid URL (GET {self.path})")

    def _body(self) -> dict[str, Any] | None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            return None
        if isinstance(body, dict) and isinstance(body.get("messages"), list) and body.get("model"):
            return body
        return None

    def _answer(self, request: ChatRequest, reply: Reply) -> None:
        self.server.owner._closing.wait(reply.delay)
        if reply.flood:
            self._flood(reply)
        elif reply.raw is not None:
            self._send(reply, reply.raw)
        elif request.stream and reply.status == 200:
            self._stream(request, reply)
        else:
            self._send(reply, json.dumps(_whole(request, reply), ensure_ascii=False).encode())

    def _send_error(self, status: int, message: str) -> None:
        reply = Reply(status=status, error=message)
        error = {"error": {"message": message, "type": reply.kind, "param": None, "code": None}}
        self._send(reply, json.dumps(error).encode())

    def _send(self, reply: Reply, body: bytes) -> None:
        self._head(reply, "application/json", {"Content-Length": str(len(body))})
        sent = body[: reply.cut]
        step = _PIECE if reply.drip else max(1, len(sent))
        for start in range(0, len(sent), step):
            self.wfile.write(sent[start : start + step])
            self.wfile.flush()
            self._pause(reply)

    def _flood(self, reply: Reply) -> None:
        self._head(reply, "application/json", {})
        for _ in range(reply.flood):
            self.wfile.write(b"x" * 1024 * 1024)
            self.server.owner.flooded += 1

    def _stream(self, request: ChatRequest, reply: Reply) -> None:
        self._head(reply, "text/event-stream; charset=utf-8", {"Cache-Control": "no-cache"})
        for piece in _pieces(request, reply):
            self.wfile.write(f"data: {piece}\n\n".encode())
            self.wfile.flush()
            self._pause(reply)

    def _pause(self, reply: Reply) -> None:
        """A slow line; it ends with the server."""
        if reply.drip and self.server.owner._closing.wait(reply.drip):
            raise ConnectionAbortedError

    def _head(self, reply: Reply, content_type: str, more: Mapping[str, str]) -> None:
        self.send_response(reply.status)
        headers = {"Content-Type": content_type, "Connection": "close", **more, **reply.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
