"""Connections and requests that break, bend or outwait HTTP: refused, and the server stays."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest

from macex.server import Settings

POST = b"POST /api/v1/projects/loans/predict HTTP/1.1\r\nHost: HOST\r\n"
TYPED = POST + b"Content-Type: application/json\r\n"
GET = b"GET /api/v1/projects HTTP/1.1\r\nHost: HOST\r\n"
OVER = b"Connection: close\r\n\r\n"
CLOSED = b""  # no answer: the connection is closed
HOSTILE = {
    "a line of nothing": (b"\x00\x01\x02\r\n\r\n", (b"400",)),
    "another protocol": (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", (b"400",)),
    "HTTP/2 without asking": (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        (b"400", b"421", b"404", b"405"),
    ),
    "a greeting of TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 300, (b"400",)),
    "a version that is none": (b"GET / HTTP/9.9\r\nHost: HOST\r\n\r\n", (b"400",)),
    "no version": (b"GET /\r\n\r\n", (b"400", b"421", CLOSED)),
    "a method that is none": (b"FLIP / HTTP/1.1\r\nHost: HOST\r\n\r\n", (b"400", b"405")),
    "a trace": (b"TRACE /api/v1/projects HTTP/1.1\r\nHost: HOST\r\n" + OVER, (b"405",)),
    "a tunnel": (
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\n" + OVER,
        (b"400", b"404", b"405"),
    ),
    "no host": (b"GET /api/v1/projects HTTP/1.1\r\n" + OVER, (b"400", b"421")),
    "two hosts": (GET + b"Host: evil.example\r\n" + OVER, (b"200", b"400", b"421")),
    "another host in the address": (
        b"GET http://evil.example/api/v1/projects HTTP/1.1\r\nHost: evil.example\r\n" + OVER,
        (b"400", b"421"),
    ),
    "a length that is none": (TYPED + b"Content-Length: ten\r\n" + OVER, (b"400",)),
    "a length below nothing": (TYPED + b"Content-Length: -5\r\n" + OVER, (b"400",)),
    "a length without end": (
        TYPED + b"Content-Length: " + b"9" * 30 + b"\r\n" + OVER,
        (b"400", b"413"),
    ),
    "a length of terabytes": (TYPED + b"Content-Length: 9999999999999\r\n" + OVER, (b"413",)),
    "two lengths": (
        TYPED + b"Content-Length: 2\r\nContent-Length: 3\r\n" + OVER + b"{}x",
        (b"400",),
    ),
    "a length and pieces": (
        TYPED + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n" + OVER + b"0\r\n\r\n",
        (b"400", b"422"),
    ),
    "pieces of a strange kind": (
        TYPED + b"Transfer-Encoding: gzip, chunked, x\r\n" + OVER,
        (b"400", b"408", b"422", b"415"),
    ),
    "a piece of no length": (
        TYPED + b"Transfer-Encoding: chunked\r\n" + OVER + b"zz\r\n",
        (b"400", CLOSED),
    ),
    "a piece of terabytes": (
        TYPED + b"Transfer-Encoding: chunked\r\n" + OVER + b"fffffffffffffffff\r\n",
        (b"400", CLOSED),
    ),
    "a header that goes on": (GET + b"X: a\r\n b\r\n" + OVER, (b"200", b"400")),
    "a header without a name": (GET + b": x\r\n" + OVER, (b"400",)),
    "a header with a NUL": (GET + b"X: a\x00b\r\n" + OVER, (b"400",)),
    "a blank before the colon": (GET + b"X : a\r\n" + OVER, (b"400",)),
    "a header of megabytes": (
        GET + b"X: " + b"a" * 2_000_000 + b"\r\n" + OVER,
        (b"400", b"431", CLOSED),
    ),
    "headers without number": (GET + b"X: a\r\n" * 200_000 + OVER, (b"400", b"431", CLOSED)),
    "an address of megabytes": (
        b"GET /" + b"a" * 2_000_000 + b" HTTP/1.1\r\nHost: HOST\r\n" + OVER,
        (b"400", b"414", CLOSED),
    ),
    "a NUL in the address": (b"GET /projects/%00 HTTP/1.1\r\nHost: HOST\r\n" + OVER, (b"400",)),
    "a way out of the folder": (
        b"GET /static/x/..%2f..%2f..%2fsecret HTTP/1.1\r\nHost: HOST\r\n" + OVER,
        (b"404",),
    ),
    "a way out of the projects": (
        b"GET /api/v1/projects/..%2f..%2fetc HTTP/1.1\r\nHost: HOST\r\n" + OVER,
        (b"404",),
    ),
    "another method by a header": (
        b"GET /api/v1/projects/loans HTTP/1.1\r\nHost: HOST\r\nX-HTTP-Method-Override: DELETE\r\n"
        + OVER,
        (b"200",),
    ),
    "a cookie of rubbish": (GET + b"Cookie: macex_session=....;;;=\xff\r\n" + OVER, (b"200",)),
    "a socket of another kind": (
        GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: eA==\r\n\r\n",
        (b"200", b"400", b"403", b"404", b"426"),
    ),
    "half of the headers": (GET + b"X-Half: ", (CLOSED,)),
    "half of a body": (TYPED + b"Content-Length: 100\r\n\r\n{", (b"408",)),
    "pieces that stop": (TYPED + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", (b"408",)),
    "a promise to go on": (
        TYPED + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
        (b"100", b"408"),
    ),
    "nothing at all": (b"", (CLOSED,)),
}


@pytest.fixture(scope="module")
def hasty(loan_project, tmp_path_factory, start):
    """A server that waits half a second for headers and bodies."""
    settings = Settings(
        state=tmp_path_factory.mktemp("hasty"),
        project=loan_project,
        header_seconds=0.5,
        body_seconds=0.5,
    )
    with start(settings) as served:
        httpx.get(f"{served.url}/api/v1/projects/loans", timeout=120)
        yield served


def said(url, request):
    """The status that a server answers with; nothing where it closes the connection."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        try:
            connection.sendall(request.replace(b"HOST", place.netloc.encode()))
            return connection.recv(4096).split(b" ")[1:2]
        except (BrokenPipeError, ConnectionResetError):
            return []


