"""Secrets as people say them in a chat: "my password is …", "密码是 …", "482913 is your code"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipimem.text.han import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.secrets.harmless import NO_SECRETS, is_no_secret, tells_about

Place = tuple[str, int, int]  # kind, start, end


@dataclass(frozen=True, slots=True)
class _Cue:
    """Words that announce a secret; `loose` ones may announce a plain word or number, too."""

    kind: str
    hints: tuple[str, ...]
    pattern: Pattern
    loose: bool = False


_QUOTE = r"[\"'`”’\]]?"
_SPACE = r"[ \t\u3000]{0,4}"
_LINE_END = r"(?:\r?\n)?"
# Between the cue and the value: a sign, or a verb. Bounded everywhere, so hostile text is read once.
_SIGN = rf"{_QUOTE}{_SPACE}(?P<sign>[:：=＝]{{1,2}}|->|=>|→){_SPACE}{_LINE_END}{_SPACE}"
_VERB_EN = (
    r"(?:[ \t](?:for|to|of|on|at|in)[ \t][^\n.,;:：=。，？！!?]{1,40}?)?"
    r"[ \t]{1,3}(?P<verb>is(?:[ \t]now|[ \t]still|[ \t]set[ \t]to|[ \t]changed[ \t]to)?|was|are|now|equals"
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


def _cue(kind: str, hints: str, words: str, *, loose: bool = False) -> _Cue:
    return _Cue(kind, tuple(hints.split()), Pattern(rf"(?:{words}){_AFTER}", re.IGNORECASE), loose)


_EDGE = r"(?<![A-Za-z])"
_CUES: tuple[_Cue, ...] = (
    _cue(
        "password",
        "password passwd pwd passphrase passcode 密码 口令 暗号",
        rf"password|passwd|{_EDGE}pwd|passphrase|passcode|密码(?!学|本|锁|箱)|口令|暗号",
        loose=True,
    ),
    _cue(
        "code",
        "code otp 验证码 校验码 动态码 安全码 cvv pin",
        r"(?:verification|security|login|one-time|auth(?:entication)?|2fa|mfa|sms|confirmation"
        r"|access|pin)[ -]code"
        rf"|{_EDGE}(?:otp|cvv2?|cvc|pin)(?![A-Za-z码])|验证码|校验码|动态码|安全码|PIN码",
        loose=True,
    ),
    _cue(
        "key",
        "api key secret token 密钥 秘钥 私钥 令牌",
        r"api[ _-]?key|(?:secret|access|private|signing|encryption|master)[ _-]?"
        r"(?:access[ _-]?)?key(?:[ _-]?id)?"
        rf"|(?:client|app|corp|access|shared|webhook)[ _-]?secret|{_EDGE}secret|token|EncodingAESKey"
        r"|密钥|秘钥|私钥|令牌",
    ),
    _cue(
        "password",
        "pass pw",
        rf"{_EDGE}(?:pass|pw)(?=[ \t]{{0,2}}[:：=])|{_EDGE}(?:my|our|the)[ ](?:pass|pw)(?=[ ]is[ ])",
    ),
)

_QUOTED = Pattern(r"[\"'`“‘「『【](?P<value>[^\"'`”’」』】\n]{1,80})[\"'`”’」』】]")
_RUN_CHARS = r"[^\s,;\"'`<>，。；、！？（）()【】「」『』“”‘’《》…\u2e80-\u9fff\uff00-\uffef]"
# Characters of a value that are judged: a bound, or `password=` 10,000 times is read 10,000 times.
_LOOK = 256
_RUN = Pattern(rf"{_RUN_CHARS}{{1,{_LOOK}}}")
_REST = Pattern(rf"{_RUN_CHARS}*")
_HAN_PHRASE = Pattern(rf"[{HAN}]{{2,10}}(?=[\s，。；！,;!]|$)")
_AFTER_HAN = Pattern(rf"(?P<han>[{HAN}]{{1,6}})(?P<run>[A-Za-z0-9!@#$%^&*._-]{{6,64}})(?![\w])")
_NEXT_PARAMETER = Pattern(r"&\w{1,40}=")

_SENTENCE_END = Pattern(r"[\"'`”’)）]?[ \t]*(?:[.!?;,，。！；\n]|$)")
_SAID_OF_PASSWORDS = Pattern(r".*(?:ed|ing|able|ible|ful|less|ive|ous|ly)", re.IGNORECASE)
_HAN_NO_SECRET = Pattern(
    r"请|是|需|不|错|过期|已|什么|多少|在|见|必|问|找|谁|和|与|要|有|没|可|同|由|未|暂|无|被|输|用|的|也"
    r"|都|怎|为|能|会|失|正|看|发|稍|待|保密|忘|及|或|这|那|如|改|太|很|长度|至少|规则|强度|管理|登录|重置|修改|随|自"
)

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
    r"(?:seed[ ]phrase|recovery[ ]phrase|mnemonic|助记词)[ \t]{0,2}(?:is|are|是|为)?[ \t]{0,2}[:：=]?"
    r"[\s\"'“]{0,3}"
    r"(?P<value>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![a-z])",
    re.IGNORECASE,
)


HINTS = (
    *(hint for cue in _CUES for hint in cue.hints),
    "cred",
    "密",
    "phrase",
    "mnemonic",
    "助记词",
)
"""A text in lower case without any of them announces nothing."""


def spoken(text: str, lowered: str) -> Iterator[Place]:
    """The places of secrets that people say; `lowered` is the text in lower case, for a cheap first look."""
    for cue in _CUES:
        if any(hint in lowered for hint in cue.hints):
            yield from _announced(cue, text)
    yield from _announced_after(text)
    yield from _paired(text)
    yield from (("seed phrase", *match.span("value")) for match in _SEED().finditer(text))


def _announced(cue: _Cue, text: str) -> Iterator[Place]:
    position = 0
    while match := cue.pattern().search(text, position):
        place = _value_after(cue, text, match)
        # A refused value is read again: it may itself announce one ("password: token: …").
        position = place[1] if place else match.end()
        if place:
            yield (cue.kind, *place)


def _value_after(cue: _Cue, text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Where the value that follows a cue stands, when it is one."""
    if quoted := _QUOTED().match(text, match.end()):
        value = quoted["value"]
        told = match["nothing"] is None or quoted.group()[0] in "「『【"
        if told and (
            _is_secret(cue, value, "", bare=False)
            or (cue.loose and " " in value and _sentence_like(value))
        ):
            return quoted.span("value")
        return None
    run = _RUN().match(text, match.end())
    if run is None:
        return _after_han(cue, text, match) or _han_phrase(cue, text, match)
    value, end = run.group(), run.end()
    if match["sign"] and (parameter := _NEXT_PARAMETER().search(value)):
        value, end = value[: parameter.start()], run.start() + parameter.start()
    stripped = value.rstrip(".:?]}\\")
    end -= len(value) - len(stripped)
    # A run longer than one look: what follows is more of it, not a unit or the end of a sentence.
    following = "" if run.end() - run.start() == _LOOK else text[end : end + 16]
    if match["nothing"] is not None:
        said = bool(match["nothing"]) or cue.kind == "code" or not text[match.end() - 1].isascii()
        if not said or not _is_mixed(stripped, cue):
            return None
    if not _is_secret(cue, stripped, following, bare=match["sign"] is None):
        return None
    if run.end() - run.start() == _LOOK:
        rest = _REST().match(text, end)
        end = rest.end() if rest else end
    return run.start(), end


