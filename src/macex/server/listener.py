"""How the server listens: uvicorn, with an end to waiting: for headers, and for slow readers."""

from __future__ import annotations

import socket
import struct
from asyncio import TimerHandle, Transport
from itertools import chain
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from macex.server.settings import Settings

HEAD_BYTES = 2**16  # of an address and headers
GRACE_S = 5  # for what is running when the server is told to end


def config_for(app: Any, settings: Settings) -> uvicorn.Config:
    """The configuration of uvicorn."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=type(
            "Patient",
            (Patient,),
            {"seconds": settings.header_seconds, "send_seconds": settings.send_seconds},
        ),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )


class Patient(HttpToolsProtocol):
    """Waits so long for headers, takes no more than some bytes of them, and waits for readers."""

    seconds, send_seconds = 10.0, 60.0
    _stuck: TimerHandle | None = None
    _closing: TimerHandle | None = None
    _head = 0  # bytes of the headers that are on their way

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Count what comes before the headers are whole."""
        self._head += len(data)
        super().data_received(data)
        if self._closing is not None and self._head > HEAD_BYTES:
            self._close()

    def on_message_begin(self) -> None:
        """Wait for the next headers."""
        super().on_message_begin()
        self._wait()

    def on_headers_complete(self) -> None:
        """Wait no longer."""
        self._stop()
        head = len(self.url) + sum(map(len, chain.from_iterable(self.headers)))
        if head > HEAD_BYTES:
            raise ValueError("the headers are too long")  # which the parser answers with 400
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is left to wait for."""
        self._stop()
        self._flows()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait a limited time for a client that does not read its answer."""
        super().pause_writing()
        self._stuck = self.loop.call_later(self.send_seconds, self._drop)

    def resume_writing(self) -> None:
        """It is taken again."""
        self._flows()
        super().resume_writing()

    def _drop(self) -> None:
        """End the connection, and with it what waits to be sent, in the system, too."""
        held = self.transport.get_extra_info("socket")
        if held is not None:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _flows(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _wait(self) -> None:
        self._stop()
        self._head = 0
        self._closing = self.loop.call_later(self.seconds, self._close)

    def _stop(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
