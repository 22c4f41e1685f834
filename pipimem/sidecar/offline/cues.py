"""The phrases by which people give away that something is worth keeping, as tables one can read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from pipimem.notes.kinds import Kind
from pipimem.sidecar.offline import life
from pipimem.sidecar.offline.phrases import found, without
from pipimem.text.weekdays import WEEKDAY_EN, WEEKDAY_ZH


class Strength(IntEnum):
    """How sure a phrase is: `FAINT` goes on probation, `CLEAR` is kept, `ASKED` somebody asked to remember."""

    FAINT = 1
    CLEAR = 2
    ASKED = 3


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase (a regular expression, no case) that marks a sentence as of a kind, unless `unless` stands in it too."""

    kind: Kind
    strength: Strength
    phrase: str
    unless: str = ""


_ADV = (
    r"(?:(?:also|always|really|usually|much|still|absolutely|generally|personally|mostly|especially|just|only|never) )*"
)
_LIKES = r"(?:喜欢|爱吃|爱喝|爱看|爱听|热爱|钟爱|偏爱|偏好|讨厌|受不了|不吃|不喝|忌口|过敏|习惯)"
_OF_YOU = r"\b(?:you|your|yours|y'all)\b|[你您]"
_WHEN_EN = rf"(?:tomorrow|tonight|next|{WEEKDAY_EN}|\d)"
# What friends tell each other to cheer up is no rule to remember.
_PEP_TALK = r"\b(?:believe in|yourself|your (?:dreams?|abilities|journey|heart|passion)|here for you|got this|just do it|stay(?:ing)? (?:positive|strong|true|focused)|give up|quit|failures?|mistakes|you're (?:awesome|amazing|not alone|doing|never)|keep (?:going|shining|pushing))\b"
_POINTER = r"\b(?:like|love|hate|enjoy|prefer|dislike) (?:the|all the|it|that|this|these|those|them|him|her|how|what|the idea|to)\b|\b(?:having|seeing|watching|making|doing|feeding|got|took) (?:them|it|this|that)\b"

DISAGREES = r"\bI (?:(?:strongly|really) )?(?:disagree|don't agree|object)\b|\bI'm (?:strongly )?against\b|我(?:是)?(?:不同意|反对|不赞成)"

# The first cue of a table that fits decides, so of each kind the surer ones stand first.
_EXPLICIT: tuple[Cue, ...] = (
    Cue(Kind.FACT, Strength.ASKED, r"^(?:please |pls |and |also )*(?:remember|note|keep in mind|don't forget|do not forget|make a note)\b(?! (?:when|how|the time|me\b|us\b|where|why|last|to (?!use|run|send|call|ping|check|always|never|add|put|include|write|answer|reply|keep)))|\bfor the record\b|\b(?:from now on|going forward|for future reference|for next time)\b|\bplease (?:always|never)\b", rf"{_PEP_TALK}"),
    Cue(Kind.FACT, Strength.ASKED, r"(?<![我你您他她没会能得])(?:请?记住|记一下|记下来?|帮我记|请?务必记得|别忘了|不要忘记|备忘)|^(?:今后|从现在起|从今天起|从今往后|以后)(?![再就会能也还]|有机会|有空|的)|[，,](?:今后|从现在起|以后)(?:请|别|不要|都|一律|跟我|给我|叫我|用|只|由)", r"会记住|能记住|记住了|记住我的|记下来?了|已经记"),
)  # fmt: skip

