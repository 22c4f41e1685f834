"""Things people say to a bot that no memory has an answer to: what a question must be nearer to an entry than to.

Our own writing, English then Chinese: greetings, moods, thanks, general knowledge, small orders. Changing it moves the
threshold of `vectors`, which was chosen with it.
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
"""

SMALL_TALK: tuple[str, ...] = tuple(_SMALL_TALK.strip().splitlines())
