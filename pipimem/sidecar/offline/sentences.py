"""Messages cut into sentences that can be read on their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipimem.notes.message import Message
from pipimem.sidecar.offline.subjects import made_whole
from pipimem.text.han import HAN, HAN_CHARACTER

# Longer messages are pasted documents rather than talk; their head says what they are about.
_MOST_CHARS = 1500

# Intake keeps these out already; the rules would not read them either.
_PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_REMARK = re.compile(r"\[(?!private\]|secret)[^\[\]]{0,200}\]|^（[^（）]{1,40}）", re.IGNORECASE)
_WITHHELD = re.compile(r"\[(?:private|secret)", re.IGNORECASE)
# Long quotations are somebody else's words: a forwarded mail, a page, an order to obey.
_LONG_QUOTE = re.compile(r"「[^」]{24,}」?|“[^”]{24,}”?|『[^』]{24,}』?|(?<!\w)\"[^\"]{40,}\"")
_EMOJI = re.compile(r"[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]+|(?<!\w)[:;]-?[)(DP](?!\w)")
# A full stop ends a sentence before a space, but not behind a title or a single letter.
_ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|vs|etc|e\.g|i\.e|approx|No|[A-Z])\.$")
_END = re.compile(
    r"(?:[。！？!?；\n]|…(?!」))+[”』」\"')）]*|(?<=\w\w)\.+[\"')]*(?=\s|$)"
    rf"|\.+[\"')]*(?=\s+[\"'(@]?[A-Z{HAN}]|\s*$)|;(?=\s)"
)

_GREETING = re.compile(
    r"^(?:(?:(?:and|oh|so|but|yeah|well)\s+)?(?:hey|hi|hello|morning|good (?:morning|evening|afternoon|night)|thanks(?: so much| a lot| again)?|thank you"
    r"(?: so much| very much)?|wow|oh|ah|aww+|yeah|yep|yes|yup|no|nope|sure|ok(?:ay)?|well|so|actually|anyway|btw|by the way|"
    r"absolutely|totally|definitely|exactly|right|true|of course|cool|great|awesome|nice|congrats|congratulations|haha|lol|"
    r"hmm+|confirmed|noted|fine|update|heads up|fyi|woah|whoa|woohoo|yay|oof|cheers|yikes|ugh|gosh|got it|sounds (?:good|great|fun|awesome)|fair enough|oops|sorry|also|plus|and|but|honestly|to be honest|as you know|you know|i mean|i think|i guess|omg|man|wait)"
    r"(?:\s+(?:all|there|everyone|team|folks|guys))?\s*(?:[,!.:~]+\s*|\s+-+\s+|$))+",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:(?:你好[啊呀]?|您好|大家好|早上?好?|晚上好|下午好|嗨|哈喽|哈哈+|嗯+|恩+|哦+|噢|啊+|哎呀?|唉|哇+|好的?|好吧|那?太好了|那(?=，)|行|可以|是的|"
    r"对[啊呀的]?|没错|当然[啊啦了]?|当然可以|谢谢[你您]?(?:的[^，。！]{1,12})?|感谢[你您]?(?:的[^，。！]{1,12})?|其实|说起来|另外|"
    r"那么?|然后|而且|不过|但是|所以|因此|顺便说一下|老实说|说实话|抱歉|不好意思|辛苦了?|收到|明白了?|原来如此|确实|非常好|太好了|"
    r"朋友|除此之外|除了[^，。]{1,12}|比如说?|(?:刚刚)?刚才|我(?:觉得|认为|想|感觉)(?=，))[，,！!。~、\s]+)+"
)


# Before "I", these only lead on.
_LEADING_ON = re.compile(
    r"^(?:还有(?:一个问题)?[，,]|话说回来[，,]?|实际上[，,]?|比如说?[，,]?(?=昨|今|我|最近)|对了[，,]|是这样的[，,])|^(?:其实|那么?|而且|不过|但是?|所以|因为|然后|另外|还有)(?=我)"
)


# "我看了，…", "合并方式我说一下：…": that somebody speaks is no news.
_SAYING = re.compile(
    rf"(?:^|(?<=[{HAN}]))(?:我(?:来|先)?)?(?:看了(?:一?[下眼]|看)?|说一下|说两句|提一句|补充一[下点句]|报告一下)[，,：:]\s*"
)
_ASKED_OF_ONE = re.compile(r"[，,]\s*@\S+\s*(?:麻烦|请|帮)[^，。]*|,\s*@\S+ (?:please|can you|could you)\b[^,.]*")
_LEADING_ON_EN = re.compile(
    r"^(?:(?:since (?:we|I) last (?:chatted|spoke|talked|met)|(?:it's |it has )?been (?:a while|ages|a few \w+|some time)(?: since[^,]*)?"
    r"|long time no (?:see|talk|chat)|in the meantime|on (?:a|the) (?:different|other) (?:note|hand)|speaking of which|as for me|like i said|anyways?"
    r"|by the way|btw|guess what|good news|fun fact|in other news|(?:a lot|much|so much)(?:['’]s| has) happened(?: since[^,-]*)?|i (?:do|did|have|am|was)(?=\s*[,–-])|i (?:wanted|have) to (?:tell|share with) you that)\s*[,:!-]+\s*)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message, its place in the window, and whether it asks something."""

    text: str
    sources: tuple[str, ...]
    speaker: str
    role: str
    when: datetime | None
    place: int
    question: bool

    @property
    def chinese(self) -> bool:
        """Whether it reads as Chinese, with English words in it or not."""
        return is_chinese(self.text)


