"""What a question is after, by its cue phrases, and which sections answer it."""

from __future__ import annotations

import re
from enum import StrEnum

from pipimem.notes.kinds import Kind
from pipimem.recall.items import Item, Source
from pipimem.text.patterns import Pattern
from pipimem.text.weekdays import WEEKDAY_EN


class Intent(StrEnum):
    """What a question is after."""

    STATE = "current state"
    NEXT = "next steps"
    CONSTRAINTS = "constraints"
    DECISIONS = "decisions"
    ERRORS = "errors"
    HISTORY = "history"
    PREFERENCES = "preferences"


# DESIGN §8: an item of the section that was asked for gains 8 to 10 hundredths. Session state changes by the
# hour, so asking for it is the surest sign.
BONUS: dict[Intent, float] = {
    Intent.STATE: 10,
    Intent.NEXT: 10,
    Intent.CONSTRAINTS: 9,
    Intent.DECISIONS: 9,
    Intent.ERRORS: 9,
    Intent.HISTORY: 8,
    Intent.PREFERENCES: 8,
}

# Where each is answered: kinds of durable entries, sections of SESSION.md, a whole source.
ANSWERED_BY: dict[Intent, frozenset[str]] = {
    Intent.STATE: frozenset(("Current State", "User Intent", "Session Title", Kind.ONGOING)),
    Intent.NEXT: frozenset(("Next Steps", Kind.OPEN_LOOP)),
    Intent.CONSTRAINTS: frozenset(("Constraints", Kind.CONSTRAINT)),
    Intent.DECISIONS: frozenset(("Decisions", Kind.DECISION)),
    Intent.ERRORS: frozenset(("Errors & Corrections", Kind.LESSON)),
    Intent.HISTORY: frozenset(("Worklog", Source.HISTORY)),
    Intent.PREFERENCES: frozenset((Kind.PREFERENCE,)),
}

# The cues of each intent, English then Chinese; they are taken off before asking whether anything else is
# left.
CUES: dict[Intent, Pattern] = {
    intent: Pattern(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)
    for intent, english, chinese in (
        (
            Intent.STATE,
            r"current(?:ly)? (?:state|status|work(?:ing)?|task|focus|doing)|where (?:are|were"
            r"|did) we(?: at| leave off| stop)?"
            r"|what(?:'s| is|s) going on|what(?: are|'re) we (?:working on|doing|up to)|status|progress"
            r"|state of (?:things|play)",
            r"(?:目前|当前|现在|眼下|手头|手上)[的上]?(?:状态|状况|情况|进展|进度|任务|工作|活儿?|事情?|在做什么|做到哪|到哪)|(?:进展"
            r"|进度|情况|状态|状况)(?:如何|怎么样|怎样|到哪)"
            r"|(?:做|进行|聊|说|讲)到哪(?:里|儿|了|一步)?|在忙什么|在做什么|什么进展|进展|进度",
        ),
        (
            Intent.NEXT,
            r"next steps?|(?:do|doing|comes?|is|what'?s|up|anything|start|tackle) next|what now|to-?dos?"
            r"|open (?:loops?|items?|tasks?|points?)"
            r"|left to do|(?:is|what'?s|work|still) (?:left|remaining|outstanding|open|pending)"
            r"|still (?:need|have) to",
            r"下一步|下步|接下来|待办(?:事项)?|后续(?:计划|步骤|安排|工作)?|(?:还|剩)(?:有|剩)?(?:什么"
            r"|哪些|啥)(?:没(?:有)?做|没完成|要做|没弄|事|任务|工作|待办)|未完成的?"
            r"|然后(?:做|干)(?:什么|嘛|啥)|该(?:我|你|我们|咱们)?(?:做|干|弄)(?:什么|些什么|嘛|点?啥|哪些)",
        ),
        (
            Intent.CONSTRAINTS,
            r"constraints?|rules?|restrictions?|limitations?|(?:not |are we |am i |is it )?(?:allowed"
            r"|permitted|forbidden)"
            r"|must(?: we| i)?(?: not|n't)?|may (?:we|i)|(?:should|can) (?:we|i) (?:not|never)|(?:careful"
            r"|watch out) (?:about|with|for)|off limits",
            r"约束|限制|规则|规定|禁止|不能|不许|不允许|不准|必须|能不能|可不可以|(?:要|需要)注意(?:什么"
            r"|哪些)?|注意事项|红线",
        ),
        (
            Intent.DECISIONS,
            r"decid(?:e|ed|ing)|decisions?|agree(?:d)?(?: on| to| upon)?|settled? on|(?:did"
            r"|have) we (?:choose|chosen|pick|picked)|chose|chosen"
            r"|went with|go(?:ing)? with|conclusions?",
            r"决定|决策|敲定|定下来|定了|定的(?:是)?|商定|选定|选了|结论|为什么(?:选|用)|(?:最后"
            r"|最终)(?:选|用|定)",
        ),
        (
            Intent.ERRORS,
            r"errors?|mistakes?|bugs?|fail(?:ed|ures?|ing|s)?|went wrong|go(?:es|ing)? wrong|broke(?:n)?"
            r"|crash(?:ed|es)?|problems?|issues?|lessons?"
            r"|corrections?|pitfalls?",
            r"错误|报错|出错|出(?:了)?(?:什么)?问题|失败|故障|踩(?:过|了)?(?:什么|哪些)?坑|教训|哪里错"
            r"|搞错|弄错|更正|纠正|翻车",
        ),
        (
            Intent.HISTORY,
            r"last (?:time|week|month|year|night|spring|summer|autumn|fall|winter|"
            rf"{WEEKDAY_EN})|previous(?:ly)?|before"
            r"|earlier|history|yesterday|ago|back then|used to|(?:did|have|had) we (?:talk|talked|discuss"
            r"|discussed|done?|say|said|mention(?:ed)?)",
            r"之前|以前|从前|上次|上回|上周|上个?月|去年|前(?:几)?天|昨天|历史|曾经|当时|那时|(?:聊|讨论"
            r"|说|谈|提|讲)(?:过|到过|了(?:什么|哪些|些))|过去",
        ),
        (
            Intent.PREFERENCES,
            r"prefer(?:s|red|ences?)?|favou?rites?|likes?|dislikes?|hates?|habits?|tastes?|rather"
            r"|usually (?:use|want|like)",
            r"偏好|喜欢|最爱|爱吃|爱喝|爱好|喜好|口味|习惯|讨厌|忌口|过敏",
        ),
    )
}


