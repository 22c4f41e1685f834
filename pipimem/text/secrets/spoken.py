"""Secrets as people say them in a chat: "my password is …", "密码是 …", "482913 is your code"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipimem.text.han import HAN
from pipimem.text.patterns import HintedPattern, Pattern, hinted
from pipimem.text.secrets.values import (
    has_digit,
    is_code,
    is_key,
    is_mixed,
    is_no_secret,
    is_password,
    is_repeated,
    no_secrets,
    tells_about,
)

Place = tuple[str, int, int]  # kind, start, end


_QUOTE = r"[\"'`”’\]]?"
_SPACE = r"[ \t\u3000]{0,4}"
_LINE_END = r"(?:\r?\n)?"
# Between the cue and the value: a sign, or a verb. Bounded everywhere, so hostile text is read
# once.
_SIGN = rf"{_QUOTE}{_SPACE}(?P<sign>[:：=＝]{{1,2}}|->|=>|→){_SPACE}{_LINE_END}{_SPACE}"
_VERB_EN = (
    r"(?:[ \t](?:for|to|of|on|at|in)[ \t][^\n.,;:：=。，？！!?]{1,40}?)?"
    r"[ \t]{1,3}(?P<verb>is(?:[ \t]now|[ \t]still|[ \t]set[ \t]to|[ \t]changed[ \t]to)?"
    r"|was|are|now|equals"
    r"|(?:has[ \t]been[ \t])?(?:changed|set|reset)[ \t]to)"
    r"[ \t]{0,2}:?[ \t\r\n]{1,3}"
)
_VERB_ZH = (
    rf"{_SPACE}(?:现在|目前|临时|默认|暂时|已经|今天|我|你|先|都|也|就|还|被|给|帮|已|我们|应该"
    rf"|记一下|记下|收好|发你|发给你|如下)*{_SPACE}"
    r"(?P<verb_zh>就是|还是|是|为|(?:改|换|设|设置|重置|变)(?:成|为)了?|叫|用的是|(?=[:：]))"
    rf"{_SPACE}[:：]?{_SPACE}{_LINE_END}{_SPACE}"
)
_NOTHING = r"(?P<nothing>[ \t\u3000]{0,3}(?:(?:to|as)[ \t]|用[ \t]?)?)"
_AFTER = rf"(?:{_SIGN}|{_VERB_EN}|{_VERB_ZH}|{_NOTHING})"


_CUE = f"(?i:(?:{{}}){_AFTER})"


def cues() -> tuple[HintedPattern, ...]:
    """What announces a secret, by its kind."""
    return hinted("secrets/announcements", _CUE)


# These may announce a plain word or number, too.
_LOOSE = frozenset(("password", "code"))
_QUOTED = Pattern(r"[\"'`“‘「『【](?P<value>[^\"'`”’」』】\n]{1,80})[\"'`”’」』】]")
_RUN_CHARS = r"[^\s,;\"'`<>，。；、！？（）()【】「」『』“”‘’《》…\u2e80-\u9fff\uff00-\uffef]"
# Characters of a value that are judged: a bound, or `password=` 10,000 times is read 10,000 times.
_LOOK = 256
_RUN = Pattern(rf"{_RUN_CHARS}{{1,{_LOOK}}}")
_REST = Pattern(rf"{_RUN_CHARS}*")
_HAN_NO_SECRET = Pattern(
    r"请|是|需|不|错|过期|已|什么|多少|在|见|必|问|找|谁|和|与|要|有|没|可|同|由|未|暂|无|被|输|用|的|也"
    r"|都|怎|为|能|会|失|正|看|发|稍|待|保密|忘|及|或|这|那|如|改|太|很|长度|至少|规则|强度|管理|登录|重置|修改|随|自"
)
_HAN_PHRASE = Pattern(rf"(?!{_HAN_NO_SECRET.source})[{HAN}]{{2,10}}(?=[\s，。；！,;!]|$)")
_AFTER_HAN = Pattern(rf"(?P<han>[{HAN}]{{1,6}})(?P<run>[A-Za-z0-9!@#$%^&*._-]{{6,64}})(?![\w])")
_NEXT_PARAMETER = Pattern(r"&\w{1,40}=")


_REVERSED = Pattern(
    r"(?<![\w-])(?P<value>[\w!@#$%^&*.-]{4,40})(?:[ \t]is[ \t](?:my|your|our|the)[ \t]"
    r"(?:[\w-]{1,12}[ \t]){0,2}"
    r"(?P<what>password|passcode|pin|code)|[ \t]as[ \t](?:the[ \t])?(?P<what_as>password)"
    rf"|[ \t]?(?:就?是|为)(?:我|你|您|我们)?的?[{HAN}]{{0,6}}?(?P<what_zh>密码|口令|验证码))",
    re.IGNORECASE,
)
_PAIR = Pattern(
    r"(?:credentials|creds|user(?:name)?[ ]?/[ ]?pass(?:word)?|账密|帐密|[账帐]号密码|用户名密码)"
    r"[ \t]{0,2}(?:are|is|是|为|[:：=])?[ \t]{0,2}"
    r"(?P<user>[\w.@-]{1,64}?)[ \t]{0,2}[/:|][ \t]{0,2}(?P<value>[^\s,;，。；/|]{1,128})",
    re.IGNORECASE,
)
_SEED = Pattern(
    r"(?:seed[ ]phrase|recovery[ ]phrase|mnemonic|助记词)"
    r"[ \t]{0,2}(?:is|are|是|为)?[ \t]{0,2}[:：=]?"
    r"[\s\"'“]{0,3}"
    r"(?P<value>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![a-z])",
    re.IGNORECASE,
)


OTHER_HINTS = ("cred", "密", "phrase", "mnemonic", "助记词")
"""A text in lower case without any of them, or of those of `cues`, announces nothing."""


def spoken(text: str, lowered: str) -> Iterator[Place]:
    """The places of secrets that people say.

    `lowered` is the text in lower case, for a cheap first look.
    """
    for cue in cues():
        if any(hint in lowered for hint in cue.hints):
            yield from _announced(cue, text)
    yield from _announced_after(text)
    yield from _paired(text)
    yield from (("seed phrase", *match.span("value")) for match in _SEED().finditer(text))


def _announced(cue: HintedPattern, text: str) -> Iterator[Place]:
    match = cue.pattern().search(text)
    while match:
        place = _value_after(cue, text, match)
        if place:
            yield (cue.kind.partition(":")[0], *place)
        # A refused value is read again: it may itself announce one ("password: token: …").
        match = cue.pattern().search(text, place[1] if place else match.end())


def _value_after(cue: HintedPattern, text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Where the value that follows a cue stands, when it is one."""
    quoted = _QUOTED().match(text, match.end())
    if quoted:
        is_secret = _is_quoted_secret(cue, match, quoted)
        return quoted.span("value") if is_secret else None
    run = _RUN().match(text, match.end())
    if run is None:
        return _after_han(cue, text, match) or _han_phrase(cue, text, match)
    return _unquoted(cue, text, match, run)