_CUES: tuple[Cue, ...] = (
    Cue(Kind.LESSON, Strength.CLEAR, r"\blessons?(?: learn(?:ed|t))?\s*:|\b(?:the )?root cause (?:was|is)\b|\b(?:it )?turned out (?:that|to be|the|it)\b|\b(?:was|were) caused by\b|\bthe (?:real )?(?:cause|problem|culprit) (?:was|is) (?:that|the|a|an|in)\b|\bpost-?mortem\b"),
    Cue(Kind.LESSON, Strength.CLEAR, r"教训|根因|(?:问题|故障|报错|错误|失败|崩溃)的?原因[是：:]|原来是(?!这样|如此|你)|踩(?:了个)?坑|是[^，。]{2,20}(?:导致|引起|造成)的?|不然(?:就)?会|否则(?:就)?会"),

    Cue(Kind.DECISION, Strength.CLEAR, r"^(?:final )?decision\s*:|\bwe(?:'ve| have)?(?: all| finally)? (?:decided|agreed|settled on|chose|picked|voted)\b|\bwe(?:'ll| will| are going to|'re going to| should just)? (?:go with|stick with|switch to|are (?:moving|switching)|settle on)\b|\blet's (?:use|go with|stick with|switch to|settle on)\b|\b(?:it's|it is|that's) (?:settled|decided|agreed|final)\b|\bagreed\s*:", r"\?$|\bif\b"),
    Cue(Kind.DECISION, Strength.CLEAR, r"\b(?:release|launch|meeting|deadline|date|window|call|appointment|demo|trip|party|flight|review|deploy\w*|interview|class|event|default|budget|plan|version)\b[^.?]{0,40}\b(?:moves?|moved|is moved|changes?|changed|goes|shifts?|is postponed|postponed|rescheduled|is now|brought forward) (?:to|on|at|until|from|\d)|\bwe(?:'re| are) (?:moving|switching|migrating) (?:\w+ ){0,5}(?:from|to)\b|\b(?:no longer support|we drop(?:ped)? support)"),
    Cue(Kind.DECISION, Strength.CLEAR, r"(?:我们|大家|团队|咱们|公司|领导|会上|最后|最终|一致)[^，。]{0,6}(?:决定|商定|约定|说好|选定|同意)(?!了吗)|^决定[：:是不了把用先在由]?|(?:先|就|暂)?定在(?!于)|(?:就|先)定\s?(?:为|成|了|在|\d)|默认(?:开|关|是|为|用)|先(?:给|对)[^，。]{1,16}(?:打开|开放|上线|灰度)|就用|就按|就这么(?:定|办)|敲定|拍板|(?:改|换|挪|推迟|延期?|提前)(?:到|至|成|为)(?!现在)|继续用|统一用|不再支持|口径[：:]|合并方式", r"还没|没有?决定|不知道|如果|要是|帮[我你]|吗$|改为自己|心态"),
    Cue(Kind.DECISION, Strength.FAINT, r"\bI(?:'ve| have)?(?: finally)? (?:decided|chose|signed up|made up my mind)\b", r"\bif\b"),
    Cue(Kind.DECISION, Strength.FAINT, r"我(?:已经|最后|最终|还是|终于)?(?:决定|下定决心|打定主意)(?!不了)", r"还没|不知道|如果|要是|吗$|做出?决定"),

    Cue(Kind.CONSTRAINT, Strength.CLEAR, r"^(?:please )?(?:never|don't ever|do not ever|no more) (?!mind|give up|forget|stop|too late|lose|doubt|say never|be |let )|\b(?:we|nobody|no one|everyone|everybody|you all|the team|they) (?:must|never|may not|have to|has to|can only|may only|is allowed|are not allowed)\b|\b(?:not|no longer|never|isn't|aren't) (?:allowed|permitted)\b|\b(?:is|are) (?:forbidden|prohibited|mandatory|off limits)\b|\b(?:at most|no more than|no later than|not before|at least) \d|\bonly [\w, ]{2,30} (?:may|can|is allowed|are allowed)\b|^only (?:after|with|on|if)\b|\bhard (?:limit|requirement)\b|\bmust (?:not|never|always) \w+|\bmust be \w+ed\b|^no (?!one|problem|worries|idea|way|doubt|matter|need|thanks?|pressure|rush|wonder|longer)\w+ (?:on|before|after|without|during|in)\b", r"\bfelt?\b|\b(?:you|it|that|this) must\b|\bmust be (?:\w+ )?(?:excited|tired|amazed|thrilled|relieved|worried|pleased|scared)\b|\bgive up|\bproud\b|\bonly \d+ (?:days|weeks)|\bcan only (?:imagine|hope)\b|\bhave to (?:say|admit|agree)\b|(?<!must )\b(?:never|always) (?:been|be|had|seen|thought|knew|a dull|there|have|help|make|give|remember)\b|\bus\b"),
    Cue(Kind.CONSTRAINT, Strength.CLEAR, r"必须|不许|不得(?!不|了|已)|严禁|禁止|一律|(?<!说)(?<!拿)不准(?!备|确)|不允许|只有[^，。]{1,16}(?:能|可以|才)(?!够)|谁都别|谁也别|任何[^，。]{1,12}都(?:要|得|走|不能|不可)|最多(?:不能?)?超过|不能超过|不得超过|(?:超过|低于)[^，。]{1,12}(?:要|需|得|就)", r"必须(?:说|承认)|我(?!们)[^，。]{0,3}(?:必须|只能)|只能说|你|觉得|感觉"),
    Cue(Kind.CONSTRAINT, Strength.CLEAR, r"^(?:please )?(?:don't|do not) (?!worry|quit|miss|stress|hold back|sweat|beat |rush|hurry|be |hesitate|forget|give|get me wrong|know|you|think|ask|even|have|need|want|let|stop|like|see|feel|mention)\w+", r"\bif you (?:want|like)\b"),
    Cue(Kind.CONSTRAINT, Strength.CLEAR, r"(?:^|[，,])(?:请|大家)?(?:别(?:再|直接|在|往|夹|用|给|选)|不要(?:再|直接|在|往|叫|用|给我|把)|不能(?:直接|在|用|改|超|再))", r"别(?:再)?(?:担心|客气|着急|难过|说)|觉得|感觉|吗$"),

    Cue(Kind.PREFERENCE, Strength.CLEAR, rf"\bI(?:'m| am| do)? (?:not )?{_ADV}(?:prefer|like|love|enjoy|adore|hate|dislike|can't stand|avoid|allergic|fond of|into (?!it|that|this)|a (?:big |huge )?fan of|don't (?:like|eat|drink|enjoy|want)|don't do)\b|\bmy (?:all-time )?fav(?:ou?rites?|e)?\b[^.?!]{{1,60}}\b(?:is|are|was|has)\b|\b(?:is|are|'s) my (?:all-time )?fav(?:ou?rites?|e)\b|\ballergic to\b|\bI'd rather\b|\b(?:ping|call|text|email|write) me\b[^.?!]{{3,}}", rf"{_OF_YOU}|{_POINTER}|\bI(?:'d| would) (?:like|love)\b|\bfan of (?:it|that|this|them)\b"),
    Cue(Kind.PREFERENCE, Strength.CLEAR, rf"(?:^|[，,])(?:我|本人|自己)[^，,。]{{0,8}}{_LIKES}|(?:^|[，,])(?:最|比较|特别|非常|还|也|平时|一直|很|更)*(?:喜欢|爱吃|爱喝|讨厌|不吃|不喝|偏好)|对[^，。]{{1,8}}(?:过敏|不耐受)|我最(?:喜欢|爱)的[^，。]{{1,12}}是|我(?:更愿意|宁愿|宁可)|我的(?:兴趣|爱好|偏好|习惯)[^，。]{{0,6}}(?:是|有|包括|就是)", r"喜欢的话|[他她]喜欢|会尽情|[你您](?:最|也|平时|比较|还)?喜欢|喜欢[你您它他她]|喜欢[这那]|不习惯|很?喜欢和你|如果|[你您]的|习惯了|喜欢吗|聊聊|推荐|好习惯|的习惯|养成"),
    Cue(Kind.PREFERENCE, Strength.CLEAR, DISAGREES, r"\b(?:totally|can't) (?:agree|disagree)\b|不同意见"),
    Cue(Kind.PREFERENCE, Strength.CLEAR, r"(?:可以|不要|别|才能|随时|再)\s*(?:@|找|打给|联系|打扰)\s*我|改主意", r"吗$|如果|没事|[你您]"),
    Cue(Kind.PREFERENCE, Strength.FAINT, rf"(?<!everyone )(?<!all )(?<!people )\bwe {_ADV}(?:prefer|like|love|enjoy|hate)\b", rf"{_OF_YOU}|{_POINTER}"),

    Cue(Kind.IDENTITY, Strength.CLEAR, r"\bmy name(?:'s| is)\b|^(?:please )?call me (?!back|when|if|at|on|later|crazy|old)\b|\bI(?:'m| am) (?:an?|the) (?!bit|little|lot|mess|mix|fan|huge|big|sucker|believer|firm|complete|total|hundred|few|bad|good|same|only|one|first|kind|part|step|while|true|great|proud|happy)[\w-]+|\bI (?:work|worked|teach) (?:as|at|for)\b|\bI (?:work|teach) (?:in|with)\b|\bI (?:live|grew up|was born|was raised) (?:in|on|at|near)\b|\bI(?:'m| am) (?:from|based in|originally from|married|single|divorced|retired|vegan|vegetarian|transgender|trans|gay|pregnant|in charge of|responsible for|\d\d)\b|\bmy (?:birthday|job|wife|husband|son|daughter|home country|hometown|phone|time ?zone|team|role|dog|cat|partner)(?: is| are|'s (?=an?\b|name\b|called\b|in\b|from\b|\d))(?! (?:so|really|very|amazing|awesome|great|my|the best))|\bI (?:run|own|manage|lead) (?:the|a|an|my)\b|\bI do (?-i:[A-Z])\w+", rf"{_OF_YOU}|\bwhen I\b|\bif I\b"),
    Cue(Kind.IDENTITY, Strength.CLEAR, r"我的名字(?:是|叫)|(?:^|[，,])我(?:姓|叫)(?!你|做|他|她|了|你们|它)|(?:^|[，,])(?:可以|请|你可以|就)?叫我(?!的)|(?:^|[，,])我是(?:一[名个位]|做|搞|学|个|负责|来自|新来)|我(?:住在?|来自|出生[于在]|毕业于)|是我的生日|我的(?:生日(?=[是在])|职业|专业|老家|家乡|电话|邮箱|工作是)|(?:^|[，,])我在[^，。]{1,14}(?:工作|上班|读书|上学|任职|做)(?=$|[，,的])|我今年[^，。]{1,6}岁|归我(?:管|负责)?|(?:^|[，,])我(?:主要)?负责", r"一个[^，。]{0,8}(?:问题|建议|想法|好主意|惊喜|挑战)|我是不是|一个人|比较|如果|感觉|觉得|一个更"),
    Cue(Kind.IDENTITY, Strength.FAINT, r"我(?:是一个|是个|性格|这个人|一直是)", r"问题|建议|想法|一个人[去来走在]"),

    Cue(Kind.OPEN_LOOP, Strength.CLEAR, r"\b(?:todo|to-do|action item|open item|my item)\b\s*:|^(?:todo|to-do)\b|\b(?:waiting (?:for|on)|blocked (?:by|on)|pending)\b [^.?]{4,}|(?<!always )(?<!they )(?<!it )(?<!to )(?<!and )(?<!that )\bremind me (?:about|to|on|at|when)\b|\bstill open\b", r"\bcan't wait|\bwaiting for (?:this|that|it|so long)\b|\bfor you\b|\bwaiting for me\b"),
    Cue(Kind.OPEN_LOOP, Strength.CLEAR, r"\b(?:we|let's|we'll) (?:talk|discuss|decide|revisit|come back)\b[^.?]{3,60}\b(?:after|later|next|once|on \w+day)\b|[^，。]{2,12}(?:以后|之后|下周|回头)再(?:谈|讨论|决定|议)", r"\byou\b|[你您]"),
    Cue(Kind.OPEN_LOOP, Strength.CLEAR, r"待办|TODO|提醒我|(?:由)?(?!我)\w{1,4}来(?:写|跟|处理|负责|续|做|改)(?=[，,。]|$)|等[^，。]{2,12}(?:回复|确认|审核|批复)"),
    Cue(Kind.OPEN_LOOP, Strength.CLEAR, rf"\b(?:I'll|I will|we'll|we will|I need|I submit|I'm taking|I take|needs? to|has to|takes over|is due|due)\b[^.?]{{2,60}}\b(?:by|before|until|on|due) (?:the )?{_WHEN_EN}", rf"{_OF_YOU}"),
    Cue(Kind.OPEN_LOOP, Strength.CLEAR, rf"(?:之前|以前|前|后天|明天|{WEEKDAY_ZH}|下午|月底|到期)" r"[^。]{0,16}(?:写好|完成|交付|交稿|给出|换完|调好|搞定|提交|要能|能跑|写完|上线|发布|发给|测完|测试)|(?:我|我来|由我)[^，。]{0,10}(?:写|续|换|调|接|测|交|提交|跟进)[^，。]{0,10}(?:之前|前)", r"[你您]|了$|已经|好久|以前|想"),
    Cue(Kind.OPEN_LOOP, Strength.FAINT, rf"\b(?:I'm|I am|we're|we are) (?:going|gonna|planning|hoping|flying|moving|taking|having|getting|starting)\b[^.?]{{2,80}}\b(?:this|next|tomorrow|on|in) (?:week|weekend|month|year|summer|winter|spring|fall|{_WHEN_EN}|january|february|march|april|may|june|july|august|september|october|november|december)", rf"{_OF_YOU}"),
    Cue(Kind.OPEN_LOOP, Strength.FAINT, r"我(?:计划|打算|准备|要)[^，。]{0,8}(?:下周|下个月|明年|明天|后天|周末|月底|暑假|国庆|春节)", r"[你您]"),

    # A correction: what follows is what somebody cared enough about to put right.
    Cue(Kind.FACT, Strength.CLEAR, r"^(?:no, |correction\s*:|that's (?:wrong|not right)|not quite,|不对[，,]|不是[，,]|更正|纠正一下)"),
    Cue(Kind.FACT, Strength.FAINT, r"(?:https?://\S+|\b[\w.-]+/[\w./-]*\w\.\w{1,5}\b|\b(?:release|feature|fix|hotfix)/[\w.-]+)", r"\bnow\b|\blooking at\b|现在看|正在看"),
    Cue(Kind.FACT, Strength.FAINT, r"\bmy (?:mom|mum|mother|dad|father|grandma|grandmother|grandpa|sister|brother|kids?|children|family|parents)(?:'s| is| are| have| has| gave| live) (?!so |really |very |been |the best|my |amazing|great|awesome)[^.?]{6,}|\bI(?:'ve| have) (?:known|had|lived|worked|been married|owned)\b[^.?]{4,}|\bI(?:'ve| have) (?:got )?(?:two|three|four|five|\d+|a) (?:kids|children|sons?|daughters?|dogs?|cats?|siblings?|brothers?|sisters?)|\b(?:years|months) ago\b", rf"{_OF_YOU}"),
    Cue(Kind.FACT, Strength.FAINT, r"我(?:的)?(?:妈妈?|爸爸?|父亲|母亲|妻子|老婆|老公|丈夫|儿子|女儿|孩子|哥哥|姐姐|弟弟|妹妹|家人|父母|女朋友|男朋友)[^，。]{0,4}(?:是|在|有|住|今年|喜欢|叫)|我(?:有|养了?)[一两二三四五六]?[个只位条名](?:孩子|儿子|女儿|猫|狗|哥哥|姐姐|弟弟|妹妹)|我(?:家|公司|单位)(?:在|住|是)", r"[你您]"),

    Cue(Kind.ONGOING, Strength.FAINT, r"\b(?:I'm|I am|we're|we are|I've been|we've been)(?: also| still| now| currently| actually| just| really)? (?:working on|building|preparing|planning|learning|studying|training|writing|looking (?:for|into)|researching|moving|migrating|applying|saving|volunteering|taking (?:a |an )?\w+ (?:class|course)|teaching|organi[sz]ing|restoring|reading|practi[sc]ing)\b|\bI(?:'ve| have)? (?:just )?(?:started|joined|enrolled|signed up)\b(?! (?:to (?:feel|think|realize)|it))", rf"{_OF_YOU}|\bit\b$"),
    Cue(Kind.ONGOING, Strength.FAINT, r"(?:我|^|[，,])(?:们)?(?:最近|正在|目前|现在|这段时间|这几天)(?:我|我们)?(?:一直|还|也)?(?:正?在)?(?:学习?|练习?|做|准备|写|研究|找工作|筹备|开发|计划|负责|参加|看一本|读|收藏|尝试|培养|装修|备考|申请|减肥|健身)|我(?:刚|刚刚|开始|报名|加入)(?:开始|报名|加入|学|参加)", r"[你您]|怎么|什么"),
)  # fmt: skip

