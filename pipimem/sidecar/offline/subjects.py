"""English as it is typed in a chat made whole: who did it is put back where it was left out, slang is spelled out."""

from __future__ import annotations

import re

_PAST = (
    r"got|went|had|took|made|bought|started|began|finished|joined|lost|found|met|saw|ran|won|moved|visited|attended|painted"
    r"|adopted|signed up|tried|decided|applied|dyed|built|gave|wrote|watched|hosted|donated|volunteered|opened|launched"
    r"|learned|learnt|picked up|passed|booked|cooked|baked|planted|celebrated|organi[sz]ed|graduated|travell?ed|hiked|played"
)
_DOING = (
    r"researching|working|planning|thinking|hoping|trying|looking|getting|training|studying|learning|reading|writing|saving"
    r"|volunteering|preparing|going|taking|doing|moving|building|practi[sc]ing|considering|applying"
)
_FINITE = (
    r"(?:is|are|was|were|has|have|had|can|will|would|could|makes?|lets?|gives?|gave|helps?|helped|keeps?|kept|brings?|takes?|took|means?|meant"
    r"|feels?|felt|reminds?|made|really|always|definitely|sounds?|looks?|seems?|out|it|forward)"
)
_BEEN = re.compile(
    r"^(?:(?:it's |it has )?been (?:(?:so|real|really|super|pretty|kind of|quite) )?)(?=busy\b|\w+ing\b)", re.IGNORECASE
)
_DID = re.compile(
    rf"^((?:(?:just|recently|finally|also|even|actually) )*)((?:{_PAST})) (?!it\b|that\b$|this\b$|you\b|by\b)",
    re.IGNORECASE,
)
_GERUND = re.compile(
    rf"^((?:(?:just|still|also|currently|actually) )*)((?:{_DOING})) (?!to be\b|{_FINITE}\b)([^,–—]*)", re.IGNORECASE
)
_INSIDE = re.compile(rf"\b{_FINITE}\b", re.IGNORECASE)
_BEHIND_DASH = re.compile(
    r"(?<=\s[-–—]\s)(?=(?:just )?(?:had|got|went|took|made|bought|started|joined|found|met|saw|ran|won) (?:an?|my|the|to|some)\b)"
)
_GONNA = re.compile(r"^(?:gonna|going to) (?!be\b)", re.IGNORECASE)
_SLANG = (
    (re.compile(r"\bI gotta\b", re.IGNORECASE), "I have to"),
    (re.compile(r"\b(?:'m|am) gonna\b", re.IGNORECASE), "'m going to"),
    (re.compile(r"\bgonna\b", re.IGNORECASE), "going to"),
    (re.compile(r"\bwanna\b", re.IGNORECASE), "want to"),
    (re.compile(r"\bgotta\b", re.IGNORECASE), "have to"),
    (re.compile(r"\bkinda\b", re.IGNORECASE), "kind of"),
    (re.compile(r"(?<!\w)['’]cause\b|\bcuz\b", re.IGNORECASE), "because"),
    (re.compile(r"\b(my|our|the|your) fam\b", re.IGNORECASE), r"\1 family"),
    (re.compile(r"\bfave?\b", re.IGNORECASE), "favorite"),
    (re.compile(r"\bbiz\b", re.IGNORECASE), "business"),
    (re.compile(r"\b(my|our|your|their) edu\b", re.IGNORECASE), r"\1 education"),
    (re.compile(r"(?<=[a-z]) & (?=[a-z])"), " and "),
)  # fmt: skip


def made_whole(text: str) -> str:
    """An English sentence with "I" where a chat leaves it out; one that may be about something else stays."""
    for slang, plain in _SLANG:
        text = slang.sub(plain, text)
    text = _BEHIND_DASH.sub("I ", text)
    if _BEEN.match(text):
        return _BEEN.sub("I've been ", text)
    if _GONNA.match(text):
        return _GONNA.sub("I'm going to ", text)
    if _DID.match(text):
        return f"I {text[0].lower()}{text[1:]}"
    if (found := _GERUND.match(text)) and not _INSIDE.search(found[3]):
        return f"I'm {text[0].lower()}{text[1:]}"
    return text
