"""What people say around a secret: the phrases of data/secrets/phrases.txt as expressions."""

from __future__ import annotations

from pipimem import resources
from pipimem.text.patterns import Pattern


def phrases(heading: str) -> str:
    """The alternatives under a heading as one piece of an expression: `a|b|c`."""
    return "|".join(resources.sections("secrets/phrases")[heading])


_QUOTE = r"[\"'`”’\]]?"
_SPACE = r"[ \t\u3000]{0,4}"
_LINE_END = r"(?:\r?\n)?"
_REMARK = r"(?:[ ]?[(（][^()（）\n]{1,24}[)）])?"
# Between the cue and the value: a sign, or a verb. Bounded everywhere, so hostile text is read
# once. `key", "value"`, `key"] = "value"`, `<key>value</key>`, `- name: KEY\n  value: …`.
_SIGN = (
    rf"{_REMARK}(?:{_QUOTE}{_SPACE}(?P<sign>[:：=＝]{{1,2}}>?|->|=>|→|\|){_SPACE}{_LINE_END}{_SPACE}"
    r"|(?P<call>[\"'][\])]{0,2}[ ]?[,=][ ]?(?=[\"']))"
    r"|(?P<tag>>(?=[^<>\s]{4,256}</))"
    r"|(?P<listed>[\"']?\s{1,8}value:[ ]?))"
)
_VERB_EN = (
    rf"(?:[ \t](?:{phrases('before the verb: english')})[ \t][^\n.,;:=。，？！!?]{{1,40}}?)?"
    rf"{_REMARK}"
    rf"(?P<verb>(?:['’]s|[ \t]{{1,3}}(?:{phrases('verb: english')})))"
    r"[ \t]{0,2}:?[ \t\r\n]{1,3}"
)
_VERB_ZH = (
    rf"{_SPACE}(?:{phrases('before the verb: chinese')})*{_SPACE}"
    rf"(?P<verb_zh>{phrases('verb: chinese')}|(?=[:：]))"
    rf"{_SPACE}[:：]?{_SPACE}{_LINE_END}{_SPACE}"
)
_NOTHING = rf"(?P<nothing>[ \t\u3000]{{0,3}}(?:{phrases('without a verb')})?)"

AFTER = Pattern(rf"(?i:{_SIGN}|{_VERB_EN}|{_VERB_ZH}|{_NOTHING})")
"""What may stand there: the group `sign`, `call`, `tag`, `listed`, `verb`, `verb_zh`, `nothing`."""
