"""The forms of questions and orders that need no memory: what anybody could be asked by anybody."""

from __future__ import annotations

import re

from pipimem.text.patterns import Pattern

# What is asked in general is asked in a line; what is longer tells of something.
LONGEST = 200

# ── an order that memory has no part in, whatever it names ──────────────────
_GENRES = r"jokes?|poems?|haikus?|limericks?|sonnets?|riddles?|raps?|songs?|lyrics|fairy ?tales?|(?:short )?story|stories|tongue.twisters?|puns?|fun facts?"
ORDER = Pattern(
    rf"\b(?:write|tell|make up|compose|give|sing|invent|create)\b(?: me| us)?(?: a| an| another| some| two| three)?(?: \w+)? (?:{_GENRES})\b"
    r"|\btranslat\w+\b.*(?:[:\"“]|\b(?:in)?to \w+\s*$)|\bhow do (?:you|i) (?:say|spell|pronounce)\b"
    r"|\b(?:weather|forecast|umbrella)\b|\b(?:will|does|is) it (?:be |going to )?(?:rain|snow|sunny|warm|cold|windy)"
    r"|\bwhat(?:'s| is) \d+(?:\.\d+)? ?(?:[-+*/x×%]|times|plus|minus|divided|percent)"
    r"|(?:讲|说|来|编|给)[^，。？]{0,4}(?:笑话|段子|故事|谜语|绕口令|冷知识)|(?:写|作|编|来|唱)[^，。？]{0,6}(?:首|篇|段)[^，。？]*(?:诗|歌|故事|段子|歌词|作文|散文|绕口令)"
    r"|翻译(?:成|为)|用.{1,4}[语文](?:怎么说|怎么讲)|天气|(?:会|要)(?:不会)?(?:下雨|下雪|出太阳|降温)|带伞|气温",
    re.IGNORECASE,
)

# ── a way of doing something: ours where nothing but it is named ("how do I log in?") ───────────────────────
PROCEDURE = Pattern(
    r"\bhow (?:do|can|should|would) i\b|\bhow to\b|怎么(?!样|说|定|想|看|了|回事|处理|安排|决定|联系|办的|不)|如何",
    re.IGNORECASE,
)

# ── a question or a wish of that form: one plain word that also stands in an entry is chance ──────────────────
GENERAL = Pattern(
    r"\bhow (?:do|does|can|should|would) (?:you|one|people|an?)\b|\bhow do(?:es)? .* work\b"
    r"|\bhow (?:long|many|much|old|far|tall|big|often|deep|high) (?:is|are|does|do|should) (?:an?|one)\b"
    r"|\bhow many \w+ (?:are |is )?(?:there )?(?:in |on )?(?:an?\b|\d)|\bhow many (?:minutes|hours) for\b"
    r"|\bwhat(?:'s| is| are) (?:an?|another|some)\b|\bwhat(?:'s| is| are) the (?:difference|meaning|capital|population|plural"
    r"|past tense|opposite|distance|formula|speed|rules? of|symptoms|boiling|melting|best way)\b"
    r"|\bwhat (?:does|do) .* mean\b|\bdifference between\b|\bwhat (?:is|are) \w+\?*$"
    r"|\bwhy (?:do|does)\b|\bwhy (?:is|are|does|did) (?:my|the|a) .* (?:wrong|off|not work\w*)|\bwhy (?:is|are) (?!the|this|that|our)"
    r"|\bhow do (?!we\b|they\b)\w+ \w+\?*$|\bwho (?:invented|discovered|wrote|painted|composed|won|sang|directed)\b"
    r"|\bwhen (?:was|were) .* (?:built|born|invented|founded|discovered)\b|\bwhen should (?:i|you)\b"
    r"|\b(?:can|do) (?!we\b|you\b|i\b)\w+s (?:eat|drink|live|swim|fly|have|need)\b"
    r"|\bis it (?:safe|ok|okay|bad|good|true|normal|legal|healthy|rude|better|possible)\b|\bwhich is (?:better|bigger)\b"
    r"|\bwhat (?:should|can|could) i (?:wear|watch|read|cook|eat|make|give|say|listen)\b|\bwhat(?:'s| is) a good\b"
    r"|\b(?:recommend|suggest)\b|\b(?:come up with|think of)\b|\bgive me (?:an?|some|two|three|five|ten)\b|\bname (?:an?|two|three|five)\b"
    r"|\b(?:explain|define|convert|rephrase|reword|proofread)\b|\bin other words\b|\bsynonyms?\b"
    r"|\bset (?:an?|the) (?:timer|alarm|reminder)\b|\bplay (?:some|an?|me)\b|\b(?:dim|turn) (?:the|on|off|up|down)\b"
    r"|\bwhat (?:time|day) is it\b|\bday of the week\b|\b(?:write|make|build) (?:me )?an?\b"
    r"|为什么|为啥|什么是|是(?:什么|啥)意思|什么意思|怎么回事"
    r"|(?:有什么|有啥|的)?(?:区别|不一样|不同)|有(?:什么|啥|哪些)(?:好看|好吃|好玩|好听|症状|推荐|好处|坏处|用处)|推荐|穿什么|送什么"
    r"|(?:起|想|取)(?:一?个|几个|三个)|(?:放|播)(?:一?首|一?点|一?段)|播放|闹钟|提醒我|(?:调|关|打开|开)(?:暗|亮|小|大|灯)"
    r"|换(?:个|一种)说法|重写|改写|[写改说]得|(?:写|编)一?(?:首|篇|段|个|封)|讲一?[个下]|(?<!不)能(?:吃|喝)|(?<!不)可以(?:吃|喝)"
    r"|是谁(?:发现|发明|唱)的|作者是|哪(?:一)?年(?:建|成立|发明|结束|出)|首都|等于|什么时候(?:该|种|用)|哪个(?:大|好|更)",
    re.IGNORECASE,
)


def is_order(text: str) -> bool:
    """Whether a message orders a joke, a translation, the weather: nothing that entries could help with."""
    return len(text) <= LONGEST and ORDER().search(text) is not None


def is_general(text: str, things: int) -> bool:
    """Whether a message that names so many things has the form of a question about the world at large."""
    if len(text) > LONGEST:
        return False
    return GENERAL().search(text) is not None or (
        things > 1 and PROCEDURE().search(text) is not None
    )
