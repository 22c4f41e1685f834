"""Secrets as people say them: "my password is …", "密码是 …", "482913 is your code"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipimem import resources
from pipimem.text.characters import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.secrets.values import (
    Secret,
    has_digit,
    has_letter,
    is_code,
    is_key,
    is_measure,
    is_mixed,
    is_no_secret,
    is_password,
    is_placeholder,
    is_repeated,
    is_uuid,
    looks_made_up,
    looks_random,
    looks_typed_blindly,
    no_secrets,
    tells_about,
)


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


# How far the rest of a clause is looked through, where nothing follows at once.
_CLAUSE = 100
_END = Pattern(r"[\n。；！？]|[.!?;](?=\s|$)")
# Part of an address, of a name in code, or of a Chinese clause that tells no value.
_GLUED = Pattern(rf"[A-Za-z0-9_/?&.]$|[{HAN}](?<![{phrases('before a token: chinese')}])$")
_DIGIT_OR_SIGN = Pattern(r"[0-9!@#$%^&*]")
_TOKEN = Pattern(r"[A-Za-z0-9!@#$%^&*+=._~/-]{5,256}")
_LONG_TOKEN = Pattern(r"[A-Za-z0-9!@#$%^&*+=._~/-]{16,256}")  # no shorter one is a key
# What is named so is no key, however random it looks.
_NAMED_OTHERWISE = Pattern(
    rf"(?:{phrases('names of what is no key')})\W{{0,3}}\w{{0,12}}\W{{0,3}}$",
    re.IGNORECASE,
)
_TELLS = Pattern(
    rf"(?:\b(?:{phrases('tells what follows: english')})"
    rf"|[:：=/{phrases('tells what follows: chinese')}])[ ]?$"
)
_REST = Pattern(r"[^\s,;\"'`<>，。；、！？（）()【】「」『』“”‘’《》…\u2e80-\u9fff\uff00-\uffef]*")
_CLAUSE_START = 12


def tokens_of_clause(kind: str, text: str, start: int) -> Iterator[tuple[int, int]]:
    """The tokens of the rest of a clause that are no words: "the password for web-2 was …"."""
    stop = _END().search(text, start, start + _CLAUSE)
    end = stop.start() if stop else start + _CLAUSE
    tokens = _LONG_TOKEN() if kind == "key" else _TOKEN()
    for token in tokens.finditer(text, start, min(len(text), end + _LOOK)):
        if token.start() >= end:
            return
        if kind != "key" and _DIGIT_OR_SIGN().search(token[0]) is None:
            continue
        value = token[0].strip("/=.~+-").rstrip("!")
        first = token.start() + token[0].index(value)
        before = text[max(start - 1, first - _CLAUSE_START) : first]
        if not _GLUED().search(before) and _is_value(kind, value, before):
            is_longer = token.end() - token.start() == _LOOK
            yield first, end_of_run(text, token.end()) if is_longer else token.end()


def _is_value(kind: str, value: str, before: str) -> bool:
    """Whether a token is a key or a password; `before` is what stands before it."""
    if kind == "key":
        return looks_random(value) and not _NAMED_OTHERWISE().search(before)
    if _DIGIT_OR_SIGN().search(value) is None or "/" in value:
        return False
    return looks_made_up(value) or _is_told(value, before)


def _is_told(value: str, before: str) -> bool:
    """Whether a sign or verb before a token tells a name with digits, or a long number."""
    if _TELLS().search(before) is None or is_no_secret(value) or not has_digit(value):
        return False
    return len(value) >= 6 and (value.isdigit() or has_letter(value)) and not is_measure(value)


def end_of_run(text: str, start: int) -> int:
    """Where a run of characters that a value may have ends, from inside it."""
    rest = _REST().match(text, start)
    return rest.end() if rest else start


_PAIR = Pattern(
    r"[^\n/]{0,30}?(?<![\w./@-])(?P<user>[\w.@-]{2,64}?)"
    rf"(?P<sign>{phrases('between an account and its password: english')}"
    r"|[ ]{0,2}[/:|：][ ]{0,2}|[ ]?[，,][ ]?)"
    r"(?P<value>[^\s,，;；。/|\"']{4,64})",
    re.ASCII,
)
_ACCOUNT_BEFORE = Pattern(
    r"(?<![\w./-])[\w.@-]{2,64}[ ]?/[ ]?(?P<value>[^\s,，;；。/|\"']{4,64})[^\n]{0,4}$", re.ASCII
)


# The word for a password between an account and it.
_NAMED = Pattern(r"(?:pass|pwd?)$")
# "login for grafana: admin / …": the first pair is no account.
_TRIES = 3


def account_password(text: str, cue: re.Match[str]) -> tuple[int, int] | None:
    """Where the password stands behind the word for an account and its name, or before the word."""
    reached = cue.end()
    for _ in range(_TRIES):
        found = _PAIR().match(text, reached)
        if found is None:
            break
        value = found["value"].rstrip(".:?)）")
        if _is_password(value, found["sign"].strip()):
            return found.start("value"), found.start("value") + len(value)
        reached = found.end("sign")
    start = max(0, cue.start() - 100)
    before = _ACCOUNT_BEFORE().search(text[start : cue.start()])
    if before is not None and looks_made_up(before["value"]):
        return start + before.start("value"), start + before.end("value")
    return None


def _is_password(value: str, sign: str) -> bool:
    if is_no_secret(value):
        return False
    if _NAMED().search(sign):  # "user guest, pass Blue-Lake-77": what looks like a name is none
        return len(value) >= 6 and has_digit(value) and has_letter(value)
    if sign in ("/", "|"):
        return (has_digit(value) or looks_typed_blindly(value)) and not value.endswith(("px", "%"))
    return looks_made_up(value) or (sign == "with" and looks_typed_blindly(value))


# These may announce a plain word or number, too.
_LOOSE = frozenset(("password", "code"))
_IN_CLAUSES = frozenset(("password", "password: strict", "key"))
_QUOTED = Pattern(r"[\"'`“‘「『【](?P<value>[^\"'`”’」』】\n]{1,80})[\"'`”’」』】]")
_RUN_CHARS = r"[^\s,;\"'`<>，。；、！？（）()【】「」『』“”‘’《》…\u2e80-\u9fff\uff00-\uffef]"
# Characters of a value that are judged: a bound, or `password=` 10,000 times is read 10,000 times.
_LOOK = 256
_RUN = Pattern(rf"{_RUN_CHARS}{{1,{_LOOK}}}")
_HAN_NO_SECRET = Pattern(phrases("no watchword: chinese"))
_HAN_PHRASE = Pattern(rf"(?!{_HAN_NO_SECRET.source})[{HAN}]{{2,10}}(?=[\s，。；！,;!]|$)")
_AFTER_HAN = Pattern(rf"(?P<han>[{HAN}]{{1,6}})(?P<run>[A-Za-z0-9!@#$%^&*._-]{{6,64}})(?![\w])")
_WATCHWORD = Pattern(phrases("watchword: chinese"))
_NEXT_PARAMETER = Pattern(r"&\w{1,40}=")
_EXTRACTION = Pattern(r"[A-Za-z0-9]{4,6}(?![A-Za-z0-9])")

_BEFORE = 48
_CODE_BEFORE = Pattern(
    r"(?<![\d.])(?P<value>\d{4,8})"
    rf"(?:{phrases('between a code and its word')})?$"
)
_PASSWORD_BEFORE = Pattern(
    r"(?<![\w-])(?P<value>[\w!@#$%^&*.-]{4,40})"
    rf"(?:{phrases('between a password and its word: english')}"
    rf"|{phrases('between a password and its word: chinese')}[{HAN}]{{0,6}}?)$"
)

# So much may stand between a word for a secret and the clause that tells its new value.
_NEW_ONE_AFTER = Pattern(
    rf"[^\n.;。；?？]{{0,60}}?[\s,，:：（(–—-](?:{phrases('a new one')})"
    rf"[\"'“‘「]?(?P<value>{_RUN_CHARS}{{3,64}})"
)
_NEW_ONE_BEFORE = Pattern(
    rf"{phrases('a new password')}(?P<value>[^\s,;]{{5,64}})[,;][^\n.;]{{0,24}}$"
)


def announced(kind: str, text: str, cue: re.Match[str]) -> Iterator[Secret]:
    """What a cue announces: right behind it, else later in its clause, or before it."""
    if kind == "account":
        found = account_password(text, cue)
        if found is not None:
            yield Secret("password", *found)
        return
    name = kind.partition(":")[0]
    after = AFTER().match(text, cue.end())
    place = _value_after(kind, text, cue, after) if after is not None else None
    if place is not None:
        yield Secret(name, *place)
    else:
        place = _before(kind, text, cue) or _new_one(kind, text, cue)
        if place is not None:
            yield Secret(name, *place)
    if kind in _IN_CLAUSES:
        reached = max(cue.end(), place[1] if place is not None else 0)
        for start, end in tokens_of_clause(kind, text, reached):
            yield Secret(name, start, end)


def _value_after(
    kind: str, text: str, cue: re.Match[str], after: re.Match[str]
) -> tuple[int, int] | None:
    """Where the value that follows a cue stands, when it is one."""
    if kind == "extraction-code":
        found = _EXTRACTION().match(text, after.end())
        return found.span() if found else None
    quoted = _QUOTED().match(text, after.end())
    if quoted:
        is_secret = _is_quoted_secret(kind, after, quoted)
        return quoted.span("value") if is_secret else None
    run = _RUN().match(text, after.end())
    if run is None:
        return _after_han(kind, text, after) or _han_phrase(kind, text, cue, after)
    return _unquoted(kind, text, after, run)


def _is_quoted_secret(kind: str, after: re.Match[str], quoted: re.Match[str]) -> bool:
    if after["nothing"] is not None and quoted[0][0] not in "「『【":
        return False
    value = quoted["value"]
    if is_placeholder(value):
        return False
    sentence = kind in _LOOSE and " " in value and _may_be_passphrase(value)
    return sentence or _is_secret(kind, value, "", bare=False)


def _unquoted(
    kind: str, text: str, after: re.Match[str], run: re.Match[str]
) -> tuple[int, int] | None:
    """Where a value without quotes ends.

    Before the next parameter of an address, and the sentence's sign.
    """
    value = _NEXT_PARAMETER().split(run[0], maxsplit=1)[0] if after["sign"] else run[0]
    value = value.rstrip(".:?]}\\|#" if kind == "code" else ".:?]}\\|")
    end = run.start() + len(value)
    # A run longer than one look: what follows is more of it, not a unit or the end of a sentence.
    is_longer = len(run[0]) == _LOOK
    following = "" if is_longer else text[end : end + 16]
    if not _may_follow(kind, text, after, value):
        return None
    if not _is_secret(kind, value, following, bare=after["sign"] is None):
        return None
    return run.start(), end_of_run(text, end) if is_longer else end


def _may_follow(kind: str, text: str, after: re.Match[str], value: str) -> bool:
    """Whether a cue with neither sign nor verb announces the value: "密码 hunter2", "pin 4821"."""
    if after["nothing"] is None:
        return True
    is_said = bool(after["nothing"]) or kind == "code" or not text[after.start() - 1].isascii()
    return is_said and _is_clear(value, kind)


def _after_han(kind: str, text: str, after: re.Match[str]) -> tuple[int, int] | None:
    """A password that begins in Chinese and goes on in letters and digits: 密码是小猫Abc12345."""
    found = _AFTER_HAN().match(text, after.end())
    if found is None or not kind.startswith("password") or after["nothing"] is not None:
        return None
    if _HAN_NO_SECRET().search(found["han"]):
        return None
    return found.span() if is_mixed(found["run"]) else None


def _is_clear(value: str, kind: str) -> bool:
    """Whether a value with nothing before it but the cue can only be one.

    "密码 hunter2", "验证码 482913".
    """
    digits = sum(map(str.isdigit, value))
    if kind == "code":
        return value.isdigit() and 3 <= digits <= 8
    if kind not in _LOOSE:  # "api key 8f3k…": long, or it is a name
        return looks_random(value) or is_uuid(value)
    if digits == 0:
        return looks_made_up(value) or looks_typed_blindly(value)
    return 6 <= len(value) <= 12 or (len(value) > 12 and digits < len(value))


def _is_secret(kind: str, value: str, following: str, *, bare: bool) -> bool:
    if is_no_secret(value) or tells_about(following) or is_repeated(value):
        return False
    if kind == "code":
        return is_code(value)
    if kind == "key":
        return is_key(value)
    if kind not in _LOOSE:
        return len(value) >= 4 and has_digit(value)
    return is_password(value, following, bare=bare)


def _may_be_passphrase(value: str) -> bool:
    return value.split()[0].lower() not in no_secrets() and len(value) <= 60


def _han_phrase(
    kind: str, text: str, cue: re.Match[str], after: re.Match[str]
) -> tuple[int, int] | None:
    """A watchword in Chinese ("口令：芝麻开门"); after 密码 people rather explain than tell."""
    if kind != "password" or not _WATCHWORD().match(cue[0]):
        return None
    if not after["sign"] and not after["verb_zh"]:
        return None
    phrase = _HAN_PHRASE().match(text, after.end())
    return phrase.span() if phrase else None


def _new_one(kind: str, text: str, cue: re.Match[str]) -> tuple[int, int] | None:
    """The new value in a later clause: "the gate code changed after the break-in, new one is …"."""
    if kind not in _LOOSE:
        return None
    found = _NEW_ONE_AFTER().match(text, cue.end())
    if found is None or not has_digit(found["value"]):
        return None
    value = found["value"].rstrip(".:?!]}\\|#")
    end = found.start("value") + len(value)
    if not _is_secret(kind, value, text[end : end + 16], bare=False):
        return None
    return found.start("value"), end


def _before(kind: str, text: str, cue: re.Match[str]) -> tuple[int, int] | None:
    """The other way round: "hunter2 is my password", "482913 是你的验证码"."""
    if kind not in _LOOSE:
        return None
    start = max(0, cue.start() - _BEFORE)
    before = text[start : cue.start()]
    found = (_CODE_BEFORE if kind == "code" else _PASSWORD_BEFORE)().search(before)
    if found is None and kind == "password":
        found = _NEW_ONE_BEFORE().search(before)
    if found is None or not has_digit(found["value"]) or is_no_secret(found["value"]):
        return None
    if kind == "code" and found.end("value") == len(before):
        return None  # "2024 验证码…": nothing between them says that it is one
    return start + found.start("value"), start + found.end("value")
