"""A client of `macex serve`: a server's answers as the library's own."""

from macex.client.client import Client, RemoteJob

__all__ = ["Client", "RemoteJob"]
