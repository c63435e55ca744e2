"""Answers about series in plain language and as text for a terminal."""

from __future__ import annotations

from typing import Any

from macex.ask.goals import AnyOf
from macex.render.speech import Speech
from macex.render.values import score_text, scores, shown


def sentences(explanation: Any) -> list[str]:
    """One sentence for each counterfactual, or one that says why there is none."""
    if not explanation.counterfactuals:
        return [explanation.reason or "No sample was found that reaches the goal."]
    return [_sentence(explanation, found) for found in explanation.counterfactuals]


def _sentence(explanation: Any, found: Any) -> str:
    decided = isinstance(explanation.goal, AnyOf)
    before, after = scores(explanation.score, found.score)
    if not found.changes:
        what = f"decides {shown(found.label)}" if decided else "scores as wanted"
        return f"The model already {what} (score {before})."
    condition = f"If {Speech().listed([change_text(change) for change in found.changes])}"
    if decided:
        label = shown(found.label)
        return f"{condition}, the model would have decided {label} (score {before} → {after})."
    return f"{condition}, the score would have been {after} (now {before})."


def change_text(change: Any) -> str:
    """A change in words.

    >>> from types import SimpleNamespace as Given
    >>> change_text(Given(channel="sensor 12", start=40, stop=66, blend=1.0, case=7, label="B"))
    'sensor 12 between 40 and 65 were as in a case of class B'
    """
    when = f"between {change.start} and {change.stop - 1}"
    if change.stop - change.start == 1:
        when = f"at {change.start}"
    source = f"case {change.case}"
    if change.label is not None:
        source = f"a case of class {shown(change.label)}"
    how = "as" if change.blend >= 1 else f"{100 * change.blend:.0f} % of the way to what it is"
    return f"{change.channel} {when} were {how} in {source}"


def explanation_text(explanation: Any) -> str:
    """The decision, the goal, and a line for each counterfactual or the reason for none."""
    label = "" if explanation.label is None else f"{shown(explanation.label)}, "
    score = score_text(explanation.score)
    lines = [f"{label}score {score}; wanted: {explanation.goal.text}"]
    for rank, found in enumerate(explanation.counterfactuals, 1):
        _, after = scores(explanation.score, found.score)
        decided = after if found.label is None else f"{shown(found.label)} {after}"
        lines.append(f"{rank}. {_counted(found)}: {decided}")
        lines += [f"   {_line(change)}" for change in found.changes]
    if not explanation.counterfactuals:
        lines.append(f"no answer ({explanation.status}): {explanation.reason}")
    return "\n  ".join(lines)


def _counted(found: Any) -> str:
    if not found.changes:
        return "no change needed"
    return f"{found.sparsity} channel{'s' * (found.sparsity != 1)}"


def _line(change: Any) -> str:
    blend = "" if change.blend >= 1 else f", blended {change.blend:g}"
    label = "" if change.label is None else f" ({shown(change.label)})"
    return (
        f"{change.channel} {change.start}–{change.stop - 1} from case {change.case}{label}{blend}"
    )
