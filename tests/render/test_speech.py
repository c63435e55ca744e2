"""Message catalogues: complete, checked, and open to other languages."""

from __future__ import annotations

from string import Formatter

import pytest

from explanation.made import counterfactual, explanation
from macex.errors import OptionError
from macex.render.speech import Speech, _shipped, known_languages, messages


def places(text):
    return {place for _, place, _, _ in Formatter().parse(text) if place is not None}


@pytest.mark.parametrize("language", known_languages())
def test_every_language_that_comes_with_macex_says_everything(language):
    english, other = _shipped("en"), _shipped(language)
    assert english.keys() == other.keys()
    assert {key: places(text) for key, text in english.items()} == {
        key: places(text) for key, text in other.items()
    }


def test_a_file_of_ones_own_is_a_language(tmp_path):
    path = tmp_path / "fr.toml"
    path.write_text('[sentence]\ncondition = "Si {changes}"\n', encoding="utf-8")
    found = explanation(counterfactual(age=38))
    for language in (path, str(path)):
        assert found.sentences(language)[0].startswith("Si age were 38 instead of 25, the model")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[sentence]\nconditon = "Si {changes}"', "did you mean 'sentence.condition'"),
        ('[sentence]\ncondition = "Si {change}"', "did you mean 'changes'"),
        ('[sentence]\ncondition = "Si {changes.x}"', "no place 'changes.x'"),
        ('[sentence]\ncondition = "Si {changes"', "cannot be read"),
        ("[sentence\n", "cannot be read"),
    ],
)
def test_a_mistake_in_a_catalogue_is_named(tmp_path, text, message):
    path = tmp_path / "fr.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=message) as error:
        messages(path)
    assert "fr.toml" in str(error.value)


def test_an_unknown_language_names_the_known_ones():
    with pytest.raises(OptionError, match="known are 'de', 'en'"):
        explanation().sentences("zz")


def test_a_text_of_ones_own_is_said_of_time_series_too(tmp_path):
    path = tmp_path / "fr.toml"
    path.write_text('[summary]\ntitle = "{found} sur {rows}"\n', encoding="utf-8")
    assert Speech(language=path, of_series=True).messages["summary.title"] == "{found} sur {rows}"
    assert Speech(language=path, of_series=True).messages["summary.column"] == "channel"
    path = tmp_path / "fr2.toml"
    path.write_text(
        '[summary]\ntitle = "{found} sur {rows}"\n[of_series.summary]\ntitle = "{found} cas"\n',
        encoding="utf-8",
    )
    assert Speech(language=path, of_series=True).messages["summary.title"] == "{found} cas"
    assert Speech(language=path).messages["summary.title"] == "{found} sur {rows}"
