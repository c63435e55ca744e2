"""Letters say what the explanation says, in any form, and never leave a gap."""

from __future__ import annotations

import pytest

import macex as mx
from cohort.town import YES, explainer, refused
from macex.render.exports import chromium

CODES = {"income": ("R1", "Income <too> low"), "debt": "R2"}


def one(**options):
    return explainer(**options).explain(refused(5).head(1), want=YES)[0]


def test_a_letter_names_the_decision_the_reasons_and_the_ways_out():
    item = one()
    text = item.letter(codes=CODES)
    assert "refused" in text
    for reason in item.reason_codes(CODES):
        assert f"- {reason}" in text
    for sentence in item.sentences():
        assert f"- {sentence}" in text


def test_html_is_escaped_and_another_language_is_spoken():
    page = one().letter(form="html", language="de", codes=CODES)
    assert "Income &lt;too&gt; low" in page
    assert '<html lang="de">' in page
    assert "Ihr Antrag" in page


def test_a_template_of_the_callers_is_filled(tmp_path):
    item = one()
    source = (
        "{{ who }}: {% for c in changes %}{{ c.name }} {{ c.before }} > {{ c.after }}{% endfor %}"
    )
    path = tmp_path / "letter.txt"
    path.write_text(source, encoding="utf-8")
    (change,) = item.counterfactuals[0].changes
    expected = f"Ann: {change.column} {change.before} > {change.after}"
    assert item.letter(source, places={"who": "Ann"}) == expected
    assert item.letter(path, places={"who": "Ann"}) == expected


def test_a_gap_a_mistake_and_a_wrong_form_are_told(tmp_path):
    item = one()
    with pytest.raises(mx.MacexError, match="'who' is undefined"):
        item.letter("{{ who }}")
    with pytest.raises(mx.MacexError, match="line 2"):
        item.letter("a\n{% if %}")
    with pytest.raises(mx.MacexError, match="cannot be read"):
        item.letter(tmp_path / "nothing.txt")
    with pytest.raises(mx.MacexError, match="did you mean 'html'"):
        item.letter(form="htm")
    with pytest.raises(mx.MacexError, match="a letter ends in"):
        item.to_letter(tmp_path / "letter.doc")


def test_a_template_reaches_nothing_but_what_it_is_told():
    with pytest.raises(mx.MacexError, match="template"):
        one().letter("{{ reasons.__class__.__mro__ }}")


def test_a_row_without_an_answer_has_a_letter():
    item = explainer().explain(refused(5).head(1), want=YES, constraints={"only": []})[0]
    assert item.sentences()[0] in item.letter()


def test_letters_are_written_as_text_and_html(tmp_path):
    item = one()
    for name, form in (("a.txt", "text"), ("a.html", "html")):
        item.to_letter(tmp_path / name, codes=CODES)
        assert (tmp_path / name).read_text(encoding="utf-8") == item.letter(form=form, codes=CODES)


def test_a_letter_is_printed(tmp_path):
    item = one()
    if chromium() is None:
        with pytest.raises(mx.MacexError, match="a PDF needs Chromium"):
            item.to_letter(tmp_path / "a.pdf")
        return
    item.to_letter(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
