"""The server of the page of ``dbpcfg explore``, for this machine alone.

It listens on 127.0.0.1. Its address has a token, without which nothing is answered; requests that a
browser sends for a page of somebody else are refused: by the host that they name, as other names
can be made to lead here (DNS rebinding), and by the origin of the page. Nothing that is sent is
stored or logged. A request has a limited size, and the time that it may wait is limited too.

Only functions of this extra import it: it needs Starlette and uvicorn.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import json
import secrets
import socket
from collections.abc import Callable, Sequence
from functools import cache, partial
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.machine import cores
from dbpcfg.report.assemble import explore_page, safe_json
from dbpcfg.report.explore import MAX_WORDS, Explored, Question

HOST = "127.0.0.1"
HOSTS = (HOST, "localhost")
MAX_BYTES = 2**18
"""The greatest size of a request."""
SECONDS = 20.0
"""How long an answer may take, with the time that it waits for others."""
MAX_CONNECTIONS = 256
FRAMES = ("http://localhost:*", "http://127.0.0.1:*", "https://localhost:*", "vscode-webview:")
"""Where notebooks may show the page in a frame."""

Asked = dict[str, Any]


class Server:
    """A server that is ready to run; its address is known, and nobody else can take its port.

    ``framed``: whether a notebook may show its page.
    """

    def __init__(self, explored: Sequence[Explored], port: int = 0, framed: bool = False) -> None:
        self.token = secrets.token_urlsafe(16)
        self.socket = _listening(port)
        app = application(explored, self.token, framed)
        self.uvicorn = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                lifespan="off",
                loop="asyncio",
                http="h11",
                ws="none",
                limit_concurrency=MAX_CONNECTIONS,
                h11_max_incomplete_event_size=2**14,
                timeout_graceful_shutdown=2,
            )
        )

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.socket.getsockname()[1]}/{self.token}/"

    def run(self) -> None:
        """Answer until an interrupt, which ends it."""
        try:
            self.uvicorn.run(sockets=[self.socket])
        except KeyboardInterrupt:  # of Ctrl-C, which the server raises again when it has ended
            pass
        finally:
            self.socket.close()

    def start(self) -> None:
        """Answer in a thread, until `stop` or the end of the program."""
        self.thread = Thread(target=self.run, name="dbpcfg explore", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """End it; its page then says so."""
        self.uvicorn.should_exit = True


def _listening(port: int) -> socket.socket:
    """A socket at a port; at any free one for 0."""
    # The protocol is named so that asyncio sends answers at once, not 40 ms later.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows shares ports otherwise
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(MAX_CONNECTIONS)
    except OSError as error:
        listening.close()
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error})"
        raise DbpcfgError(
            f"port {port} {why}: choose another with --port, or leave --port out for a free one"
        ) from None
    return listening


def application(explored: Sequence[Explored], token: str, framed: bool = False) -> ASGIApp:
    """What the server answers: the page, and its questions."""
    html = cache(lambda: explore_page({"runs": [one.data for one in explored]}))
    running = asyncio.Semaphore(cores())

    async def page(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(html))

    def answering(
        understood: Callable[[Explored, Asked], Callable[[], Any]],
    ) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            body = b""
            async for part in request.stream():
                body += part
                if len(body) > MAX_BYTES:
                    most = f"at most {MAX_WORDS} words fit here"
                    return _error(413, f"This is more than {MAX_BYTES // 1024} kB; {most}.")
            try:
                asked = json.loads(body)
                call = understood(explored[asked["run"]], asked)
            except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
                return _error(400, "This is not a question of the page.")
            try:
                async with asyncio.timeout(SECONDS), running:
                    if await request.is_disconnected():  # more has been typed since
                        return Response(status_code=204)
                    return _json(await run_in_threadpool(call))
            except DbpcfgError as error:
                return _error(422, str(error))
            except TimeoutError:
                return _error(503, "There were too many questions at once: ask again.")

        return answer

    routes = [
        Route(f"/{token}/", page),
        Route(f"/{token}/parse", answering(_parse), methods=["POST"]),
        Route(f"/{token}/say", answering(_say), methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), token, FRAMES if framed else ("'none'",))


def _parse(explored: Explored, asked: Asked) -> Callable[[], Any]:
    yes, no = (tuple((int(i), int(j)) for i, j in asked[name]) for name in ("yes", "no"))
    question = Question(str(asked["text"]), asked["depth"], yes, no, int(asked["words"]))
    return partial(explored.answer, question)


def _say(explored: Explored, asked: Asked) -> Callable[[], Any]:
    return partial(explored.say, asked["depth"], int(asked["seed"]))


def _json(data: object, status: int = 200) -> Response:
    """An answer; words can have characters that UTF-8 has not, which JSON escapes."""
    return Response(safe_json(data), status, media_type="application/json")


def _error(status: int, message: str) -> Response:
    return _json({"error": message}, status)


class Guard:
    """Refuses what does not come from the page, and says what browsers may do with answers."""

    def __init__(self, app: ASGIApp, token: str, frames: Sequence[str]) -> None:
        self.app, self.token = app, token
        self.headers = {
            "Content-Security-Policy": f"frame-ancestors {' '.join(frames)}",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        refused = self._refusal(scope)
        app = self.app if refused is None else PlainTextResponse(refused, 403)

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = [(k.lower().encode(), v.encode()) for k, v in self.headers.items()]
                message["headers"] = [*message["headers"], *given]
            await send(message)

        await app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host.rpartition(":")[0] not in HOSTS and host not in HOSTS:
            return f"This server answers to {HOST} only.\n"
        if origin is not None and origin != f"http://{host}":
            return "This server answers its own page only.\n"
        given = scope["path"].removeprefix("/").partition("/")[0]
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            return "Wrong address: open the one that dbpcfg explore shows.\n"
        return None