def _is_quoted_secret(cue: HintedPattern, match: re.Match[str], quoted: re.Match[str]) -> bool:
    if match["nothing"] is not None and quoted[0][0] not in "「『【":
        return False
    value = quoted["value"]
    sentence = cue.kind in _LOOSE and " " in value and _may_be_passphrase(value)
    return sentence or _is_secret(cue, value, "", bare=False)


def _unquoted(
    cue: HintedPattern, text: str, match: re.Match[str], run: re.Match[str]
) -> tuple[int, int] | None:
    """Where a value without quotes ends.

    Before the next parameter of an address, and the sentence's sign.
    """
    value = _NEXT_PARAMETER().split(run[0], maxsplit=1)[0] if match["sign"] else run[0]
    value = value.rstrip(".:?]}\\")
    end = run.start() + len(value)
    # A run longer than one look: what follows is more of it, not a unit or the end of a sentence.
    is_longer = len(run[0]) == _LOOK
    following = "" if is_longer else text[end : end + 16]
    if not _may_follow(cue, match, value):
        return None
    if not _is_secret(cue, value, following, bare=match["sign"] is None):
        return None
    return run.start(), _end_of_run(text, end) if is_longer else end


def _end_of_run(text: str, start: int) -> int:
    rest = _REST().match(text, start)
    return rest.end() if rest else start


def _may_follow(cue: HintedPattern, match: re.Match[str], value: str) -> bool:
    """Whether a cue with neither sign nor verb announces the value: "密码 hunter2", "pin 4821"."""
    if match["nothing"] is None:
        return True
    is_said = bool(match["nothing"]) or cue.kind == "code" or not match[0][-1].isascii()
    return is_said and _is_clear(value, cue)


def _after_han(cue: HintedPattern, text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """A password that begins in Chinese and goes on in letters and digits: 密码是小猫Abc12345."""
    found = _AFTER_HAN().match(text, match.end())
    if found is None or not cue.kind.startswith("password") or match["nothing"] is not None:
        return None
    if _HAN_NO_SECRET().search(found["han"]):
        return None
    return found.span() if is_mixed(found["run"]) else None


def _is_clear(value: str, cue: HintedPattern) -> bool:
    """Whether a value with nothing before it but the cue can only be one.

    "密码 hunter2", "验证码 482913".
    """
    digits = sum(map(str.isdigit, value))
    if cue.kind == "code":
        return value.isdigit() and 4 <= digits <= 8
    if digits == 0:
        return False
    if cue.kind not in _LOOSE:  # "api key 8f3k…": long, or it is a name
        return digits < len(value) and len(value) >= 20 and value.isalnum()
    return 6 <= len(value) <= 12 or (len(value) > 12 and digits < len(value))


def _is_secret(cue: HintedPattern, value: str, following: str, *, bare: bool) -> bool:
    if is_no_secret(value) or tells_about(following) or is_repeated(value):
        return False
    if cue.kind == "code":
        return is_code(value)
    if cue.kind == "key":
        return is_key(value)
    if cue.kind not in _LOOSE:
        return len(value) >= 4 and has_digit(value)
    return is_password(value, following, bare=bare)


def _may_be_passphrase(value: str) -> bool:
    return value.split()[0].lower() not in no_secrets() and len(value) <= 60


def _han_phrase(cue: HintedPattern, text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """A watchword in Chinese ("口令：芝麻开门"); after 密码 people rather explain than tell."""
    if cue.kind != "password" or not match[0].startswith(("口令", "暗号")):
        return None
    if not match["sign"] and not match["verb_zh"]:
        return None
    phrase = _HAN_PHRASE().match(text, match.end())
    return phrase.span() if phrase else None


def _announced_after(text: str) -> Iterator[Place]:
    """The other way round: "hunter2 is my password", "482913 是你的验证码"."""
    for match in _REVERSED().finditer(text):
        value, what = match["value"].lower(), match[match.lastgroup or "what"].lower()
        kind = "code" if what in ("code", "pin", "验证码") else "password"
        plausible = value.isdigit() if kind == "code" else has_digit(value)
        if plausible and not is_no_secret(value):
            yield (kind, *match.span("value"))


def _paired(text: str) -> Iterator[Place]:
    for match in _PAIR().finditer(text):
        if has_digit(match["value"]) and not is_no_secret(match["value"]):
            yield ("password", *match.span("value"))