def is_chinese(text: str) -> bool:
    """Whether a text reads as Chinese: at least one Han character for two Latin words."""
    han = len(HAN_CHARACTER().findall(text))
    return han * 2 >= len(re.findall(r"[A-Za-z]+", text)) and han > 0


def sentences(window: Sequence[Message]) -> list[Sentence]:
    """Everything people and the bot said, sentence by sentence, without greetings, quotes of others, code or secrets."""
    bots = {message.speaker for message in window if message.role == "assistant" and message.speaker}
    people = {message.speaker for message in window if message.role == "user" and message.speaker}
    said: list[Sentence] = []
    for message in window:
        if message.role in ("user", "assistant"):
            for text, question in _of_message(message, bots, people | bots):
                source = (message.id,)
                place = len(said)
                said.append(Sentence(text, source, message.speaker, message.role, message.time, place, question))
    return said


def _of_message(message: Message, bots: set[str], people: set[str]) -> Iterator[tuple[str, bool]]:
    """The texts of a message's sentences, and whether each is a question."""
    for part in split(_plain(message.content[:_MOST_CHARS], bots)):
        if _WITHHELD.search(part):
            continue
        for said, question in _said(part):
            clean = _without_names(_OPENING.sub("", _GREETING.sub("", said.strip())), people)
            clean = _LEADING_ON.sub("", _OPENING.sub("", _GREETING.sub("", clean)).strip(" ，,、:：-–—~"))
            clean = _ASKED_OF_ONE.sub("", _SAYING.sub("", clean))
            clean = clean if is_chinese(clean) else made_whole(_LEADING_ON_EN.sub("", clean))
            if any(character.isalnum() for character in clean):
                yield clean, question


def _plain(text: str, bots: Iterable[str]) -> str:
    text = _QUOTED_LINE.sub("", _FENCE.sub(" ", _PRIVATE.sub(" ", text)))
    for bot in bots:
        text = re.sub(rf"@{re.escape(bot)}(?!\w)[,，:：]?[ \t]*", "", text)
    return _EMOJI.sub(" ", _REMARK.sub(" ", _LONG_QUOTE.sub("「…」", text)))


def split(text: str) -> list[str]:
    """The sentences of a text, each with its closing sign."""
    parts: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if _ABBREVIATED.search(text[start : end.end()]) or _inside_quotes(text[start : end.start()]):
            continue
        parts.append(text[start : end.end()])
        start = end.end()
    parts.append(text[start:])
    return [" ".join(part.split()) for part in parts if part.strip()]


def _inside_quotes(text: str) -> bool:
    return any(text.count(left) > text.count(right) for left, right in ("「」", "“”", "《》", "『』"))


def _said(sentence: str) -> Iterator[tuple[str, bool]]:
    """A sentence without its closing sign; of "I do A, do you too?" the statement and the question apart."""
    bare = sentence.rstrip("。！？!?；;….~ ")
    asks = any(sign in sentence[len(bare) :] for sign in "？?") or bool(_ASKS.search(bare))
    if not asks:
        yield bare, False
        return
    head, comma, tail = bare.rpartition("，")
    if comma and not _ASKS.search(head) and len(head) >= 6:
        yield head, False
        yield tail, True
    else:
        yield bare, True


_ASKS = re.compile(
    r"[吗呢]$|^(?:请问|为什么|怎么|什么时候|谁|哪)"
    r"|^(?:what|who|when|where|why|how)(?:'s| is| are| do| does| did| can| should| would| about| come| many| much)\b"
    r"|^(?:do|did|can|could|would|will|have|are) you\b",
    re.IGNORECASE,
)


_CALLS = r"(?i:hey|hi|hello|yeah|yes|yep|yup|sure|wow|woah|whoa|woohoo|yay|oof|thanks|cheers|cool|nice|great|congrats|ok|okay|sorry|so|well|oh|aw+|right|true|definitely|absolutely|totally|exactly)"


def _without_names(text: str, people: Iterable[str]) -> str:
    """Without the name of the one who is spoken to, in front or behind."""
    for name in people:
        short = name[:3] if name.isascii() and len(name) > 3 else name
        called = rf"(?:{re.escape(name)}|{re.escape(short)}\w{{0,3}})"
        text = re.sub(rf"^(?:{_CALLS} )?{called}\s*(?:[,，!！]+\s*|$)|\s*[,，]\s*{called}$", "", text)
    return text
