"""First person into third: what "I" said becomes what a name did."""

from __future__ import annotations

import re

from pipimem.sidecar.offline.sentences import is_chinese

_ADVERB_WORDS = """
also always really usually often sometimes still just never only actually already definitely
currently now recently mostly mainly generally normally probably personally absolutely totally
truly strongly both even ever finally simply rarely hardly deeply especially particularly
typically kind sort
"""
_ADVERBS = frozenset(_ADVERB_WORDS.split())
_SAME_WORDS = """
will would can could should may might must shall was had did didn't won't can't couldn't
wouldn't shouldn't wasn't cannot hadn't mustn't went got took made said saw came gave found
thought told became left felt brought began kept held wrote stood heard let meant set met ran
paid sat spoke lay led read grew lost fell sent built understood drew broke spent cut rose
drove bought wore chose ate slept won caught taught sold flew forgot hit hurt put quit shut
swam threw woke sang drank knew fought hid rode shook stole learnt dreamt burnt shot bit fed
lent dealt sought swore tore blew froze struck stuck swung spread split cost bet overcame rang
sank
"""
_SAME = frozenset(_SAME_WORDS.split())
_ED_VERBS = frozenset({
    "need", "feed", "speed", "succeed", "exceed", "proceed", "bleed", "breed", "embed", "heed", "seed",
})  # fmt: skip
_IRREGULAR = {
    "am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "go": "goes", "'m": "is",
}  # fmt: skip
# After "and", only these are surely a second verb of the same subject and not a noun.
_SECOND_VERB_WORDS = """
love like hate prefer enjoy want need do have am don't think believe feel live know use keep
try go own run
"""
_SECOND_VERBS = frozenset(_SECOND_VERB_WORDS.split())
# "and work" may be a noun; before these it is none.
_WORKING = frozenset({"as", "at", "for", "in", "on", "with", "from"})
_TOKEN = re.compile(r"[A-Za-z]+(?:[’'][A-Za-z]+)?|\s+|.", re.DOTALL)
_CONTRACTED = {"i'm": "is", "i've": "has", "i'll": "will", "i'd": "would"}
_PERSONAL = {"me": ("{}", "{}"), "my": ("{}'s", "their"), "mine": ("{}'s", "theirs"), "myself": ("themselves",) * 2}
# "归我管" is somebody's, not one's own.
_POINTING = "归找由叫问帮替给跟对向"
_BREAKS = "，,；"
# In front of the same subject again, these do not change it: "昨天晚上我做了…" after "我在学做菜，".
_WHEN_ZH = re.compile(
    r"(?:因为|所以|但是?|不过|而且|虽然|然后|其实|有时候?|现在|今[天晚]|昨[天晚]|明天|早上|上午|中午|下午|晚上|最近|之前|以前|后来|目前|[\d年月日点\s-])+"
)
_AND_I = re.compile(r"\b[Mm]y ((?:[\w-]+ ){1,3})and I\b(?! I)")
_FIRST_EN = re.compile(r"\b(?:I|[Ii]['’](?:m|ve|ll|d)|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b")
_FIRST_ZH = re.compile(r"(?<!自)我(?![们國国方司行校])|本人")


def speaks_of_self(text: str) -> bool:
    """Whether the speaker is in it as "I"."""
    return bool(_FIRST_ZH.search(text) if is_chinese(text) else _FIRST_EN.search(text))


def third_person(text: str, name: str, *, attributed: bool) -> str:
    """The text with `name` for the first person; `attributed` puts the name in front where it does not speak of itself.

    Without a name it is "the user", 用户.
    """
    chinese = is_chinese(text)
    name = name or ("用户" if chinese else "the user")
    if not speaks_of_self(text):
        if not attributed or text.startswith(name):
            return text
        return f"{name}：{text}" if chinese else f"{name}: {text}"
    if chinese:
        return _chinese(text, name)
    return _capital(_english(text, name))


def _chinese(text: str, name: str) -> str:
    text = re.sub(r"^(?:我?觉得)?(?:[你您]|大家)?[也就]?(?:可以|请)?叫我(?=[^，。]{1,8}$)", f"{name}的称呼：", text)
    # "我是林晓，…" would become "林晓是林晓".
    text = re.sub(rf"^我(?:是|叫|的名字是){re.escape(name)}(?=[，,、]|$)", name, text)
    text = re.sub(rf"^我{re.escape(name)}(?=[，,、])", name, text)
    named = text.startswith(name)
    parts: list[str] = []
    position = last = 0
    for found in _FIRST_ZH.finditer(text):
        parts.append(text[position : found.start()])
        position = found.end()
        own = text[found.end() : found.end() + 1] == "的"
        if not named or (text[found.start() - 1] in _POINTING and not own):
            parts.append(name)
        elif text[found.start() - 1] not in _BREAKS:
            clause = re.split(f"[{_BREAKS}]", text[: found.start()])[-1]
            parts.append("自己" if own or not _WHEN_ZH.fullmatch(clause) else "")
        elif sum(text.count(sign, last, found.start()) for sign in _BREAKS) > 1:
            parts.append(name)  # another subject may have come between
        elif own:
            position += 1  # "，我的…": the subject is clear
        named, last = True, found.end()
    told = "".join([*parts, text[position:]]).replace("自己自己", "自己")
    told = re.sub(rf"^({re.escape(name)})(?:也|还|其实)(?=[很最比非特喜爱])", r"\1", told)
    return told if name in told else f"{name}：{told}"


def _english(text: str, name: str) -> str:
    text = re.sub(rf"^(?:I['’]m|I am) {re.escape(name)}\s*,\s*I\s+", "I ", text)
    text = text.replace("’", "'")
    text = _AND_I.sub(lambda found: f"{name} and {name}'s {found[1].strip()}", text)
    tokens = _TOKEN.findall(text)
    out: list[str] = []
    named = text.startswith((f"{name}: ", f"{name} and "))
    pending: str | None = None  # the subject whose verb comes next: "name", or "and" behind one
    joined = False  # behind "and" of a named subject
    for word, beside, after in zip(tokens, [*tokens[1:], ""], [*tokens[2:], "", ""], strict=False):
        low = word.casefold()
        if word == "I" or (low == "i" and word == "i"):
            # Again the name: "they" may be the friends that were spoken of.
            out.append(name)
            pending, named, joined = "name", True, False
        elif low in _CONTRACTED:
            out.append(f"{name} {_CONTRACTED[low]}")
            pending, joined, named = None, True, True
        elif low in _PERSONAL and beside != "-":  # not "me-time"
            first, later = _PERSONAL[low]
            out.append((later if named else first).format(name))
            named = True
        elif pending and word[0].isalpha():
            if low in _ADVERBS or (low.endswith("ly") and len(low) > 5):
                out.append(word)
                continue
            out.append(_conjugated(low, word, pending, after))
            joined, pending = pending == "name", None
        elif low == "and" and joined:
            out.append(word)
            pending = "and"
            continue
        else:
            if pending and not word.isspace():
                pending = None
            out.append(word)
    return "".join(out)


def _conjugated(low: str, word: str, subject: str, after: str) -> str:
    if subject == "and" and low not in _SECOND_VERBS and not (low == "work" and after in _WORKING):
        return word
    if low in _SAME or (low.endswith("ed") and low not in _ED_VERBS):
        return word
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low.endswith(("s", "x", "ch", "sh", "z", "o")):
        return f"{word}es"
    if low.endswith("y") and len(low) > 1 and low[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
