"""What people tell of their own lives: who did, has or plans something that one could still look up next month."""

from __future__ import annotations

import re

from pipimem.notes.kinds import Kind
from pipimem.sidecar.offline.phrases import found
from pipimem.sidecar.offline.sentences import is_chinese
from pipimem.text.han import HAN
from pipimem.text.stopwords import STOP_WORDS
from pipimem.text.weekdays import WEEKDAY_EN

_ADV = (
    r"(?:(?:just|also|recently|finally|actually|even|already|currently|still|always|really|now|once|first|never|both|usually"
    r"|often|sometimes|mostly|regularly|originally|lately|only|definitely|probably|totally|personally|too|ever|all) )*"
)
_KIN = (
    r"mom|mum|mother|dad|father|parents?|grandma|grandmother|grandpa|grandfather|grandparents|sisters?|brothers?|siblings?"
    r"|twins?|sons?|daughters?|kids?|child(?:ren)?|husband|wife|partner|girlfriend|boyfriend|fianc[eé]e?|cousins?|aunt|uncle"
    r"|nephews?|nieces?|famil(?:y|ies)|baby|in-laws?|roommates?|dogs?|cats?|pup(?:py|pies|s)?|kitten|turtles?|pets?|guinea pig|horse"
)
_OWN = (
    rf"{_KIN}|boss|team|coach|school|company|business|store|shop|studio|house|home|apartment|car|garden|job|degree|thesis"
    r"|career|hobby|hobbies|dream|goal|birthday|hometown|home country|book|novel|script|screenplay|blog|channel|show|band|album"
    r"|paintings?|collection|campaign|petition|startup|project|tattoo|necklace|guitar|piano|violin|doctor|diet|allerg\w+|condition|exam"
)
# Somebody did something that can be told in one sentence.
_DID = (
    r"adopted|bought|sold|moved|visited|joined|attended|volunteered|donated|hosted|organi[sz]ed|graduated|retired|opened|launched"
    r"|published|submitted|finished|completed|painted|wrote|recorded|performed|competed|participated|won|lost|quit|hired|applied"
    r"|interviewed|auditioned|enrolled|signed|teamed up|partnered|collaborated|celebrated|travell?ed|flew|hiked|camped|biked|ran|met"
    r"|started|began|married|proposed|divorced|transitioned|planted|baked|cooked|built|restored|renovated|repaired|fixed|designed"
    r"|dyed|broke|injured|hurt|sprained|crashed|received|earned|passed|failed|discovered|found|tried|learned|learnt|taught|presented"
    r"|spoke|gave|threw|held|beat|scored|saw|watched|read|took|went|got|made|had|created|ordered|booked|reconnected|grew up|used to"
    r"|became|picked up|dropped|left|lived|worked|played|studied|collected|spent|invited|helped|set up|drew|sang|known|been|taken"
    r"|gone|written|seen|won|given|chosen|chose|begun|run"
)
# What goes on only in the head, or is no doing at all.
_MULLING = (
    r"(?:feeling|wondering|being|loving|enjoying|wishing|dying|kidding|joking|crossing|rooting|cheering|glowing|smiling|talking|saying|telling|asking"
    r"|guessing|sending|letting|waiting|wanting|needing|having|beaming|sorry|sharing|keeping|leaning|counting)\b"
)
_HABIT = (
    r"work|live|study|teach|play|run|coach|collect|volunteer|speak|write|paint|draw|train|own|sing|dance|cook|bake|garden|hike"
    r"|swim|usually \w+|often \w+|always \w+|go|take|watch|do|make"
)
# Feelings and opinions in the past tense are no deeds.
_FELT = (
    r"(?:loved|liked|hoped|wanted|needed|agreed|noticed|reali[sz]ed|appreciated|believed|figured|wondered|guessed|hated|admired|missed"
    r"|enjoyed|worried|cared|seemed|looked|remembered|wished|supposed|mentioned|laughed|cried|smiled)\b"
)
_SELF = r"(?:I|we|my (?:family|husband|wife|partner|friends?|kids) and I)"
_EVENT_EN = (
    rf"\b{_SELF}(?:'ve| have|'d| had)? ?{_ADV}(?:{_DID}|(?!{_FELT})\w{{3,}}ed)\b"
    r"|\b(?:I|we) (?:was|were|got|have been|'ve been) (?!(?:so|really|very)\b)(?!excited|amazed|impressed|inspired|scared|worried|surprised|relieved|stressed|tired|moved|blown)\w{3,}(?:ed|en) (?:by|to|into|as|for|from|at|in)\b"
    r"|\b(?:mom|mum|dad|mother|father|parents|friend|boss|coach|brother|sister|husband|wife)(?:\s\w+)? (?:\w{3,}ed|gave|taught|bought|got|took|made|told|brought|sent) me\b"
    r"|\b(?:I|we)(?:'m|'re| am| are| was| were) (?:so |really |super )?(?:lucky|fortunate|able|chosen|invited|selected|accepted|hired|promoted)(?: enough)? to \w+"
)
_DOING_EN = rf"\b(?:I|we)(?:'m|'re| am| are| was| were|'ve been| have been) {_ADV}(?:busy )?(?!{_MULLING})\w{{2,}}ing\b"
_STATE_EN = (
    rf"\b(?:I|we) {_ADV}(?:{_HABIT})\b|\bI(?:'ve| have) (?:got )?(?:an?|two|three|four|five|six|\d+|some|many|no|my|the)\b"
    r"|\bI(?:'m| am| was) (?:not )?(?:really |so |super |quite )?(?:in|on|at|from|keen|into|interested|allergic|scared|afraid|passionate|good|busy)\b"
    r"|\bI (?:really |also |do )*(?:like|love|enjoy|hate) (?:to \w+|\w+ing)\b|\b(?:gift|present) from my\b|\bmy \w+ing (?:is|has)\b"
    rf"|\b(?:lucky|blessed|fortunate) to have my (?:[\w-]+ )?(?:{_KIN})\b"
    rf"|\b(?:my|our) (?:[\w-]+ ){{0,2}}(?:{_OWN})\b(?: and I)?(?:'s| is| are| was| were| has| have| had| lives?| works?| loves?| likes?| made| gave| got| just"
    r"| came| went| passed| started| wants?| goes| plays?| \w{3,}ed)\b"
    rf"|\b(?:is|was|are|were) (?:[\w-]+ ){{0,2}}my (?:[\w-]+ )?(?:{_OWN}|favou?rite \w+)\b"
)
_PLAN_EN = (
    rf"\b(?:I|we)(?:'m|'re| am| are| was| were|'ve been| have been)? ?{_ADV}(?:going to|planning|thinking (?:of|about)|hoping|looking (?:into|for)"
    r"|trying to|aiming|saving|about to|getting ready|preparing|excited to|(?:want|wanna|plan|hope|intend|need|aim) to|(?:have|has) to)\b"
    r"|\bI(?:'ll| will) (?!never|always|keep|be (?:there|here|sure)|do my|definitely|make sure|let|try my)\w+"
    r"|\bmy (?:goal|dream|plan|aim) is\b"
)
# Who only reacts, thanks or agrees has told nothing; a clause that speaks to "you" is for the moment.
_ASIDE_EN = (
    r"\b(?:you|your|yours|yourself|y'all|ya|us both)(?:'\w+)?\b|^(?:thanks?|thank|so (?:proud|happy|glad|excited|cool|sweet)|can't wait|check|look at|wow"
    r"|(?:and |but |which |so )?(?:it|that|this|they|which)(?:'s| is| was| were|'re| are| has been| really| felt| feels| made| makes| gave| means?| helps?)\b"
    r"|here(?:'s| is| are)|(?:I'm |I am |still )?(?:looking|working|checking|testing)\b.*\bnow$|wish me|fingers crossed|(?:come|let|keep|try|go|take|tell|don't|stay|send|imagine|count)\b|I (?:heard|hear)\b|I (?:know|think|guess|bet|mean|hear|see|agree|understand|appreciate|believe|feel|felt|love|loved)\b(?! (?:to|the \w+ and)))"
)
_REACTS_EN = (
    r"^(?:I|we)(?:'m|'re| am| are)? ?(?:so |really |totally |also |completely )*(?:glad|happy|proud|sorry|excited for|stoked|agree|see|hear|bet|guess"
    r"|appreciate|understand|hope|thought|think|feel|felt|know|wish|can|could|would|should|admire|believe|remember|mean)\b"
    r"|\bI(?:'ve| have)? got (?:it|this)\b|\blet me\b|\bmake a (?:real |big |positive )?difference\b|\bkeep (?:going|pushing|working|it)\b|\bdo my best\b"
    r"|\bI(?:'d| would) love to (?:hear|see|know)\b|\bgo for it\b|\btogether\b$|\bhad to\b.{0,12}$|\b(?:hear|heard) (?:about|that)\b"
)
_DANGLES_EN = re.compile(r"\b(?:it|them|that|this|these|those|him|her|there|one|some)\W*$", re.IGNORECASE)
# Words that everybody uses of everything: a sentence made of them says nothing one could look up.
_GENERAL = """
journey difference support love loved amazing awesome great thing things life lives lot lots time times way ways day days people
world dream dreams passion passionate goal goals hope hoping joy happiness happy inspiration inspiring inspired encouragement kind words make makes
making made feel feels feeling feelings felt help helps helped helping helpful positive positivity step steps moment moments memory memories
experience experiences fun good nice bit stuff keep keeps keeping going real really super pretty cool beautiful gorgeous wonderful
incredible fantastic perfect special important know think believe see hear want wants wanted need needs try trying work hard best better
much many share shared sharing strength courage motivation motivated motivating motivates energy impact change changes start started
starting new big little able lucky blessed thankful grateful thanks excited exciting proud glad sure definitely totally absolutely always
never ever today lately recently finally actually just still yet even also back together everyone everything something anything nothing
gonna get gets getting got take taking took taken come came look looks looking find found finding show shows give gives gave given
reminder reminds remind challenge challenges challenging tough true truth part place idea ideas kinda guys guy reward rewarding
enjoy enjoyed enjoying appreciate appreciated bring brings brought connect connection connections express expressing self future past
progress success successful growth grow growing learn learned learning understanding everyday heart mind busy crazy chat chatted talk
doing done did had has have been being went gone day's life's there's it's that's what's i'm i've we've they're year's one two first last
happen happened happening happens meet met next week month ago yesterday tomorrow since while when where then than now already long well like likes more most less least less sort kinda
"""
_GENERAL_EN = frozenset(_GENERAL.split())
_EXACT_EN = (
    r"\d|\"[^\"]+\"|\b(?:yesterday|tomorrow|tonight|ago|last (?:week|weekend|month|year|night|summer|winter|spring|fall|\w+day)|next (?:week|weekend|month|year|\w+day)"
    rf"|{WEEKDAY_EN}|(?:two|three|four|five|six|seven|eight|nine|ten) (?:years|months|weeks|days|kids|children|sons|daughters|dogs|cats|siblings|times))\b"
)
_NAMED_EN = r"(?<=[a-z,'] )(?!I\b|I')[A-Z][\w'-]+"