# What the English cues of an intent have in them, one of these each: plain searches for all of them cost less than
# one look for a pattern of many words.
ENGLISH_HINTS: dict[Intent, tuple[str, ...]] = {
    Intent.STATE: ("current", "status", "progress", "where", "going on", "doing", "working", "up to", "state of"),
    Intent.NEXT: (
        "next", "what now", "todo", "to-do", "open", "left", "remaining", "outstanding", "pending", "need to", "have to",
    ),
    Intent.CONSTRAINTS: (
        "constraint", "rule", "restriction", "limit", "allow", "permit", "forbid", "must", "may ", "should", "can ",
        "careful", "watch",
    ),
    Intent.DECISIONS: ("deci", "agree", "settle", "cho", "pick", "with", "conclu"),
    Intent.ERRORS: (
        "error", "mistake", "bug", "fail", "wrong", "broke", "crash", "problem", "issue", "lesson", "correct", "pitfall",
    ),
    Intent.HISTORY: ("last", "previous", "before", "earlier", "history", "yesterday", "ago", "back", "used", " we "),
    Intent.PREFERENCES: ("prefer", "favo", "like", "hate", "habit", "taste", "rather", "usually"),
}  # fmt: skip


def intents_of(text: str) -> tuple[Intent, ...]:
    """Every intent that has a cue in the text."""
    if not text.isascii():
        return tuple(intent for intent, cue in CUES.items() if cue().search(text))
    lowered = text.lower()
    hinted = [
        intent
        for intent, hints in ENGLISH_HINTS.items()
        if any([hint in lowered for hint in hints])  # noqa: C419
    ]
    return tuple(intent for intent in hinted if CUES[intent]().search(text))


def without_cues(text: str) -> str:
    """The text with the cues of every intent taken out."""
    for cue in CUES.values():
        text = cue().sub(" ", text)
    return text


def answers(item: Item, intent: Intent) -> bool:
    """Whether an item stands where this intent is answered."""
    places = ANSWERED_BY[intent]
    return item.kind in places or item.source in places
