"""What happened in a window, in a few bullets: picked sentences, shortened, in the third person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Bullet
from pipimem.sidecar.offline.cues import CHANGED, DONE, FAILED, Strength, hit, without_label
from pipimem.sidecar.offline.learning import POINTS_ELSEWHERE, VAGUE
from pipimem.sidecar.offline.phrases import found
from pipimem.sidecar.offline.sentences import Sentence, is_chinese, sentences
from pipimem.sidecar.offline.titling import titled
from pipimem.sidecar.offline.voice import speaks_of_self, third_person
from pipimem.sidecar.offline.weights import Weights
from pipimem.sidecar.offline.wording import core, dates_once, tightened, trimmed
from pipimem.text.dates import dated
from pipimem.text.han import HAN
from pipimem.text.weekdays import SHORT
from pipimem.text.words import Words

# Half a line on a screen; Chinese says as much in fewer characters.
_MOST_CHARS = 110
_MOST_CHARS_ZH = 60
# More would be a transcript, fewer would miss a day's second topic.
_MOST_BULLETS = 6
_MESSAGES_A_BULLET = 6
# A whole message of this length is its speaker's wording, not ours.
_VERBATIM = 60
_TITLE_CHARS = 40
# What a picked sentence has said already counts this much for the next one.
_SAID_ALREADY = 0.25
_CUE_BONUS = 1.6
_EVENT_BONUS = 1.3
_OUTCOME_BONUS = 1.5
# A saying ("being organised is key") happened to nobody.
_GENERAL_MALUS = 0.6
_OUTCOMES = (Kind.DECISION, Kind.LESSON)
_THING = (
    r"\b(?:the|an?|my|our|their|his|her|for|of|about|with|into|at|\w+'s) ([a-z][\w-]{2,})(?![\w'])"
    r"|(?<=[a-z0-9,] )([A-Z][\w.-]{2,})(?![\w'])"
)
# Words that stand where a topic might and are none.
_NO_TOPIC = (
    r"^(?:last|next|new|great|good|best|same|few|lot|bit|big|nice|little|way|time|day|thing|things|people|week|part|kind|first"
    r"|whole|first|other|own|more|most|past|year|month|family|much|long|being|having|making|getting|one|two|three|real|fam"
    r"|super|old|huge|which|those|these|that|this|them|they|their|your|really"
    rf"|{'|'.join(SHORT)}"
    r"|like|bad|ok|okay|\w+day|\w+ful|\w+ous|\w{3,}ed)$"
    r"|^(?:喜欢|今天|昨天|明天|最近|觉得|感觉|过得|不错|时间|很多|一些|一个|一下|可以|知道|开始|需要|希望|帮助|问题|非常|特别|比较|现在"
    r"|之前|之后|以后|以前|有点|不要|不用|没有|已经|自己|大家|我们|他们|看到|听到|去年|今年|一起|一直|东西|事情|地方|时候|有时|有时候"
    r"|其他|各种|很大|更加|真的|可能|应该|还有|尝试|包括|往往|尤其|左右|下来|起来|出来|朋友|生活|称呼|看不懂|麻烦|看了|[一两几][部本件个场次道种位家名只条张项份]|好看|了解|不同|重要|认为|得到|讲述|同时|美好|准备|放松|学到|发现|意思|变得|有关|关于|进行|成为|获得|有趣|漂亮|美丽|开心|[一二三四五六七八九十]+[点号月日天个])$"
)
_PAST = (
    r"\b(?:went|took|got|made|gave|met|finished|bought|started|joined|decided|moved|visited|read|saw|won|lost|celebrated"
    r"|signed up|applied|passed|attended|ran|painted|adopted|wrote|built|shipped|fixed|submitted|released|\w{3,}ed)\b"
    rf"|了(?:一|两|三|[{HAN}])|昨[天晚]|上周|刚刚?"
)
_SHOWN = r"^(?:here(?:'s| is| are)|check out|look at|take a look|guess what)\b|\b(?:feels|seems|looks) like\b"
_CHATTER = (
    r"\b(?:thanks?|glad|awesome|amazing|wow|so (?:cool|sweet|proud|happy)|sounds|congrats|can't wait|let me know|lol|haha"
    r"|keep it up|take care|good luck|you|you'\w+|yours?|weather|lunch|raining)\b|天气|午饭|奶茶|下雨|谢谢|感谢|很高兴|推荐|建议|聊天|你好|加油|辛苦|我也?(?:会|可以)|[你您]"
)


def summarised(window: Sequence[Message], words: Words) -> tuple[str, tuple[Bullet, ...]]:
    """A title and the bullets of a window; at least one bullet where people and bot, or two people, spoke."""
    said = sentences(window)
    weights = Weights(words, (sentence.text for sentence in said))
    whole = {" ".join(message.content.split()) for message in window}
    heard = (sentence for sentence in said if sentence.role == "user" and not sentence.question)
    lines = [(sentence, text) for sentence in heard if (text := headline(sentence, whole))]
    people = sum(message.role == "user" for message in window)
    room = min(_MOST_BULLETS, max(1, -(-people // _MESSAGES_A_BULLET)))
    picked = _picked(lines, weights, room)
    names = weights.names(message.speaker for message in window)
    title = titled([(text, line.speaker) for line, text in picked]) or topics([t for _, t in picked], weights, names)
    if not picked:
        return title, _last_resort(window)
    # What came out first, then what went on, each in the order of time.
    picked.sort(key=lambda line: (not _came_out(line[0]), line[0].place))
    return title, tuple(Bullet(text, sentence.sources) for sentence, text in picked)


def headline(sentence: Sentence, whole: Collection[str] = ()) -> str:
    """A sentence as a headline about its speaker; nothing where it is too long to be cut at a clause."""
    limit = _MOST_CHARS_ZH if sentence.chinese else _MOST_CHARS
    fits = hit(sentence.text)
    text = tightened(core(sentence.text, fits.start if fits else 0, limit))
    if sentence.when is not None:
        text = dates_once(dated(text, sentence.when))
    text = trimmed(without_label(text))
    if len(text) > _VERBATIM and any(text in message for message in whole):
        text = core(text, 0, _VERBATIM)
    return third_person(text, sentence.speaker, attributed=True) if text else ""


def _picked(lines: list[tuple[Sentence, str]], weights: Weights, room: int) -> list[tuple[Sentence, str]]:
    """The weightiest lines, each judged by what the ones before it have not said; no two of one message."""
    covered: set[str] = set()
    picked: list[tuple[Sentence, str]] = []
    left = list(lines)
    while left and len(picked) < room:
        best = max(left, key=lambda line: (_score(line, weights, covered), -line[0].place))
        if _score(best, weights, covered) <= 0:
            break
        picked.append(best)
        covered |= weights.bag(best[1])
        left = [line for line in left if line[0].sources != best[0].sources]
    return picked


def _score(line: tuple[Sentence, str], weights: Weights, covered: set[str]) -> float:
    sentence, text = line
    bag = weights.bag(text) - weights.bag(sentence.speaker)
    if len(bag) < 2:
        return 0.0
    score = weights.news(bag, covered, _SAID_ALREADY)
    if hit(sentence.text):
        score *= _CUE_BONUS
    elif not (sentence.chinese or speaks_of_self(sentence.text) or found(DONE, text) or found(FAILED, text)):
        score *= _GENERAL_MALUS
    if _came_out(sentence):
        score *= _OUTCOME_BONUS
    if found(POINTS_ELSEWHERE, text.partition(",")[0]):
        score *= 0.5
    if found(_PAST, text) or found(DONE, text) or found(FAILED, text) or found(CHANGED, text):
        score *= _EVENT_BONUS
    if re.search(r"\d|《|\"", text):
        score *= 1.15
    if found(_CHATTER, sentence.text):
        score *= 0.4
    if VAGUE.search(sentence.text) or found(_SHOWN, sentence.text):
        score *= 0.35
    return score


def _came_out(sentence: Sentence) -> bool:
    """Whether something was settled or got done."""
    if found(DONE, sentence.text):
        return True
    fits = hit(sentence.text)
    return fits is not None and fits.kind in _OUTCOMES and fits.strength > Strength.FAINT


def topics(texts: Sequence[str], weights: Weights, apart_from: Collection[str]) -> str:
    """The things the texts are about, as they were written, at most 40 characters."""
    seen: Counter[str] = Counter()
    written: dict[str, str] = {}
    for text in texts:
        for form in _things(text, weights):
            word = next(iter(weights.bag(form)), "")
            if word and word not in apart_from and not found(_NO_TOPIC, form):
                seen[word] += 1 + min(weights.counts[word], 4)
                written.setdefault(word, form)
    order = sorted(seen, key=lambda word: (-seen[word], -len(written[word]), list(written).index(word)))
    chinese = sum(map(is_chinese, written.values())) * 2 > len(written)
    title = ""
    for word in order[:4]:
        longer = f"{title}{'、' if chinese else ', '}{written[word]}" if title else written[word]
        if len(longer) <= _TITLE_CHARS:
            title = longer
    return title[:1].upper() + title[1:] if title.isascii() else title


def _things(text: str, weights: Weights) -> list[str]:
    """What may be a noun: names, what stands behind an article or a preposition, Chinese words of two and more."""
    latin = [found_[1] or found_[2] for found_ in re.finditer(_THING, text)]
    words = weights.words.words(text)
    # Of a compound the index holds the parts as well; a title wants the whole.
    han = [word for word in words if len(word) > 1 and is_chinese(word) and not any(c.isdigit() for c in word)]
    han = [word for word in han if not any(word != other and word in other for other in words)]
    return [form for form in latin + han if len(weights.bag(form)) == 1]


def _last_resort(window: Sequence[Message]) -> tuple[Bullet, ...]:
    """Nothing stood out: at least who spoke, and how much."""
    spoken = [message for message in window if message.role != "tool" and message.content.strip()]
    people = list(dict.fromkeys(m.speaker for m in spoken if m.role == "user" and m.speaker))
    if len(spoken) < 2 or not any(message.role == "user" for message in spoken):
        return ()
    sources = tuple(message.id for message in spoken[:20])
    if any(is_chinese(message.content) for message in spoken):
        return (Bullet(f"{'、'.join(people[:4]) or '用户'}闲聊（{len(spoken)} 条消息）", sources),)
    return (Bullet(f"{', '.join(people[:4]) or 'The user'}: small talk ({len(spoken)} messages)", sources),)