_WHEN_ZH = r"(?:今天|昨天|昨晚|前天|今早|上周\S?|上个?月|周末|最近|近来|这几天|这段时间|刚刚|刚才|早上|上午|中午|下午|晚上|去年|前几天|前段时间|这次|目前|现在)"
_FILL_ZH = r"[^，。！？你您]{0,8}?"
_DONE_ZH = (
    r"去了|去过|去(?=[^，。]{1,10}了)|看了|看完|看到了?|买了|做了|学了|学会|学到|参加了|参观|吃了|尝试了|收到|发现了?|认识|遇到|碰到|拍了|拍摄|画了|写了|读了|读完|听了|搬|换了|辞职"
    r"|毕业|结婚|通过|获得|得了|失去|分手|生病|受伤|报名|加入|开始|组了|养了|品尝|完成|跑了|爬|打了|种了|办了|订了|考"
)
_EVENT_ZH = (
    rf"{_WHEN_ZH}{_FILL_ZH}(?:{_DONE_ZH})|(?:^|[，,])我(?:们)?{_FILL_ZH}(?:{_DONE_ZH})"
    r"|我(?:的)?(?:公司|工作|单位|项目|老板|同事|家里|家人|孩子|儿子|女儿|父母|妈妈|爸爸|朋友|女朋友|男朋友)[^，。你您]{0,12}(?:了|出现|去世|生病|住院)"
    r"|公司[^，。]{0,4}出了"
)
_DOING_ZH = (
    rf"(?:{_WHEN_ZH}我?|我{_WHEN_ZH}?)[^，。！？你您]{{0,4}}?(?:一直|正)?在(?:学|练|做|写|创作|读|看|追|准备|筹备|寻找|找工作|考虑|思考|研究|尝试|备考|装修|减肥|健身|规律|培养|收藏|忙|努力)"
    r"|已经开始[^，。]{0,8}(?:准备|学习|练习|计划)|(?:正在|在)创作|每[天周][^，。]{0,6}(?:都会|都|会)|规律作息|瑜伽课|健身计划"
)
_STATE_ZH = (
    r"我的(?:性格|工作|公司|专业|家|爱好|梦想|目标|老师|老板|朋友|男朋友|女朋友|生日|计划)[^，。]{0,6}(?:很|比较|有点|是|在|都|不)|我(?:性格|工作)(?:很|比较|有点)"
    r"|我(?:平时|通常|一般|从小|经常|常常)[^，。你您]{2,}|业余爱好|(?:享受|去享受)我的生日|我(?:有|养着?)(?:一|两|二|三|四|五|\d)"
)
_PLAN_ZH = r"(?:我|^|[，,])(?:最近|下周\S?|周末|今天|明天|后天|下个月|暑假|晚上|今年)?(?:还|也)?(?:计划|打算|准备(?!工作)|决定|想要?|希望能?)[^，。你您]{0,3}?(?:去|在|学|买|做|写|读|看|参加|攀|爬|换|考|找|开|报|养|搬|申请|提高|塑造|增强|养成|重新|刷|尝试|寻找)"
_TROUBLE_ZH = (
    r"我?(?:最近|今天|总是|总|经常|一直)[^，。你您]{0,8}(?:感觉|感到|觉得|很忙|疲劳|疲惫|迷茫|困惑|失眠|烧焦|焦虑|孤独|压力)|对[^，。你您]{2,14}感到[很]?(?:困惑|迷茫|焦虑|担心)"
    r"|我[^，。你您]{0,6}(?:遇到|碰到)[^，。你您]{0,10}(?:问题|困难|瓶颈|障碍)"
)
_ASIDE_ZH = (
    r"[你您]|^(?:谢谢|感谢|很高兴|太棒|非常(?:好|棒|有趣|感谢)|好的|希望我们|想[跟和]|有(?:没有|什么)|不知道(?:该|怎么|有)|怎么办|请|那(?:也|真|就|可)?(?:很|太|真)?[好棒不是]"
    r"|天气|今天(?:的)?天气|听起来|看来)|现在我?(?:要|得|必须)去|准备去吃|^今天是|会(?:考虑|参考)|再聊|再见|晚安|休息了|先去|^(?:好的|嗯)?我?也?会(?:去|尝试|继续|努力|好好|认真|试|注意|记)|聊(?:聊|天|一聊|一下)|请教|建议|推荐$|分享"
)
_GENERAL_ZH = re.compile(
    r"出去|一圈|今天|昨天|最近|我们?|自己|感觉|觉得|非常|很|有点|比较|开心|快乐|高兴|舒服|美好|美丽|漂亮|努力|加油|心情|事情|东西|问题|一些|一个|一下|真的|特别|还是|就是|可以|能够|需要|时候|有趣|不错|过得|天气|今后|以后|继续|相信|喜欢|一直|经常|总是|总|真|好|了|的|在|是|也|都|和|去|到|过|会|想|要|不|有|得|地|让|更|最|但是?|虽然|因为|所以|而且|尝试着?|着|一种|这|那|些|种"
)
_HAN = re.compile(rf"[{HAN}]|[A-Za-z0-9]+")
_EXACT_ZH = r"\d|《[^》]+》|“[^”]+”|「[^」]+」|[A-Za-z]{2,}|公司|生日|结婚|毕业"

