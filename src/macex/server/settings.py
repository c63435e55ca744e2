"""The settings of a server: from `macex serve`, or by environment variables that begin with MACEX_.

MACEX_HOST=0.0.0.0 MACEX_DATABASE=postgresql+psycopg://macex@db/macex macex serve
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

MEBIBYTE = 2**20
AtLeastOne = Annotated[int, Field(ge=1)]


def state_folder() -> Path:
    """The default folder for what must survive a restart."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "macex"


class Settings(BaseSettings):
    """Where the server listens, where it keeps things, and how much one request may ask for.

    >>> Settings(host="127.0.0.1").local, Settings(host="0.0.0.0").local
    (True, False)
    """

    model_config = SettingsConfigDict(
        env_prefix="MACEX_", extra="forbid", frozen=True, env_ignore_empty=True
    )

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Names by which browsers may call the server, beside its own."
    )
    state: Path = Field(default_factory=state_folder, description="Uploads and the database.")
    project: Path | None = Field(default=None, description="One project, from anywhere.")
    demo: bool = Field(default=True, description="List the demo, unless `project` is given.")
    database: str = Field(default="", description="An SQLAlchemy URL; SQLite in `state` if empty.")
    admin_key: SecretStr | None = Field(
        default=None, min_length=1, description="A key with every scope."
    )
    secret: SecretStr | None = Field(
        default=None, min_length=16, description="Signs session cookies."
    )
    token: bool = Field(
        default=False, description="Let in only whoever opens the address that is printed, once."
    )
    session_hours: Annotated[float, Field(gt=0)] = 12

    body_bytes: AtLeastOne = 8 * MEBIBYTE
    body_values: AtLeastOne = Field(default=500_000, description="Values in a body of JSON.")
    body_seconds: Annotated[float, Field(gt=0)] = Field(
        default=20, description="How long a body may take, beside its length at a slow line's pace."
    )
    header_seconds: Annotated[float, Field(gt=0)] = 10
    send_seconds: Annotated[float, Field(gt=0)] = Field(
        default=60, description="How long an answer waits for a client that does not take it."
    )
    upload_bytes: AtLeastOne = 256 * MEBIBYTE
    upload_memory_mb: AtLeastOne = 2048
    upload_seconds: Annotated[float, Field(gt=0)] = 120
    model_memory_mb: AtLeastOne = Field(default=2048, description="For the model of a project.")
    model_seconds: Annotated[float, Field(gt=0)] = Field(
        default=30, description="For one call of a model."
    )
    models_at_once: AtLeastOne = Field(
        default=16, description="Models that have a process; one that is not asked makes room."
    )
    free_mb: Annotated[int, Field(ge=0)] = Field(
        default=200, description="Space in `state` without which nothing is taken in."
    )
    upload_columns: AtLeastOne = 5_000
    upload_cells: AtLeastOne = 100_000_000
    sync_rows: AtLeastOne = 100
    job_rows: AtLeastOne = 1_000_000
    jobs_at_once: AtLeastOne = Field(default=20, description="Jobs of one key that wait or run.")
    answers: AtLeastOne = 20
    explain_seconds: Annotated[float, Field(gt=0)] = 30
    model_rows: AtLeastOne = 100_000
    requests_per_second: Annotated[float, Field(gt=0)] = 100
    requests_at_once: AtLeastOne = 400

    share: bool = Field(default=True, description="Answer requests that wait together in one call.")
    share_ms: Annotated[float, Field(ge=0)] = 2
    job_chunk: AtLeastOne = 128
    job_threads: AtLeastOne = Field(
        default=4, description="Projects whose jobs are worked on at the same time."
    )
    audit: bool = Field(default=True, description="Record every explanation in the database.")
    log_values: bool = Field(default=False, description="Let log lines hold personal values.")

    @field_validator("hosts", mode="before")
    @classmethod
    def _listed(cls, given: object) -> object:
        """Names with commas between them, as an environment variable has them."""
        return [name.strip() for name in given.split(",")] if isinstance(given, str) else given

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def projects(self) -> Path:
        """The folder of the projects that were uploaded."""
        return self.state / "projects"

    @property
    def database_url(self) -> str:
        """Where jobs, audit records, views and keys are."""
        return self.database or f"sqlite:///{(self.state / 'server.db').absolute()}"
