"""Checks of every request: its size, and that a page of this server sent it; headers of every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 2 * 2**30  # of a request: a film of an hour at 4 Mb/s, which is the longest that a plan takes
TOO_LARGE: Final = f"The files have more than {MOST_BYTES // 2**30} GiB together."
READING: Final = ("GET", "HEAD")

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Passes requests to an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["method"] not in READING and not is_from_here(headers):
            await PlainTextResponse("Sent by another site.", 403)(scope, receive, send)
        elif int(headers.get("content-length", "0")) > MOST_BYTES:
            await PlainTextResponse(TOO_LARGE, 413)(scope, receive, send)
        else:
            await self._app(scope, _counted(receive), _with_headers(send))


def is_from_here(headers: Headers) -> bool:
    """Return whether a page of this server sent a request; browsers name the page's origin with every POST."""
    origin = headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2] == headers.get("host")
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _counted(receive: Receive) -> Receive:
    """Receive a body, but no larger one than its header may state."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MOST_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return with_headers
