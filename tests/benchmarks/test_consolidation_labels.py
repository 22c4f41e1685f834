"""The labels of the consolidation benchmark: readable, within their bounds, and matched as they
say.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.consolidation.labels import Fact, Stretch, scored, stretches


def test_there_are_ten_stretches_half_of_them_chinese() -> None:
    """Each holds five to ten facts, with the messages they rest on and one to three sets of
    words.
    """
    labelled = [stretch for stretch in stretches() if not stretch.held_out]
    assert [stretch.language for stretch in labelled] == ["en"] * 5 + ["zh"] * 5
    for stretch in stretches():
        assert 5 <= len(stretch.facts) <= 10
        for fact in stretch.facts:
            assert fact.says
            assert fact.rests_on
            assert 1 <= len(fact.words) <= 3
        for fact in stretch.also_fine:
            assert fact.words


def test_an_entry_says_a_fact_when_every_set_has_a_word_in_it() -> None:
    """Latin words count from their beginning and in any case; Chinese ones anywhere."""
    fact = Fact("Ines paints boats.", (("Ines",), ("paint", "drew"), ("boat",)))
    assert fact.is_in("ines has been painting boats since 2020")
    assert not fact.is_in("Ines has been painting houses")
    assert not Fact("art", (("art",),)).is_in("Ines made a start")
    assert Fact("阿木在学游泳。", (("阿木",), ("游泳", "泳"))).is_in("最近阿木在学游泳")


def test_what_says_no_fact_is_fine_or_junk() -> None:
    """Entries are counted once; a fact said twice is one fact kept."""
    facts = (Fact("tea", (("tea",),), ("m1",)), Fact("jam", (("jam",),), ("m2",)))
    stretch = Stretch("x", "x.jsonl", "m1", "m2", "en", facts, (Fact("bread", (("bread",),)),))
    got = scored(stretch, ["Ines likes tea", "Ines drinks tea", "Ines bakes bread", "Ines agrees"])
    assert [fact.says for fact in got.kept] == ["tea"]
    assert [fact.says for fact in got.missed] == ["jam"]
    assert (got.fine, got.junk, got.entries) == (("Ines bakes bread",), ("Ines agrees",), 4)


def test_a_label_must_rest_on_its_own_stretch(tmp_path: Path) -> None:
    """Labels of another version of a transcript are not measured in silence."""
    (tmp_path / "transcripts").mkdir()
    lines = [json.dumps({"id": f"m{n}"}) for n in (1, 2, 3)]
    (tmp_path / "transcripts" / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    stretch = Stretch("x", "x.jsonl", "m1", "m2", "en", (Fact("tea", (("tea",),), ("m2",)),), ())
    assert stretch.lines(tmp_path) == lines[:2]
    astray = Stretch("x", "x.jsonl", "m1", "m2", "en", (Fact("tea", (("tea",),), ("m3",)),), ())
    with pytest.raises(ValueError, match="m3"):
        astray.lines(tmp_path)