def test_there_are_enough_of_them():
    assert len(HOSTILE) >= 30


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_connection_ends(hasty, name):
    request, statuses = HOSTILE[name]
    assert (said(hasty.url, request) or [CLOSED])[0] in statuses
    assert httpx.get(f"{hasty.url}/api/v1/health", timeout=30).status_code == 200


def test_six_hundred_half_open_connections_are_closed(hasty):
    place = urlsplit(hasty.url)
    held = [socket.create_connection((place.hostname, place.port), 60) for _ in range(600)]
    for one in held:
        one.sendall(GET.replace(b"HOST", place.netloc.encode()))
    assert httpx.get(f"{hasty.url}/api/v1/health", timeout=60).status_code == 200
    assert [one.recv(1) for one in held] == [b""] * 600
    for one in held:
        one.close()


def drip(connection):
    for letter in b"GET /" + b"a" * 10_000:
        connection.sendall(bytes([letter]))
        time.sleep(0.05)


def test_headers_that_drip_are_cut_off(hasty):
    place = urlsplit(hasty.url)
    cut = pytest.raises((BrokenPipeError, ConnectionResetError))
    with socket.create_connection((place.hostname, place.port), 60) as connection, cut:
        drip(connection)


def test_a_connection_that_was_used_is_closed_too(hasty):
    place = urlsplit(hasty.url)
    with socket.create_connection((place.hostname, place.port), 60) as connection:
        connection.sendall(GET.replace(b"HOST", place.netloc.encode()) + b"\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / HT")
        while connection.recv(65536):
            pass


@pytest.mark.parametrize("path", ["/api/v1/health", "/api/v1/projects", "/", "/api/v1/projects/no"])
def test_head_is_get_without_the_body(hasty, path):
    whole, bare = (
        httpx.request(method, hasty.url + path, timeout=60) for method in ("GET", "HEAD")
    )
    assert (bare.status_code, bare.content) == (whole.status_code, b"")
    assert bare.headers["content-type"] == whole.headers["content-type"]
    assert bare.headers.get("content-length") == whole.headers.get("content-length")


def test_long_answers_are_compressed_for_those_who_can_read_them(hasty):
    path = f"{hasty.url}/api/v1/projects/loans/rows?size=300"
    packed = httpx.get(path, headers={"accept-encoding": "gzip"}, timeout=60)
    plain = httpx.get(path, headers={"accept-encoding": "identity"}, timeout=60)
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert "accept-encoding" in packed.headers["vary"].lower()
