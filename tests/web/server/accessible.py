"""What a page must be for keyboards and screen readers, asked of the page itself."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

AXE = Path(__file__).parents[1] / "axe" / "axe.min.js"

NAMELESS = """
() => [...document.querySelectorAll('input, select, textarea, button, a, summary, progress')]
  .filter(node => node.type !== 'hidden' && node.checkVisibility())
  .filter(node => !(node.getAttribute('aria-label') || node.textContent.trim() ||
    [...(node.labels ?? [])].some(label => label.textContent.trim())))
  .map(node => node.outerHTML)
"""
UNLABELLED = """
() => [...document.querySelectorAll('input, select, textarea, progress')]
  .filter(node => node.type !== 'hidden')
  .filter(node => !node.getAttribute('aria-label') && !(node.labels ?? []).length)
  .map(node => node.outerHTML)
"""
TWICE = """
() => { const ids = [...document.querySelectorAll('[id]')].map(node => node.id);
  return ids.filter((id, at) => ids.indexOf(id) !== at); }
"""
LEVELS = """
() => [...document.querySelectorAll('h1, h2, h3, h4')].filter(h => h.checkVisibility())
  .map(h => Number(h.tagName[1]))
"""
NO_OUTLINE = """
() => getComputedStyle(document.activeElement).outlineStyle === 'none'
  ? document.activeElement.outerHTML : ''
"""
FOCUSED = "document.activeElement.id || document.activeElement.textContent.trim()"
SMALL = """
() => [...document.querySelectorAll('button, .mx-button, select, input:not([type=hidden])')]
  .filter(node => node.checkVisibility() && !['checkbox', 'radio', 'range'].includes(node.type))
  .filter(node => node.getBoundingClientRect().height < 20).map(node => node.outerHTML)
"""


def faults(page) -> dict[str, list[str]]:
    """What is wrong with a page, by rule."""
    levels = page.evaluate(LEVELS)
    jumps = [f"h{a} then h{b}" for a, b in pairwise(levels) if b > a + 1]
    found = {
        "one h1": [] if levels.count(1) == 1 and levels[0] == 1 else [str(levels)],
        "headings in steps": jumps,
        "everything has a name": page.evaluate(NAMELESS),
        "every field has a label": page.evaluate(UNLABELLED),
        "ids are unique": page.evaluate(TWICE),
        "large enough to hit": page.evaluate(SMALL),
        "a language": [] if page.evaluate("document.documentElement.lang") else ["none"],
        "no tabindex above 0": page.evaluate(
            "[...document.querySelectorAll('[tabindex]')].filter(n => n.tabIndex > 0).length"
        )
        * ["some"],
    }
    return {rule: broken for rule, broken in found.items() if broken}


def tabbed(page, most: int = 60) -> list[str]:
    """What the Tab key reaches, in order; each must show that it has the focus."""
    reached = []
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        assert page.evaluate(NO_OUTLINE) == ""
        reached.append(page.evaluate(FOCUSED))
    return reached


@cache
def _axe() -> str:
    return AXE.read_text(encoding="utf-8")


def axe_findings(page) -> list[str]:
    """What axe-core finds wrong with a page: the rule, and the first element that breaks it."""
    page.evaluate(_axe())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found]
