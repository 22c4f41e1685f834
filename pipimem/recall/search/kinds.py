"""Kinds and what belongs to them: who asks for pets means the dog; who asks for the dog means no other pet.

Written by hand for everyday talk in English and Chinese, from what things are called in general, not from any set of
questions. Words of one meaning are the thesaurus's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pipimem.text.stemming import Stemmer
from pipimem.text.words import GRAM

# Each line: a kind, and what is of that kind.
KINDS = """
pet: dog cat puppy kitten hamster rabbit turtle fish parrot bird guinea snake lizard
animal: dog cat horse bird bear deer fox wolf elephant lion tiger dolphin whale turtle penguin
instrument: guitar piano violin drum flute clarinet cello trumpet saxophone ukulele bass keyboard harp
music: song band album guitar piano jazz rock pop classical concert melody playlist
genre: fantasy mystery romance thriller horror comedy drama jazz rock pop classical
sport: football soccer basketball tennis baseball volleyball hockey golf rugby swim run surf ski boxing badminton
exercise: yoga run gym swim weightlift cardio pilates boxing workout cycle
martial: karate judo taekwondo kickboxing boxing kungfu jiujitsu aikido
outdoor: hike camp climb kayak fish bike surf ski trail mountain lake river beach park picnic
hobby: paint read cook bake garden knit photograph write dance game hike collect craft draw
activity: paint hike camp swim cook dance yoga game play museum picnic craft run volunteer
food: pizza pasta salad soup rice bread chicken beef sushi burger curry sandwich cheese noodle taco
dish: pasta soup salad curry stew pie roast lasagna risotto
dessert: cake cookie pie ice-cream chocolate brownie pudding cupcake tart cream
drink: coffee tea juice beer wine water smoothie soda cocktail
snack: chip popcorn cookie candy fruit nut chocolate
fruit: apple banana orange grape strawberry blueberry mango peach lemon cherry
vegetable: carrot tomato potato onion spinach broccoli pepper lettuce cabbage
relative: mother father brother sister son daughter aunt uncle cousin niece nephew grandma grandpa
family: mother father mom dad brother sister son daughter kid husband wife aunt uncle cousin
occupation: teacher nurse doctor engineer lawyer writer designer manager chef artist counselor accountant
job: teacher nurse doctor engineer lawyer writer designer manager chef counselor banker barista interview
career: job counselor engineer writer artist actor coach teacher
vehicle: car truck bike motorcycle bus van boat train
transport: car bus train bike flight subway
country: england france spain italy germany japan china canada mexico brazil india ireland sweden australia thailand
state: florida california texas washington oregon minnesota michigan indiana
city: london paris rome barcelona tokyo york seattle chicago boston toronto berlin
place: park beach museum cafe restaurant library lake forest mountain studio gym church
travel: trip flight hotel airport vacation europe tour
subject: math science history physics biology chemistry english economics
degree: bachelor master phd diploma certificate
field: psychology engineering medicine education law business counseling
art: painting drawing sculpture pottery canvas watercolor portrait mural photography
paint: canvas brush watercolor portrait landscape sunset sunrise
color: red blue green yellow purple pink orange black white brown
clothes: dress shirt jacket shoe hat jeans sweater coat scarf
furniture: table chair sofa couch bed desk shelf lamp
device: phone laptop tablet camera computer console
weather: rain snow sun storm wind cloud fog hot cold
disaster: flood fire earthquake hurricane storm tornado
season: spring summer fall autumn winter
month: january february march april june july august september october november december
event: party wedding concert festival conference parade workshop fundraiser race tournament meeting show fair
celebrate: birthday anniversary party wedding holiday christmas thanksgiving
holiday: christmas thanksgiving easter halloween
charity: donate fundraiser shelter volunteer homeless nonprofit
cause: charity fundraiser awareness homeless education environment
illness: flu cancer cold fever diabetes asthma allergy
condition: allergy asthma diabetes anxiety
injury: sprain ankle knee back wrist broken
feeling: happy sad excited nervous proud grateful anxious relief
emotion: happy sad excited nervous proud grateful anxious relief joy
personality: kind caring thoughtful honest funny shy brave patient generous
trait: kind caring thoughtful honest funny shy brave patient generous passionate determined
stress: yoga meditate walk breathe therapy dance run
relax: yoga read bath walk music meditate nature
religion: church god bible faith pray christian buddhist muslim
politics: mayor council campaign election vote office senator
business: store customer shop brand product market sell online marketing investor
marketing: ad social-media instagram tiktok campaign influencer advertising
social: instagram facebook twitter tiktok youtube
technology: phone computer app software robot ai
platform: youtube twitch instagram tiktok facebook
game: chess xbox playstation nintendo console zelda monopoly puzzle board
console: xbox playstation nintendo switch
movie: comedy drama thriller director actor scene cinema trilogy
book: novel author chapter fantasy series story bookstore library
author: rowling tolkien king austen
hike: trail mountain waterfall view summit
nature: forest lake mountain ocean river sunset trail waterfall
flower: rose tulip sunflower lily daisy
education: school college university degree class student
finance: budget invest loan savings stock
financial: money budget bill loan pay afford savings debt
health: diet exercise doctor checkup weight blood gym
therapy: counselor mental meditation
item: book shoe necklace photo painting toy card
collect: stamp coin jersey card sneaker memorabilia vinyl figurine
gift: necklace book watch flower ring toy card bouquet
award: medal trophy first prize certificate
kid: son daughter school playground toy
child: son daughter school playground toy
military: army navy veteran base
skill: learn practice code cook negotiate
language: english spanish french german chinese japanese italian
宠物: 狗 猫 小狗 小猫 兔子 乌龟 鱼 鸟 仓鼠
乐器: 吉他 钢琴 小提琴 鼓 笛子 古筝 二胡
音乐: 歌曲 歌手 摇滚 流行 民谣 爵士 古典 专辑 钢琴 吉他 交响曲 旋律
类型: 古典 流行 摇滚 民谣 爵士 科幻 喜剧 悬疑 爱情 动作 文艺
运动: 跑步 游泳 篮球 足球 羽毛球 乒乓球 网球 瑜伽 健身 骑行 徒步 登山
健身: 跑步 瑜伽 器械 有氧 力量 游泳 俯卧撑
户外: 徒步 登山 露营 爬山 野餐 骑行 钓鱼 公园
爱好: 看书 绘画 音乐 摄影 运动 旅行 游戏 烹饪
美食: 火锅 烧烤 面条 饺子 蛋糕 米饭 红烧肉 小吃
菜: 红烧肉 回锅肉 鱼 汤 豆腐 青菜 西红柿
饮料: 咖啡 茶 果汁 啤酒 奶茶
水果: 苹果 香蕉 橙子 葡萄 草莓 西瓜
家人: 爸爸 妈妈 父母 哥哥 姐姐 弟弟 妹妹 爷爷 奶奶 妻子 丈夫 孩子
职业: 老师 医生 工程师 律师 设计师 程序员 护士 记者 会计
国家: 日本 美国 英国 法国 韩国 泰国 意大利 德国 澳大利亚
城市: 北京 上海 广州 深圳 杭州 成都 西安 厦门 南京
景点: 公园 博物馆 古镇 海滩 寺庙 长城 故宫 鼓浪屿 西湖
天气: 晴 雨 下雨 下雪 阳光 温暖 寒冷 炎热
心情: 开心 高兴 难过 沮丧 焦虑 低落 愉快 烦躁 郁闷
情绪: 开心 难过 沮丧 焦虑 愤怒 低落
压力: 工作 加班 焦虑 放松 冥想 深呼吸
放松: 冥想 瑜伽 散步 音乐 深呼吸
颜色: 红色 蓝色 绿色 黄色 紫色 粉色 黑色 白色
季节: 春天 夏天 秋天 冬天
节日: 春节 中秋节 国庆节 端午节 元旦 圣诞节
电影: 导演 演员 科幻 喜剧 爱情 影院 剧情
书: 小说 作者 散文 传记 文学
书籍: 小说 传记 散文 文学
游戏: 手游 策略 角色扮演 任务 玩家
编程: 代码 算法 程序 变量 函数
礼物: 鲜花 项链 手表 蛋糕 贺卡 书
手工: 编织 折纸 剪纸 刺绣 陶艺
疾病: 感冒 发烧 咳嗽 头痛 过敏
衣服: 连衣裙 衬衫 外套 裤子 裙子 毛衣
"""


@dataclass(slots=True)
class Kinds:
    """Index word of a kind → index words of what is of it; the table is read on first use."""

    _members: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, word: str) -> tuple[str, ...]:
        """What is of the kind an index word names."""
        if not self._members:
            self._read()
        return self._members.get(word, ())

    def _read(self) -> None:
        stem = Stemmer().stem
        for line in KINDS.strip().splitlines():
            kind, _, members = line.partition(":")
            for word in _stems(kind, stem):
                known = self._members.get(word, ())
                self._members[word] = tuple(dict.fromkeys((*known, *(m for m in _stems(members, stem) if m != word))))


def _stems(line: str, stem: Callable[[str], str]) -> Iterator[str]:
    """The words of a line as the index has them: Chinese ones as they stand, of one character as a gram.

    A test holds the table to it; to cut it here would open the dictionary for every search.
    """
    for word in line.split():
        if word.isascii():
            yield stem(word.casefold())
        else:
            yield word if len(word) > 1 else GRAM + word
