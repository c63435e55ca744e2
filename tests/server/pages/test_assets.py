"""The files of the pages: whole, of known kinds, and no stranger to the style they build on."""

from __future__ import annotations

import re
from importlib.resources import files

from macex.server.pages.shell import MEDIA, assets

SHARED = files("macex.render").joinpath("templates", "style.css.j2").read_text()
OWN = files("macex.server.pages").joinpath("static", "pages.css").read_text()
ADAPTED = {"after", "badge", "card", "meter", "none", "panel"}


def classes(style):
    return set(re.findall(r"\.mx-([a-z-]+)", style))


def test_the_pages_restyle_only_what_they_mean_to():
    assert classes(SHARED) & classes(OWN) == ADAPTED


def test_every_file_has_a_kind_and_asks_for_nothing_elsewhere():
    for name, content in assets().items():
        assert name.rpartition(".")[2] in MEDIA
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*//.*|\s//\s.*", "", text, flags=re.MULTILINE)


def test_modules_import_what_is_there():
    for name, content in assets().items():
        for found in re.findall(r'from "\./([^"]+)"', content.decode()):
            assert name.endswith(".js")
            assert found in assets()
