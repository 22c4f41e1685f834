"""Words and phrases that tell questions for the memory from commands, chat and what any textbook answers."""

from __future__ import annotations

import re

from pipimem.text.patterns import Pattern
from pipimem.text.weekdays import WEEKDAY_EN, WEEKDAY_ZH

# ── a line for a shell ──────────────────────────────────────────────────────
_PROGRAMS = (
    r"git|gh|npm|pnpm|yarn|npx|bun|node|deno|python3?|pip3?|uv|uvx|poetry|pytest|tox|ruff|mypy|cargo|rustc"
    r"|go|java|mvn|gradle|make|cmake"
    r"|docker|docker-compose|podman|kubectl|helm|terraform|ansible|systemctl|journalctl|ssh|scp|rsync|curl"
    r"|wget|ls|ll|cd|cat|cp|mv"
    r"|rm|mkdir|touch|chmod|chown|grep|rg|find|tail|head|less|ps|top|kill|df|du|tar|zip|unzip|apt|apt-get"
    r"|brew|vim?|nano|echo|which|pwd|whoami|sudo"
)
_SUBCOMMANDS = (
    r"status|log|diff|show|push|pull|fetch|clone|init|add|commit|merge|rebase|reset|stash|tag|branch"
    r"|checkout|switch|restore|bisect|blame|install"
    r"|i|ci|remove|uninstall|update|upgrade|run|start|stop|restart|test|tests|build|lint|format|fmt|check"
    r"|clean|publish|up|down|ps|logs|exec|images"
    r"|get|describe|apply|delete|plan|list|ls|sync|lock|compose|all"
)
# A program with a subcommand, or with arguments no sentence has: flags, paths, refs. A program's name alone may
# well be asked about; those that are typed alone stand first.
COMMAND_LINE = Pattern(
    rf"[$>❯]?\s*(?:(?:ls|ll|pwd|whoami|ps|df|du|top|cd)|(?:sudo\s+)?(?:{_PROGRAMS})(?=\s)(?:\s+(?:{_SUBCOMMANDS}))*"
    rf"(?:\s+(?:-[\w-]+(?:=\S+|\s+(?:{_PROGRAMS})(?!\S))?|[!-~]*[./:=@*][!-~]*|origin|main|master|HEAD|\d+|\"[^\"]*\"|'[^']*'))*+)\s*",
    re.IGNORECASE,
)
# Longer lines are pasted scripts, and asked about.
COMMAND_LENGTH = 200

# ── chat that asks for nothing ──────────────────────────────────────────────
# The longer of two phrases with one beginning stands first: the match never goes back.
_CHAT = (
    r"good (?:morning|afternoon|evening|night|day|job)|how are you(?: doing)?(?: today)?|how(?:'s"
    r"| is) it going|what'?s up|nice to meet you"
    r"|thank you|thank(?:s|x)?|thx|cheers|so much|very much|a lot|much appreciated|got it|i see"
    r"|makes sense|sounds good|no (?:problem|worries)"
    r"|(?:it|that)(?:'s)?(?: all)? (?:works?|worked|helps|helped|great|good|fine|perfect|right)|well done"
    r"|never mind|all good|see you|take care"
    r"|have a (?:nice|good|great) (?:day|one|weekend|evening)|you(?:'re| are) welcome|hi+|hello|hey+|yo"
    r"|morning|great|nice|cool|awesome|perfect(?:ly)?"
    r"|excellent|wonderful|amazing|lovely|ok(?:ay|ey)?|sure|yes|yeah|yep|yup|nope|no|right|exactly|correct"
    r"|tell me (?:a|another) joke|讲个笑话|sing (?:me )?a song|唱首歌"
    r"|true|agreed|understood|done|bye|goodbye"
    r"|later|tomorrow|soon|now|haha+|hehe+|lol|wow|oh|ah|hmm+|welcome|all|everyone|everybody|guys|team"
    r"|there|again|you too|so|very"
    r"|你好|您好|大家好|(?:早|上午|中午|下午|晚)上?[好安]|早|在吗|在不在|在么|谢谢|多谢|感谢|谢[啦了]|辛苦"
    r"|麻烦|[你您]呢|[你您]|大家"
    r"|好的|好吧|好|行吧|行|可以|没问题|没事|收到|明白|知道|了解|懂|嗯+|哦+|噢|对|是的?|不错|很好|太好"
    r"|太棒|棒|赞|厉害"
    r"|哈+|呵+|嘿+|嘻+|再见|拜拜|回见|明天见|回头见|不客气|不用谢|恭喜|加油|搞定|完成|吃(?:饭)?了[吗没]"
    r"|周末愉快|最近怎么样|[真太啦了哦呀啊呢吧嘞哒滴的]"
)
CHAT = Pattern(rf"(?:(?>(?:{_CHAT})(?![a-z]))[\s\W_]*+)++", re.IGNORECASE)
# Longer than this, a message of nothing but such phrases is not worth recognising.
CHAT_LENGTH = 120

