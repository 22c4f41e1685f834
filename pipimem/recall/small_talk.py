"""Things people say to a bot that no memory has an answer to: what a question must be nearer to an entry than to.

Our own writing, English then Chinese: greetings, moods, thanks, general knowledge, household, the trade, small orders.
Changing it moves the threshold of `vectors`, which was chosen with it.
"""

from __future__ import annotations

_SMALL_TALK = """
good morning, how did you sleep?
haha that is hilarious
thanks, that was really helpful
I'm so tired today
see you tomorrow then
wow, I did not expect that
can you tell me a joke?
what is the capital of Peru?
how many legs does a spider have?
translate "good luck" into French
write me a haiku about autumn
explain photosynthesis to a ten-year-old
what's 17 times 23?
who wrote Hamlet?
do you ever get bored?
are you a real person?
sing me a song
what does the word serendipity mean?
how do I boil an egg?
give me synonyms for happy
ok cool, got it
that makes sense, thanks for explaining
hmm let me think about it
never mind, I figured it out
ugh, Mondays
happy new year!
it's raining cats and dogs outside
what do you think about love?
which is bigger, the sun or the moon?
correct the grammar of this sentence: he go to school
give me a random number between 1 and 10
how tall is Mount Everest?
what's your favourite colour?
please be a bit shorter next time
I feel a little down today
you're amazing
let's take a break
how does a microwave work?
make this sound more polite: send me the file
write a python function that reverses a list
what is the difference between a list and a tuple?
convert 5 miles to kilometres
name three planets
tell me a fun fact
spell "necessary"
is water wet?
what year did the Titanic sink?
sorry, wrong window
yes please
no, not that one
who won the world cup in 2010?
suggest a name for a kitten
I just had lunch and now I'm sleepy
the traffic was awful this morning
my head hurts
summarise the following paragraph
what's the weather like?
can you hear me?
good night
long time no see
how do I get red wine out of a carpet?
how long should rice cook?
what can I use instead of buttermilk?
why did my bread not rise?
how do I make an omelette fluffy?
how do I freeze the top row in a spreadsheet?
how do I make a pivot table?
how do I add page numbers in Word?
how do I take a screenshot on a Mac?
how do I undo the last commit in git?
what does this regular expression match?
how do I vertically align text in CSS?
what is the difference between TCP and UDP?
why is my for loop off by one?
how do I sort a dictionary by value in Python?
explain recursion with an example
what is a REST API?
how do vaccines work?
why is the sky blue?
what is the speed of light?
how far is it from the earth to the moon?
which country has the most people?
when did the second world war end?
who painted the Mona Lisa?
what is the longest river in Africa?
what language do they speak in Brazil?
what is the past tense of "to swim"?
how do you say thank you in Italian?
is it "affect" or "effect" here?
rewrite this paragraph in simpler words
proofread this email for me
what is 15 percent of 240?
how many grams are in an ounce?
what's the square root of 144?
how much sleep does an adult need?
what helps against hiccups?
is coffee bad for you?
how do I get rid of a sore throat?
how can I fall asleep faster?
will it be sunny this weekend?
do I need an umbrella tomorrow?
what time is it in Tokyo right now?
set an alarm for seven
remind me in an hour
play some music
turn the volume down
recommend me a good book
which film should I see?
what should I cook for dinner?
what should I give a friend for a birthday?
write a short story about a dragon
make up a riddle
write a birthday poem for a five-year-old
give me three ideas for a company slogan
how do I tie a tie?
how do I unclog a sink?
how often should I water a cactus?
why do cats purr?
how long do dogs live?
what is inflation?
how does compound interest work?
what is a mortgage?
who is the president of France?
what are the rules of chess?
how many players are on a football team?
how do I learn to play the guitar?
what are you able to do?
which model are you?
stop, that's enough
try again, please
that's not what I meant
give me the short version
are you sure about that?
I'm bored
I'm so excited for the weekend
I can't sleep
what a day
back in a minute
on my way
let me check and come back to you
sounds like a plan
早上好呀
哈哈哈笑死
谢谢你，帮大忙了
今天好累
明天见
哇，没想到
给我讲个笑话
秘鲁的首都是哪里
蜘蛛有几条腿
把“祝你好运”翻译成法语
写一首关于秋天的诗
给十岁小孩解释一下光合作用
十七乘二十三等于多少
红楼梦是谁写的
你会觉得无聊吗
你是真人吗
给我唱首歌
“缘分”这个词是什么意思
鸡蛋要煮几分钟
高兴的近义词有哪些
好的，知道了
原来如此，明白了
嗯，我想想
算了，我自己搞定了
又是星期一
新年快乐
外面下大雨了
你怎么看爱情
太阳和月亮哪个大
帮我改一下这句话的语病
随便说一个一到十的数字
珠穆朗玛峰有多高
你最喜欢什么颜色
下次回答短一点
今天心情不太好
你真厉害
休息一下吧
微波炉是怎么工作的
把这句话改得礼貌一点
用 Python 写一个反转列表的函数
列表和元组有什么区别
五英里是多少公里
说出三颗行星
讲个冷知识
“龘”怎么读
水是湿的吗
泰坦尼克号哪一年沉的
不好意思发错了
可以的
不是这个
二零一零年世界杯谁赢了
给小猫起个名字
刚吃完午饭，犯困
早上堵车太厉害了
我头疼
总结一下下面这段话
今天天气怎么样
在吗
晚安啦
好久不见
红酒洒在地毯上怎么清理
米饭要煮多久
没有黄油可以用什么代替
面包为什么发不起来
糖醋排骨怎么做
表格怎么冻结首行
数据透视表怎么做
Word 里怎么加页码
苹果电脑怎么截屏
git 怎么撤销上一次提交
这个正则表达式是什么意思
CSS 里文字怎么垂直居中
TCP 和 UDP 有什么区别
Python 字典怎么按值排序
举个例子解释一下递归
什么是 REST 接口
疫苗是怎么起作用的
天为什么是蓝的
光速是多少
地球离月亮有多远
世界上人口最多的国家是哪个
二战是哪一年结束的
蒙娜丽莎是谁画的
中国最长的河是哪条
巴西人说什么语言
“画蛇添足”是什么意思
谢谢用意大利语怎么说
“的、地、得”怎么区分
这段话帮我写得简单一点
帮我检查一下错别字
二百四的百分之十五是多少
一斤等于多少克
成年人每天要睡几个小时
打嗝怎么办
喝咖啡对身体不好吗
嗓子疼怎么缓解
怎么才能快点睡着
周末会出太阳吗
明天要带伞吗
东京现在几点
定一个七点的闹钟
一个小时以后提醒我
放点音乐
声音小一点
推荐一本好书
有什么好看的电影
晚饭做什么好
朋友过生日送什么好
写一个关于龙的小故事
出个谜语
给五岁小孩写一首生日诗
想三个公司口号
领带怎么打
下水道堵了怎么办
仙人掌多久浇一次水
猫为什么会打呼噜
狗能活多少年
什么是通货膨胀
复利怎么算
房贷是怎么回事
法国总统是谁
象棋的规则是什么
足球队一共几个人上场
怎么自学吉他
你都会做什么
你是什么模型
够了，停
再试一次
我不是这个意思
说得简短一点
你确定吗
好无聊啊
好期待周末
睡不着
忙了一天
马上回来
在路上了
我看看再回你
就这么办吧
"""

SMALL_TALK: tuple[str, ...] = tuple(_SMALL_TALK.strip().splitlines())