def _after_han(cue: _Cue, text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """A password that begins in Chinese and goes on in letters and digits: 密码是小猫Abc12345."""
    found = _AFTER_HAN().match(text, match.end())
    if (
        found is None
        or cue.kind != "password"
        or match["nothing"] is not None
        or _HAN_NO_SECRET().search(found["han"])
    ):
        return None
    mixed = any(map(str.isdigit, found["run"])) and any(map(str.isalpha, found["run"]))
    return found.span() if mixed else None


def _is_mixed(value: str, cue: _Cue) -> bool:
    """Whether a value with nothing before it but the cue can only be one: "密码 hunter2", "验证码 482913"."""
    digits = sum(letter.isdigit() for letter in value)
    if cue.kind == "code":
        return value.isdigit() and 4 <= digits <= 8
    if not cue.loose:  # "api key 8f3k…": long, or it is a name
        return 0 < digits < len(value) and len(value) >= 20 and value.isalnum()
    return digits > 0 and len(value) >= 6 and (digits < len(value) or len(value) <= 12)


def _is_secret(cue: _Cue, value: str, following: str, *, bare: bool) -> bool:
    if is_no_secret(value) or tells_about(following):
        return False
    if len(value) >= 6 and len(set(value.lower())) == 1 and not value.isdigit():
        return False
    match cue.kind:
        case "code":
            return (
                value.isascii()
                and value.isalnum()
                and 3 <= len(value) <= 10
                and value[:1].isdigit()
                and any(map(str.isdigit, value))
            )
        case "key":
            return _is_key(value)
        case _:
            return _is_password(cue, value, following, bare=bare)


def _is_key(value: str) -> bool:
    """Keys are long and mixed; a plain word, number or short name after "token:" is talk."""
    return (
        len(value) >= 8
        and not re.fullmatch(
            r"[a-z][a-z-]*(?:/[a-z0-9._-]+)+", value
        )  # the path of a secret in a vault
        and any(letter.isdigit() for letter in value)
        and any(letter.isalpha() for letter in value)
        and not re.fullmatch(
            r"[\d.,]+[a-z]{1,6}(?:/\w+)?", value, re.IGNORECASE
        )  # 120000tokens, 1.5k/min
    )


def _is_password(cue: _Cue, value: str, following: str, *, bare: bool) -> bool:
    letters = any(letter.isalpha() for letter in value)
    if any(letter.isdigit() for letter in value):
        return len(value) >= 4 if letters or not cue.loose else len(value) >= 3
    if not cue.loose or not letters:
        return not letters and len(value) >= 4 and cue.loose
    if re.search(r"[^\w.-]", value) and len(value) >= 5:  # a symbol inside: pa$$word
        return not value.endswith(("'s", "’s"))
    if value.count("-") >= 2 or (
        value != value.lower() and value[1:] != value[1:].lower() and not value.isupper()
    ):
        return len(value) >= 6
    # A plain word: only at the end of its sentence, and not what is said of passwords ("is expired").
    plain = len(value) >= 4 and not _SAID_OF_PASSWORDS().fullmatch(value)
    return plain and (not bare or "-" not in value) and _SENTENCE_END().match(following) is not None


def _sentence_like(value: str) -> bool:
    return value.split()[0].lower() not in NO_SECRETS and len(value) <= 60


def _han_phrase(cue: _Cue, text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """A watchword in Chinese ("口令：芝麻开门"); after 密码 people rather explain than tell."""
    told = match["sign"] or match["verb_zh"]
    if cue.kind != "password" or not told or not match.group().startswith(("口令", "暗号")):
        return None
    phrase = _HAN_PHRASE().match(text, match.end())
    if phrase is None or _HAN_NO_SECRET().match(phrase.group()):
        return None
    return phrase.span()


def _announced_after(text: str) -> Iterator[Place]:
    """The other way round: "hunter2 is my password", "482913 是你的验证码"."""
    for match in _REVERSED().finditer(text):
        value = match["value"].lower()
        what = (match["what"] or match["what_as"] or match["what_zh"]).lower()
        if is_no_secret(value) or not any(letter.isdigit() for letter in value):
            continue
        kind = "code" if what in ("code", "pin", "验证码") else "password"
        if kind == "password" or value.isdigit():
            yield (kind, *match.span("value"))


def _paired(text: str) -> Iterator[Place]:
    for match in _PAIR().finditer(text):
        value = match["value"]
        if not is_no_secret(value) and any(map(str.isdigit, value)):
            yield ("password", *match.span("value"))
