"""What a finding about bias says: sentences and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from macex.render.sheets import Grid, Sheet, percent, several
from macex.render.speech import Speech

if TYPE_CHECKING:
    from macex.cohort.bias import Bias
    from macex.cohort.estimates import Estimate
    from macex.cohort.fairness import GroupGap

FEW = 30  # rows below which a group is too small to be read
MOST = 6  # of differences, how many are told
WORDS = {"changes": "mean number of changes"} | {
    m: m for m in ("selection rate", "recourse rate", "burden")
}
PAIRS = 12  # of pairs of groups, how many are shown


def reading(found: Bias) -> list[str]:
    """The findings in plain sentences."""
    speech = Speech(found.names)
    if not found.rows:
        return ["There are no rows to look at."]
    said = [
        f"{_capital(speech.name(column))} has one value in training: nothing can be said of it."
        for column in found.constant
    ]
    for column, share in found.flips:
        tried = next(one for one in found.tried if one.column == column)
        least = "at least " * (tried.values < tried.seen)
        said.append(
            f"Changing {speech.name(column)} alone changes {least}{percent(share.value)} of "
            f"{several(share.rows, 'decision')}{_interval(share)}."
        )
        if least:
            said.append(
                f"Only {tried.values} of its {tried.seen} values were tried: the interval reaches "
                "as far as the others could take it."
            )
        said += _direction(found, column, speech) + _ways(found, column, speech)
    for used in found.free:
        name = _capital(speech.name(used.column))
        if not used.changed.rows:
            said.append(f"Even with {speech.name(used.column)} free, no row has an answer.")
            continue
        said.append(
            f"{name}, left free, is changed in {percent(used.changed.value)} of the answers and "
            f"among the three strongest actions of {percent(used.strongest.value)} of the rows."
        )
    for column in dict.fromkeys(line.column for line in found.burden):
        said += _burden(found, column, speech)
    said += [_difference(one, speech) for one in found.differences if one.significant][:MOST]
    return said


def _ways(found: Bias, column: str, speech: Speech) -> list[str]:
    """What the column does with what follows from it, and by ways that do not count."""
    ways = {way.ways: way for way in found.ways if way.column == column}
    if not ways:
        return []
    name, every = speech.name(column), ways["every"].one
    itself = percent(ways["direct"].one.value)
    share = f"{percent(every.value)} of {several(every.rows, 'decision')}{_interval(every)}"
    follows = f"With all that follows from it, one other value of {name} changes {share}"
    said = [f"{follows}; by itself {itself}."]
    if "otherwise" in ways:
        way = ways["otherwise"]
        through = speech.listed([speech.name(one) for one in way.through], "or")
        said.append(
            f"By other ways than through {through} it changes {percent(way.one.value)}"
            f"{_interval(way.one)}."
        )
    return said


def _difference(found: GroupGap, speech: Speech) -> str:
    """A difference that is not by chance."""
    return (
        f"Rows with {speech.name(found.column)} {found.group} have a {WORDS[found.measure]} of "
        f"{found.value:.2f}, all others {found.others:.2f} (p = {found.adjusted:.3f} after "
        "correction for all tests)."
    )


def _direction(found: Bias, column: str, speech: Speech) -> list[str]:
    """The group and decision with the largest share, of those that can be read."""
    lines = [g for g in found.by_group if g.column == column and g.share.rows >= FEW]
    if not lines or not lines[0].share.value:
        return []
    top = lines[0]
    name = speech.name(column)
    toward = ""
    if top.toward is not None:
        toward = f", most often with {name} {speech.value(column, top.toward)}"
    said = (
        f"Of {top.share.rows} rows with {name} {top.group} that are decided "
        f"{speech.plain(top.before)}, {percent(top.share.value)} would be decided "
        f"{speech.plain(top.after)}{toward}."
    )
    return [said]


def _burden(found: Bias, column: str, speech: Speech) -> list[str]:
    """The groups with the largest and the smallest burden, if they can be read."""
    name = speech.name(column)
    lines = [b for b in found.burden if b.column == column and b.changes.rows >= FEW]
    small = sum(b.column == column and b.without.rows < FEW for b in found.burden)
    counted = f"{several(small, 'group')} of {name}"
    said = [f"Too small to be read, with fewer than {FEW} rows: {counted}."] * bool(small)
    if len(lines) < 2:
        return said
    changes = [(line.group, line.changes) for line in lines]
    far = [(line.group, line.distance) for line in lines]
    differ = len({estimate.value for _, estimate in changes}) > 1
    said.append(_compared(name, changes, "{:.2f} changes") if differ else _compared(name, far))
    return said


def _compared(
    name: str, groups: list[tuple[str, Estimate]], measure: str = "a distance of {:.2f}"
) -> str:
    """The group with the largest mean against the one with the smallest."""
    ranked = sorted(groups, key=lambda group: group[1].value)
    (least, low), (most, high) = ranked[0], ranked[-1]
    apart = low.high is not None and high.low is not None and low.high < high.low
    return (
        f"With {name} fixed, rows with {name} {most} need {measure.format(high.value)} on average, "
        f"rows with {name} {least} need {low.value:.2f}"
        f"{'' if apart else ' (the intervals overlap)'}."
    )


def _interval(share: Any) -> str:
    if share.low is None:
        return ""
    return f" (95 % interval {100 * share.low:.1f} to {100 * share.high:.1f} %)"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def bias_sheet(found: Bias) -> Sheet:
    """The findings as tables."""
    speech = Speech(found.names)
    columns = [speech.name(column) for column, _ in found.flips]
    title = "Nothing can be said about bias"
    if columns:
        does = f"{speech.listed(columns)} {'do' if len(columns) > 1 else 'does'}"
        title = f"What {does} to {several(found.rows, 'decision')}"
    grids = [_flips(found, speech), _by_group(found, speech), _pairs(found, speech)]
    grids += [_pathways(found, speech)]
    grids += [_free(found, speech), _burdens(found, speech), _gaps(found, speech)]
    return Sheet(title, (), tuple(grid for grid in grids if grid.lines), tuple(reading(found)))


def _flips(found: Bias, speech: Speech) -> Grid:
    lines = zip(found.flips, found.effects, found.tried, strict=True)
    return Grid(
        "Decisions that one column alone changes",
        ("column", "by some value", "by one value", "values tried"),
        tuple(
            (
                speech.name(column),
                share.percent(),
                effect.percent(),
                f"{tried.values} of {tried.seen}" if tried.values < tried.seen else f"{tried.seen}",
            )
            for (column, share), (_, effect), tried in lines
        ),
        tuple(share.value for _, share in found.flips),
        "By some value: some other value seen in training changes the decision; the more values, "
        "the larger. By one value: one other value, drawn as often as in training, changes it; "
        "columns compare. In brackets the 95 % bootstrap interval. Constraints do not apply here.",
    )


def _by_group(found: Bias, speech: Speech) -> Grid:
    lines = [g for g in found.by_group if g.share.value > 0]
    return Grid(
        "By group and direction",
        ("group", "share that flips", "rows", "decided", "then"),
        tuple(
            (
                f"{speech.name(g.column)} {g.group}",
                g.share.percent(),
                str(g.share.rows),
                speech.plain(g.before),
                speech.plain(g.after),
            )
            for g in lines
        ),
        tuple(g.share.value for g in lines),
    )


def _pairs(found: Bias, speech: Speech) -> Grid:
    """The pairs of groups with the largest shares, of those that can be read."""
    lines = [p for p in found.pairs if p.share.value > 0 and p.share.rows >= FEW]
    lines = sorted(lines, key=lambda p: -p.share.value)[:PAIRS]
    return Grid(
        "From group to group",
        ("group", "as", "share that flips", "rows", "decided"),
        tuple(
            (
                f"{speech.name(p.column)} {p.group}",
                p.other,
                p.share.percent(),
                str(p.share.rows),
                speech.plain(p.before),
            )
            for p in lines
        ),
        tuple(p.share.value for p in lines),
        f"The {PAIRS} largest, of groups of at least {FEW} rows. Several values count as the share "
        "of them that changes the decision.",
    )


def _pathways(found: Bias, speech: Speech) -> Grid:
    told = {"every": "all that follows", "direct": "the column by itself"}
    return Grid(
        "By which ways",
        ("column", "along", "by some value", "by one value"),
        tuple(
            (
                speech.name(way.column),
                told.get(way.ways)
                or f"all but through {speech.listed([speech.name(c) for c in way.through], 'or')}",
                way.some.percent(),
                way.one.percent(),
            )
            for way in found.ways
        ),
        tuple(way.one.value for way in found.ways),
        "What follows by the stated causes follows with what is particular about each row. What is "
        "not followed keeps the row's own value.",
    )


def _free(found: Bias, speech: Speech) -> Grid:
    return Grid(
        "When the columns are free",
        ("column", "changed in answers", "among the three strongest actions"),
        tuple(
            (speech.name(f.column), f.changed.percent(), f.strongest.percent()) for f in found.free
        ),
        tuple(0.0 if f.changed.rows == 0 else f.changed.value for f in found.free),
    )


def _burdens(found: Bias, speech: Speech) -> Grid:
    toward = f" to reach {found.goal}" if found.goal else " to be decided otherwise"
    return Grid(
        f"What groups must change{toward} when the columns are fixed",
        ("group", "changes", "distance", "without an answer", "rows", "decided so already"),
        tuple(
            (
                f"{speech.name(b.column)} {b.group}",
                b.changes.number(),
                b.distance.number(),
                b.without.percent(),
                str(b.without.rows),
                percent(b.selected.value),
            )
            for b in found.burden
        ),
    )


def _gaps(found: Bias, speech: Speech) -> Grid:
    """The largest differences between groups, and the tests that stand."""
    tests = {
        (d.column, d.measure): min(
            one.adjusted for one in found.differences if _about(one) == _about(d)
        )
        for d in found.differences
    }
    return Grid(
        "Gaps between groups",
        ("groups by", "gap", "highest", "lowest", "difference", "least p"),
        tuple(
            (
                speech.name(g.column),
                g.name,
                g.high,
                g.low,
                f"{g.value:.2f}",
                f"{tests.get((g.column, g.measure), 1.0):.3f}",
            )
            for g in found.gaps
        ),
        (),
        "Each group is tested against the other rows: Fisher's exact test for shares, a "
        "permutation test for means; p after Holm's correction for all tests here.",
    )


def _about(test: Any) -> tuple[str, str]:
    return test.column, test.measure