# So many of its words must be about something.
_LEAST_CONCRETE, _LEAST_WITH_EXACT, _SURELY_CONCRETE = 2, 1, 4
_LEAST_HAN, _SURELY_HAN = 3, 7
# "On Thursday last week I …" is still about "I"; "knowing I …", "the parade I …" are about something else.
_MOST_LEADING = 5
_LEADS_ASTRAY = re.compile(r"\w+ing$|(?:why|how|what|where|that|which|who|whatever|the|have)$", re.IGNORECASE)


def told(text: str) -> tuple[Kind, int, bool] | None:
    """The kind of what somebody tells of their life, where it begins, and whether it is surely worth keeping."""
    chinese = is_chinese(text)
    plain = without_asides(text)
    tables = _TABLES_ZH if chinese else _TABLES_EN
    if not chinese and found(_REACTS_EN, plain.strip()):
        return None
    for kind, source in tables:
        phrase = found(source, plain)
        if phrase and (chinese or not _far(plain, phrase.start())):
            weighed = _weighed(kind, phrase, plain, chinese=chinese)
            if weighed:
                return weighed
    return None


def _far(plain: str, at: int) -> bool:
    """Whether so much stands in front within the clause that the speaker is hardly its subject."""
    lead = _BREAK.split(plain[:at])[-1].split()
    return len(lead) > _MOST_LEADING or bool(lead and _LEADS_ASTRAY.match(lead[0]))


