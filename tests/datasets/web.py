"""A web server on this machine that serves, breaks off, hangs and forgets, as told."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What is served by path, and how it misbehaves."""

    def __init__(self):
        self.pages = {}
        self.break_after = None  # bytes of a body after which the connection closes
        self.hang = threading.Event()
        self.hangs = False
        self.knows_ranges = True
        self.asked = []  # (path, range)
        self.address = ""


def handler(site):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked = self.headers.get("Range")
            site.asked.append((self.path, asked))
            if site.hangs:
                site.hang.wait(5)
                return
            body = site.pages.get(self.path)
            if body is None:
                self.send_error(404)
                return
            start = int(asked.split("=")[1].rstrip("-")) if asked and site.knows_ranges else 0
            if start >= len(body) > 0:
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            stop = len(body) if site.break_after is None else start + site.break_after
            self.wfile.write(body[start:stop])

        def log_message(self, *_):
            pass

    return Handler


@contextmanager
def serving():
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(site))
    site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.hang.set()
        server.shutdown()
        server.server_close()
