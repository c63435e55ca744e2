"""The page of a model at a glance; what takes the model longer is worked out when it is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from macex.errors import MacexError
from macex.render.speech import Speech
from macex.server.api.needs import Reader
from macex.server.pages.address import Address
from macex.server.pages.answers import Gone, gone_of, turn
from macex.server.pages.comparison import nearest_real
from macex.server.pages.glance.groups import groupable, grouped_by
from macex.server.pages.glance.importance import importance
from macex.server.pages.glance.points import Told, scattered
from macex.server.pages.glance.scores import scored
from macex.server.pages.guard import PageRoute
from macex.server.pages.panes import Pane
from macex.server.pages.questions import wanted
from macex.server.pages.row import Look
from macex.server.pages.shell import address_of, moved, page, parts_asked, pieces
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.state import server_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
PARTS = ("scores", "scatter", "importance", "groups", "structure")
AT_ONCE = ("scores", "scatter")  # they ask the model for nothing new
ASKING = ("importance", "groups")  # they put questions to the model
RELATIONS = 12


@router.get("/projects/{name}/glance")
def glance_page(request: Request, name: str, caller: Reader) -> Response:
    """The model at a glance."""
    server, address = server_of(request), address_of(request)
    project = server.projects[name].open()
    if isinstance(project, SeriesProject):
        return moved(request, f"/projects/{project.name}")
    look = None
    if (row := address.one("row")).isdecimal() and len(row) < 12 and caller.may("explain"):
        look = Look(server.settings, project, int(row), request)
    glance = Glance(project, address, gone_of(request), server.settings.explain_seconds, look)
    asked = parts_asked(request, PARTS)
    known = [part for part in asked or AT_ONCE if part not in ASKING or caller.may("explain")]
    if not asked and (shown := address.one("show")) in PARTS and _allowed(shown, caller):
        known.append(shown)
    values = glance.shown(known, request.scope.get("root_path", ""))
    if asked:
        return pieces(request, [f"glance_{part}" for part in asked], values, project=project)
    return page(request, "glance", values, project=project)


def _allowed(part: str, caller: Any) -> bool:
    return part not in ASKING or bool(caller.may("explain"))


@dataclass(frozen=True)
class Glance:
    """A project that is glanced at."""

    project: Project
    address: Address
    gone: Gone
    seconds: float
    look: Look | None = None  # a row to be shown among the others, with its answers

    def shown(self, parts: list[str], root: str) -> dict[str, Any]:
        """What the templates need; a part that is not among these is None."""
        speech = Speech(self.project.parts.names)
        explainer, one = self.project.explainer(), self.address.one
        of, at, group, names = one("of"), one("at"), one("group"), (one("x"), one("y"))
        here = f"{root}/projects/{self.project.name}"
        make: dict[str, Callable[[], Any]] = {
            "scores": lambda: scored(self.project, of, at),
            "scatter": lambda: scattered(self.project, names, here, speech, self._told()),
            "importance": lambda: self._kept("importance", "", lambda: self._importance(speech)),
            "groups": lambda: self._groups(group, one("hoped"), speech),
            "structure": self._structure,
        }
        classes = explainer.classes
        return {
            **{part: self._made(part, make[part], parts) for part in PARTS},
            "speech": speech,
            "classes": None if classes is None else [str(label) for label in classes],
            "counts": self.project.table.counts(),
            "rows": len(self.project.table),
            "trained": len(self.project.parts.training),
            "columns": list(explainer.schema.columns),
            "groupable": groupable(self.project) if classes is not None else [],
        }

    def _told(self) -> list[Told]:
        """The row that is looked at, its best answer and the nearest real row."""
        if self.look is None:
            return []
        told: list[Told] = [(f"row {self.look.at}", "before", self.look.rows.codes[0])]
        told += [(name, "after", codes) for name, codes in self.look.answered()[:1]]
        nearest = nearest_real(self.look.aim)
        return told if nearest is None else [*told, ("nearest real row", "other", nearest)]

    def _made(self, part: str, make: Callable[[], Any], parts: list[str]) -> Pane | None:
        if part not in parts:
            return None
        try:
            return Pane(make())
        except MacexError as error:
            return Pane(fault=str(error))

    def _kept(self, part: str, about: str, make: Callable[[], Any]) -> Any:
        """What was worked out before, or now, when it is this project's turn."""

        def asked() -> Any:
            with turn(self.project, self.gone):
                return make()

        return self.project.remembered.get(("glance", part, about), asked)

    def _importance(self, speech: Speech) -> Any:
        return importance(self.project, self.seconds, speech)

    def _groups(self, column: str, hoped: str, speech: Speech) -> Any:
        known = groupable(self.project)
        if self.project.explainer().classes is None or not known or not column:
            return None
        want = wanted(Address([("want", hoped)]), self.project.explainer().classes)

        def made() -> Any:
            return grouped_by(self.project, column, want, speech)

        return self._kept("groups", f"{column}\n{hoped}", made)

    def _structure(self) -> Any:
        def made() -> Any:
            return tuple(self.project.explainer().structure)

        found = self.project.remembered.get(("glance", "structure"), made)
        return found[:RELATIONS], len(found)