_TABLES_EN = (
    (Kind.ONGOING, _PLAN_EN),
    (Kind.ONGOING, _DOING_EN),
    (Kind.FACT, _EVENT_EN),
    (Kind.FACT, _STATE_EN),
)
_TABLES_ZH = (
    (Kind.ONGOING, _PLAN_ZH),
    (Kind.ONGOING, _DOING_ZH),
    (Kind.FACT, _EVENT_ZH),
    (Kind.FACT, _STATE_ZH),
    (Kind.ONGOING, _TROUBLE_ZH),
)


def _weighed(kind: Kind, phrase: re.Match[str], plain: str, *, chinese: bool) -> tuple[Kind, int, bool] | None:
    if chinese:
        exact, concrete = bool(found(_EXACT_ZH, plain)), len(_HAN.findall(_GENERAL_ZH.sub(" ", plain)))
        least = _LEAST_HAN
        sure = concrete >= (_LEAST_HAN + 1 if exact else _SURELY_HAN)
    else:
        if _DANGLES_EN.search(plain.strip()):
            return None
        exact = bool(found(_EXACT_EN, plain) or re.search(_NAMED_EN, plain))
        begin = max((end.end() for end in _BREAK.finditer(plain, 0, phrase.start())), default=0)
        concrete = _concrete(f"{plain[begin : phrase.start()]} {plain[phrase.end() :]}")
        least = _LEAST_WITH_EXACT if exact else _LEAST_CONCRETE
        sure = concrete >= (_LEAST_CONCRETE if exact else _SURELY_CONCRETE)
    if concrete < least:
        return None
    return kind, phrase.start(), sure


