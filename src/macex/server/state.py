"""What the parts of a running server share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sqlalchemy import Engine
from starlette.requests import HTTPConnection

from macex.explanation import Explanations
from macex.server.api.responses import progress
from macex.server.followers import Following
from macex.server.jobs.runner import Runner
from macex.server.metrics import Metrics
from macex.server.projects.catalogue import Catalogue, Opening
from macex.server.security.gate import Gate
from macex.server.security.sessions import Sessions, kept_secret
from macex.server.settings import Settings
from macex.server.storage.answers import StoredAnswers
from macex.server.storage.audit import stored_audit
from macex.server.storage.database import Watch, open_database
from macex.server.storage.jobs import Jobs
from macex.server.storage.keys import Keys, StoredSessions
from macex.server.storage.views import Views
from macex.server.turns import Sharing, Turns
from macex.server.workers.pool import Workers, workers_for

STOP_S = 3.0  # for a job's present chunk
PAGES_AT_ONCE = 3  # of a project and a kind, some of which wait for its model


@dataclass(frozen=True)
class Server:
    """One server: its settings, its projects, what it stores and who works for it.

    A project is asked in `turns`, looked at by programs in those of `looking`, and its pages are
    made in those of `showing`.
    """

    settings: Settings
    engine: Engine
    projects: Catalogue
    keys: Keys
    gate: Gate
    views: Views
    answers: StoredAnswers
    opening: Opening
    jobs: Jobs
    runner: Runner
    sharing: Sharing
    turns: Turns
    looking: Turns
    showing: Turns
    following: Following
    workers: Workers
    metrics: Metrics
    watch: Watch

    def remove_project(self, name: str) -> None:
        """Forget a project with its files, jobs and views; the audit of it stays."""
        project = self.projects[name].name
        self.projects.remove(project)
        for identity in self.jobs.of(project):
            self.runner.cancel(identity)
            self.jobs.remove(identity)
        self.views.remove_all(project)

    def start(self) -> None:
        """Begin what goes on beside requests."""
        self.runner.start()
        self.watch.start()

    def close(self) -> None:
        """End what is running, within seconds; jobs go on at the next start."""
        self.runner.stop(0)  # what fails from here on fails because the server ends
        self.workers.close()
        self.runner.stop(STOP_S)
        self.sharing.close()
        self.watch.stop()
        self.engine.dispose()


def server_for(settings: Settings, workers: Workers | None = None) -> Server:
    """A server for these settings; nothing runs yet but `workers`, if they do."""
    engine, metrics = open_database(settings.database_url), Metrics()
    keys, jobs = Keys(engine), Jobs(engine)
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = settings.secret
    secret = kept_secret(settings.state) if own is None else own.get_secret_value().encode()
    sessions = Sessions(secret, 3600 * settings.session_hours, StoredSessions(engine))
    workers = workers or workers_for(settings)
    projects = Catalogue(
        settings.projects,
        settings.project,
        lambda name: partial(stored_audit, engine, name) if settings.audit else None,
        workers,
        demo=settings.demo,
    )
    return Server(
        settings=settings,
        engine=engine,
        projects=projects,
        keys=keys,
        gate=Gate(settings, keys, sessions),
        views=Views(engine),
        answers=StoredAnswers(engine),
        opening=Opening(),
        jobs=jobs,
        runner=Runner(jobs, projects.__getitem__, metrics.job_rows, threads=settings.job_threads),
        sharing=Sharing(
            settings.share_ms / 1000,
            together=settings.share,
            report=metrics.shared,
            finish=Explanations.to_json,
        ),
        turns=Turns(),
        looking=Turns(),
        showing=Turns(PAGES_AT_ONCE),
        following=Following(partial(progress, jobs)),
        workers=workers,
        metrics=metrics,
        watch=Watch(engine),
    )


def server_of(connection: HTTPConnection) -> Server:
    """The server that a request was sent to."""
    server: Server = connection.app.state.server
    return server
