"""Questions that only a memory can answer: what a question must resemble more than it does small talk.

Our own writing, English then Chinese: what a person asks about their life, and a team about its work. Changing it moves
the threshold of `vectors`, which was chosen with it.
"""

from __future__ import annotations

_MEMORY_QUESTIONS = """
what is my dentist's name?
when is my appointment with the accountant?
how much do I pay for the gym?
which medicine was I told to avoid?
where did I put the warranty for the fridge?
what size shoes does my son wear?
which hotel did we book?
when do we fly home?
what is my sister allergic to?
who has a key to the office?
what did I promise my mother?
how old is my dog?
what is the name of my daughter's teacher?
when did I last change the oil?
how much did I lend to Peter?
which insurance do I have?
what food can't I eat?
do I have anything planned on Saturday?
what time does my train leave?
what instrument am I learning?
how many kilometres did I run last week?
when does my lease run out?
what did the doctor say about my back?
do I prefer tea or coffee?
where do my parents live?
what am I saving for?
which books did I want to read?
what's the password policy we agreed on?
who is responsible for the payment service?
when is the next release?
which version are we on?
what did we decide about the logo?
who reviews the pull requests?
where are the design files kept?
why did the deployment fail last week?
how many customers do we have?
what is our budget for marketing?
when is the stand-up?
which database do we use in production?
may we deploy on Fridays?
who is on call this weekend?
what did the client complain about?
what is still open for the launch?
how does Maria want to be contacted?
what is the deadline for the report?
what are we not allowed to send abroad?
which supplier delivers the paper?
who replaced Tom in the team?
how long do we keep the logs?
what did the audit find?
which office are we moving to?
where did we stop yesterday?
what is the status of the migration?
what was the reason for switching providers?
how many people work in the warehouse?
what discount did we give them?
which server runs the backups?
when was the outage?
who signs the contracts?
what did Anna say about the prices?
what is the plan for next quarter?
which machine is broken?
what language does the backend use?
what do I still have to buy for the trip?
what did I eat that made me sick?
how much does the nursery cost?
which of our shops closes first?
is there a limit on the size of uploads?
what happened at the last meeting?
how do we restart the queue when it hangs?
我牙医叫什么
我跟会计约的几点
健身房一个月多少钱
医生让我别吃什么药
冰箱的保修卡放哪儿了
我儿子穿多大的鞋
我们订的哪家酒店
我们哪天飞回来
我姐对什么过敏
办公室的钥匙谁有
我答应过我妈什么
我家狗几岁了
女儿的老师姓什么
车上次保养是什么时候
我借给老王多少钱
我买的哪家的保险
我有什么忌口
周六我有安排吗
我的火车几点开
我在学什么乐器
上周我跑了几公里
房子租约什么时候到期
医生怎么说我的腰
我爱喝茶还是咖啡
我爸妈住在哪个城市
我存钱是为了什么
我想看哪几本书
密码规则我们是怎么定的
支付服务归谁管
下个版本什么时候上
我们现在用的哪个版本
标志的事最后怎么定的
代码谁来评审
设计文件放在哪里
上周部署为什么失败
我们有多少客户
市场预算是多少
站会几点开
生产环境用的什么数据库
周五能不能上线
这周末谁值班
客户抱怨了什么
上线前还差什么没做
小林希望怎么联系她
报告的截止日期是哪天
哪些数据不能传到国外
纸是哪家供应商送的
谁接了老陈的活
日志保留多久
审计查出了什么
我们要搬到哪个办公室
昨天做到哪儿了
迁移进行到哪一步了
当时为什么换供应商
仓库有多少人
给他们打了几折
备份跑在哪台服务器上
故障是哪天出的
合同由谁签字
小周对价格是怎么说的
下个季度打算做什么
哪台机器坏了
后端是用什么语言写的
出门前还要买什么
我上次吃什么吃坏了肚子
幼儿园一个月多少钱
我们哪家店关门最早
上传的文件有大小限制吗
上次开会说了什么
队列卡住了我们怎么重启
"""

MEMORY_QUESTIONS: tuple[str, ...] = tuple(_MEMORY_QUESTIONS.strip().splitlines())