def _concrete(text: str) -> int:
    words = {word.casefold() for word in re.findall(r"[A-Za-z][\w'-]{2,}", text)}
    return len({word for word in words if word not in _GENERAL_EN and word not in STOP_WORDS})


def alone(text: str) -> str:
    """What is told, without asides and what is left hanging around them."""
    plain = " ".join(without_asides(text).split())
    plain = re.sub(r"(?:\s*[,;，；]|\s+[-–—]+(?=\s))+(?=\s*(?:[,;，；]|[-–—]\s|$))", "", plain)
    return re.sub(r"^[\s,;，；–—-]+|[\s,;，；–—-]+$", "", plain)


def without_asides(text: str) -> str:
    """The text with spaces for its clauses that thank, react or speak to somebody; lengths stay."""
    aside = _ASIDE_ZH if is_chinese(text) else _ASIDE_EN
    parts: list[str] = []
    position = 0
    for end in _BREAK.finditer(text):
        parts.append(_blanked(text[position : end.start()], aside))
        parts.append(end[0])
        position = end.end()
    parts.append(_blanked(text[position:], aside))
    return "".join(parts)


_BREAK = re.compile(
    r"[，；、](?!的)|[,;](?=\s)|\s[-–—]+\s|(?<=\w)[–—](?=\w)|\s(?=(?:and|but|so) (?:it|that|this|they|I|we|you)\b)"
)


def _blanked(clause: str, aside: str) -> str:
    return " " * len(clause) if found(aside, clause.strip()) else clause