# People who only imagine, wish or pass on have not said how things are.
_IMAGINED = r"^(?:if|maybe|perhaps|what if|wish|imagine|suppose|i wish|i hope|would it|might)\b|\b(?:i wonder|would be (?:nice|great|cool))\b|^(?:如果|要是|假如|假设|也许|可能|或许|希望|但愿|会不会|要不)|(?:听说|据说)|(?:就好了|怎么样)$"

DONE = r"\b(?:is|are|was|were|it's|all|now)?\s*(?<!have )(?<!'ve )(?:done|finished|completed|fixed|resolved|shipped|submitted|approved|released|merged|delivered)\b|(?:写|做|换|调|跑|改|修|交|测|弄|搞|配|处理|准备)(?:好|完|定)了|(?:已经?|都)(?:上线|完成|修复|解决|作废|交付)|完成了|搞定|通过了|交付了"
CHANGED = r"\b(?:moves?|moved|changes?|changed|switch(?:ed|ing)?|instead|no longer|now|rather than|postponed|rescheduled|not .{1,20} but|updated?|brought forward)\b|改[到至成为用了主]|换[成到了]|挪[到至]|推迟|延[期后]|提前|不再|不用|更新|变成|升[到级]|调[到成]|改主意"
FAILED = r"\b(?:error|exception|crash(?:es|ed)?|fail(?:s|ed|ure|ing)?|broken|reject(?:ed|s)?|timeout|timed out|bug|outage|(?:is|are|was|were|went|goes) down|wrong|blocked|regression)\b|报错|失败|崩溃|异常|出错|故障|超时|不对|错了|拒绝|撞上|锁(?:全)?表|告警"
WANTED = r"\b(?:i|we) (?:want|need|would like|'d like|am trying|are trying|plan|hope)\b|\b(?:can|could) (?:you|we)\b|\bplease\b|\bhelp me\b|\blooking for\b|我们?(?:想|需要|希望|打算|计划)|帮[我忙]|(?:^|[，,])请(?![假半了客一])|能不能|可以.*吗|麻烦|怎么|如何"
CONFIRMS = r"^(?:yes|yep|yeah|exactly|correct|right|confirmed|agreed|that's right|perfect|do that|sounds good|对|对的|没错|是的|就这样|就这么办|同意|可以|确认)(?:[,，.。!！ ]|$)"


