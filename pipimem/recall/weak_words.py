"""Words that say little in a question: common ones, orders to a bot, topics of the trade.

The English ones stand as the stemmer leaves them, because that is how they arrive; stop words never arrive.
"""

from __future__ import annotations

_COMMON_WORDS = """
work good great nice thing stuff way make want need like get go come take give put use know think say tell
show look see find keep help tri call ask feel start stop time day today tomorrow yesterday now week month
year hour minut second morn afternoon evening night monday tuesday wednesday thursday friday saturday sunday
new old big small long short first last next littl lot peopl person two three four five six seven eight nine
ten mayb alreadi alway never thank question answer part kind type name number list write read talk word text
perfect fine right best better decid decis prefer favorit favourit constraint rule error problem issu status
state progress current previous earli histori happen rememb recal mention discuss idea plan
工作 今天 明天 昨天 现在 时间 东西 事情 事 问题 知道 觉得 告诉 看看 使用 喜欢 开始 继续 一次 第一 然后 有人
人 年 月 日 天 号 周 分钟 小时 早上 上午 中午 下午 晚上 星期 周末 最近 目前 当前 上次 下次 这次 每天 每周 新
旧 大 小 多 少 等于 感谢 帮助 帮忙 辛苦 决定 偏好 限制 约束 规则 错误 进展 状态 情况 记得 提到 讨论 聊 名字
叫 内容 方面 方式 方法 写 读 吃 喝 找 问 回答 负责
"""

_ACTION_WORDS = """
run execut start stop launch open close show display print list tell give explain describ summar summaris
check verifi look find search fetch get write rewrit draft creat generat add remov delet updat chang edit
fix help translat remind
运行 执行 启动 停止 打开 关闭 显示 展示 列出 打印 告诉 解释 说明 介绍 总结 概括 检查 确认 核对 查看 查 查询
查找 搜索 搜 找 写 改写 起草 创建 生成 新建 添加 增加 删除 移除 更新 修改 改 编辑 修复 帮 帮我 帮忙 麻烦
翻译 提醒 看看 跑 试 试试
"""

_ASKING_WORDS = """
show display print list tell give explain describ summar summaris check verifi look find search help remind translat
显示 展示 列出 告诉 解释 说明 介绍 总结 概括 检查 确认 核对 查看 查 查询 查找 搜索 搜 找 帮 帮我 帮忙 麻烦 翻译 提醒
看看 试试
"""

_ACTION_OBJECTS = """
test build lint linter script command code commit push pull merg rebas deploy releas compil instal restart
server app applic program project branch file folder directori termin shell log format formatt suit depend
packag chang
测试 用例 单测 构建 编译 打包 脚本 命令 代码 提交 推送 拉取 合并 部署 重新部署 发布 安装 重启 服务 程序 项目 分支
文件 文件夹 目录 终端 日志 格式化 全部 所有 依赖 包 改动 更改 重新 一遍 一次
"""

_GENERIC_TOPICS = """
promis async await asyncio coroutin generat iter decor closur lambda callback thread multithread process
mutex lock semaphor deadlock race condit recurs pointer refer struct enum interfac class object inherit
polymorph generic trait function method variabl constant string array list dict dictionari map set tupl hash
hashmap tree heap stack queue graph link sort search binari algorithm complex regex regexp regular express
loop except tri catch error handl typescript javascript python java rust golang go kotlin swift rubi php
perl c cpp csharp scala haskel html css sass sql nosql json yaml toml xml markdown csv http https rest
graphql grpc websocket tcp udp dns tls ssl jwt oauth cor cooki session cach cdn proxi nginx apach docker
contain kubernet helm git rebas merg cherri pick stash branch commit linux bash shell zsh vim emac react vue
angular svelt next nuxt node nodej django flask fastapi spring redi mysql postgr postgresql sqlite mongodb
kafka rabbitmq elasticsearch index join transact acid orm unit test mock virtual environ venv pip npm yarn
pnpm webpack vite import export modul packag depend inject singleton factori observ pattern design api sdk
cli gui ide pars serial big notat machin learn neural network transform llm token embed prompt use work mean
differ instal configur write implement code program languag framework librari tool
闭包 协程 线程 进程 多线程 锁 死锁 递归 指针 引用 接口 类 对象 继承 多态 泛型 函数 方法 变量 常量 字符串
数组 列表 字典 集合 元组 哈希 哈希表 树 二叉树 堆 栈 队列 图 链表 排序 冒泡 快速 查找 二分 算法 复杂度 正则
正则表达式 表达 表达式 循环 异常 捕获 装饰 装饰器 生成器 迭代 迭代器 回调 异步 同步 并发 并行 事务 索引 缓存
容器 镜像 前端 后端 框架 库 语言 编程 设计 模式 设计模式 单例 工厂 依赖 注入 机器 学习 神经 网络 神经网络 大
模型 数据 数据库 结构 数据结构 用法 语法 教程 原理 区别 意思 例子 示例 安装 配置 实现 理解 使用
"""

_FILLERS = """
project team group task item point session convers chat channel overal exact far summari recap review work
alreadi agre make
项目 团队 群里 干 任务 事项 计划 会话 对话 群 聊天 总体 一共 到底 究竟 具体 现在 目前 列 说说 讲讲 回顾 梳理
重要 主要 出 一步 安排 步骤 发生 干啥 做啥 手头 手上
"""

# Full words, but so common in any talk that one of them shared with an entry is no evidence.
COMMON_WORDS: frozenset[str] = frozenset(_COMMON_WORDS.split())
# Orders to a bot: off, when something else is left to look for.
ACTION_WORDS: frozenset[str] = frozenset(_ACTION_WORDS.split())
# Of these, what also stands before a question.
ASKING_WORDS: frozenset[str] = frozenset(_ASKING_WORDS.split())
# What orders are given about without naming anything: "run the tests", "提交代码".
ACTION_OBJECTS: frozenset[str] = frozenset(_ACTION_OBJECTS.split())
# What any textbook explains: asked about in general, memory has nothing to add.
GENERIC_TOPICS: frozenset[str] = frozenset(_GENERIC_TOPICS.split())
# What may stand beside the cue of an intent without making the question one about something.
FILLERS: frozenset[str] = COMMON_WORDS | ACTION_WORDS | frozenset(_FILLERS.split())