# ── what any textbook answers ───────────────────────────────────────────────
# "How do I use X", "X 是什么": about nothing of ours as long as X is a topic of the trade and no word says
# "our".
GENERIC_QUESTION = Pattern(
    r"\b(?:what (?:is|are|does)|what'?s|how (?:do(?:es)? (?:i|you|one|it|we)|to|can i|does)|explain"
    r"|difference between|define|meaning of|tutorial|example of|syntax|why (?:is|are|does))\b"
    r"|怎么(?:用|写|使用|实现|装|安装|配置|学|理解|回事)|如何(?:使用|用|写|实现|安装|配置|学习|理解)"
    r"|是什么|什么是|什么意思|啥意思|(?:有什么|的)?区别|用法|语法|教程|原理|示例|例子|为什么(?:会|要)",
    re.IGNORECASE,
)
OURS = Pattern(
    r"\b(?:we|our|ours|us|my|mine|i (?:said|told|asked)|this (?:project|repo|team|group|channel)|here|again|remember|forg[eo]t)\b"
    r"|我们|咱们|咱|我的|我司|本项目|这个项目|项目里|这里|群里|上次|之前|当时|来着|记得|忘了",
    re.IGNORECASE,
)

# ── words that make a question of a few words a question ────────────────────
_QUESTION = r"[?？]|\b(?:what|which|who|when|where|why|how|is|are|do|does|did|any|anything)\b" + (
    r"|什么|啥|干嘛|哪|谁|吗|呢|么|几|多少|怎么|怎样|如何|该|是否|有没有"
)
QUESTION = Pattern(_QUESTION, re.IGNORECASE)
ASKING = Pattern(
    rf"{_QUESTION}|\b(?:tell|show|list|remind|recap|summari[sz]e|give|review)\b"
    r"|告诉|列|说说|讲讲|总结|回顾|提醒|看看|梳理",
    re.IGNORECASE,
)
FIRST_PERSON = Pattern(r"\b(?:i|my|me|mine|i'm|i've)\b|我(?!们)", re.IGNORECASE)
# Who tells how they are: by themselves or by how it ends.
TELLING = Pattern(r"\b(?:i|i'm|i've|i'll)\b|我(?!们)|[了吧啦呀啊][。！!~～\s]*\Z", re.IGNORECASE)

# ── a question for a time, and what answers it ──────────────────────────────
ASKS_WHEN = Pattern(
    r"\bwhen(?:'s|\s+(?:is|are|was|were|do|does|did|will|can|could|should|would|has|have|had)\b)"
    r"|\b(?:what|which)\s+(?:time|day|date|month|year|week)\b|\bhow\s+long\s+ago\b"
    r"|什么时候|啥时候|何时|哪天|哪一天|几点|几号|几月|哪年|什么时间",
    re.IGNORECASE,
)
NAMES_A_TIME = Pattern(
    r"\d{1,2}[:：]\d\d|\d{4}-\d\d|\d\s?(?:am|pm)\b"
    rf"|\b{WEEKDAY_EN}\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:noon|midnight|o'clock|in (?:19|20)\d\d)\b"
    r"|\d\s?[月日号](?!本)"
    rf"|{WEEKDAY_ZH}|[一二三四五六七八九十两\d]点(?!儿)",
    re.IGNORECASE,
)


def asks_when(text: str) -> bool:
    """Whether the answer to a question is a time."""
    if text.isascii() and "wh" not in (lowered := text.lower()) and "how" not in lowered:
        return False  # the pattern would try each of its words at each of the text's
    return ASKS_WHEN().search(text) is not None