@dataclass(frozen=True, slots=True)
class Hit:
    """What a sentence is by its phrases, how sure that is, and where in it the phrase begins."""

    kind: Kind
    strength: Strength
    start: int
    life: bool = False  # no phrase of these tables, but somebody tells of their life


def hit(text: str) -> Hit | None:
    """What decides about a sentence; words in quotes are others' and decide nothing."""
    masked = masked_quotes(text)
    if found(_IMAGINED, masked):
        return None
    fits = _of_phrases(masked)
    # A faint phrase in a sentence that tells of a life is judged by what is told.
    if fits and fits.strength > Strength.FAINT:
        return fits
    told = life.told(masked)
    if told is None:
        return fits
    kind, start, sure = told
    return Hit(kind, Strength.CLEAR if sure else Strength.FAINT, start, life=True)


def _of_phrases(masked: str) -> Hit | None:
    asked = next(_fitting(_EXPLICIT, masked), None)
    plain = next(_fitting(_CUES, masked), None)
    if asked is None:
        return plain
    if found(_NEXT_TIME, masked):
        return replace(asked, kind=Kind.LESSON)
    kind = plain.kind if plain and plain.strength > Strength.FAINT else _asked_kind(masked)
    return Hit(kind, Strength.ASKED, min(asked.start, plain.start if plain else asked.start))


def kinds(text: str) -> dict[Kind, int]:
    """Every kind a text shows a sure cue of, and where it begins."""
    fits = _fitting(_CUES, masked_quotes(text))
    sure = [fit for fit in fits if fit.strength > Strength.FAINT]
    return {fit.kind: fit.start for fit in reversed(sure)}


def without_asking(text: str) -> str:
    """The text without the phrase that only asks to remember it."""
    for phrase in (_ASKING_EN, _ASKING_ZH):
        text = without(phrase, text, "").strip(" ,，:：。.;；、-")
    return text


def without_label(text: str) -> str:
    """The text without the phrase that asks for it, or says what kind of thing follows."""
    return without(_LABEL, without_asking(text), "").strip(" ,，:：")


def masked_quotes(text: str) -> str:
    """The text with dots for what stands in quotes; lengths stay."""
    return _QUOTED.sub(lambda quoted: "·" * len(quoted[0]), text)


_NEXT_TIME = r"\bfor next time\b|下次"
_QUOTED = re.compile(r"「[^」]*」|『[^』]*』|“[^”]*”|\"[^\"]*\"|《[^》]*》")
_LABEL = r"^(?:final )?(?:decision|lesson(?: learn(?:ed|t))?|agreed|todo|correction|no|that's wrong)\s*[:,]|^(?:不对|不是|更正|决定|教训|待办)[，,：:]"
_ASKING_EN = r"^(?:please |pls |and |also )*(?:remember|note|keep in mind|don't forget|make a note)(?: that| this| of this)?(?: for next time)?\b\s*[:,]?|\b(?:and )?(?:please )?(?:for the record|from now on|going forward|for future reference)\b\s*[:,]?"
_ASKING_ZH = r"(?:请|帮我|麻烦)?(?:记住|记一下|记下来?)(?:这[条点个]|一点)?(?:[，,：:、。]|$)|这条(?:请)?记住|(?:请)?(?:别忘了|不要忘记)[，,：:]|教训记住[：:，]?|再加一条[，,：:]|提醒我[，,：:]"


def _fitting(cues: tuple[Cue, ...], text: str) -> Iterator[Hit]:
    for cue in cues:
        match = found(cue.phrase, text)
        if match and not (cue.unless and found(cue.unless, text)):
            yield Hit(cue.kind, cue.strength, match.start())


def _asked_kind(text: str) -> Kind:
    """How to deal with somebody is a preference, all else that should be remembered a fact."""
    manner = r"\b(?:from now on|going forward|please|when you|always|never)\b|以后|今后|从现在起|从今天起|请|别|不要"
    return Kind.PREFERENCE if found(manner, text) else Kind.FACT
