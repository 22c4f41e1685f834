"""Words that mean the same anywhere, in English and Chinese: a small list of our own writing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

# One group a line. A word may stand in several groups; of two words only those that share a line stand in for each
# other. Common meanings only: a rare one would bring in more that is wrong than it finds. A phrase of several words is
# found in a question, and never looked for in an entry.
_GROUPS = """
# people
mother, mom, mum, mama, mommy, 妈妈, 母亲, 老妈, 妈
father, dad, daddy, papa, 爸爸, 父亲, 老爸, 爸
parents, 父母, 爸妈
wife, 妻子, 老婆, 太太
husband, 丈夫, 老公, 先生
spouse, partner, 配偶, 伴侣, 爱人
boyfriend, 男友, 男朋友
girlfriend, 女友, 女朋友
child, kid, 孩子, 小孩
son, boy, 儿子
daughter, girl, 女儿
brother, 哥哥, 弟弟, 兄弟
sister, 姐姐, 妹妹, 姐妹
nephew, 侄子, 外甥, boy
niece, 侄女, 外甥女
grandmother, grandma, granny, 奶奶, 外婆, 姥姥
grandfather, grandpa, 爷爷, 外公, 姥爷
baby, infant, 宝宝, 婴儿
friend, buddy, pal, 朋友
neighbour, neighbor, 邻居
colleague, coworker, teammate, 同事
roommate, flatmate, 室友, 舍友
classmate, 同学
boss, manager, supervisor, 老板, 领导, 上司, 经理
customer, client, 客户, 顾客
supplier, vendor, provider, 供应商, 厂商, 厂家
landlord, 房东
tenant, 租客
teacher, tutor, instructor, coach, 老师, 教师, 教练
student, pupil, 学生
doctor, physician, gp, 医生, 大夫
dentist, 牙医
nurse, 护士
lawyer, attorney, 律师
engineer, developer, programmer, 工程师, 开发, 程序员
designer, 设计师
intern, trainee, 实习生
accountant, finance, 财务, 会计
support, service desk, 客服
courier, 快递员, 骑手
driver, 司机
guest, visitor, 客人, 访客
team, squad, 团队, 小组
company, firm, employer, 公司
everybody, everyone, 大家, 所有人
owner, 负责人
birthday, bday, 生日
anniversary, 纪念日, 周年
wedding, marriage, 婚礼, 结婚
name, called, 名字
nickname, 外号, 昵称, 小名
hometown, 老家, 家乡, 故乡
# body and health
allergy, allergic, intolerance, 过敏, allergen
medicine, medication, drug, pill, 药, 药物, 药片
penicillin, antibiotic, 青霉素, 抗生素
hospital, clinic, 医院, 诊所
appointment, booking, reservation, 预约, 预订
surgery, operation, 手术
sick, ill, illness, disease, 生病, 病
pain, ache, hurt, sore, 疼, 痛, 疼痛
headache, migraine, 头痛, 头疼
knee, leg, 膝盖, 腿
tooth, teeth, 牙, 牙齿
eye, 眼睛
spine, 背, 腰
sleep, insomnia, 睡眠, 失眠, 睡觉
vaccine, vaccination, jab, 疫苗
checkup, 体检, 检查
therapy, counselling, counseling, therapist, 治疗, 心理咨询
diet, 饮食, 节食
weight, 体重
pregnant, pregnancy, 怀孕
insurance, policy, 保险
gym, fitness, workout, 健身房, 健身
run, running, jog, jogging, 跑步
swim, swimming, 游泳
walk, hike, hiking, stroll, 散步, 徒步
bicycle, bike, cycle, 自行车, 单车
marathon, race, 马拉松
yoga, meditation, 瑜伽, 冥想
# food
food, meal, dish, cuisine, 食物
breakfast, 早餐, 早饭
lunch, 午餐, 午饭
dinner, supper, 晚餐, 晚饭
restaurant, diner, bistro, 餐厅, 饭店, 餐馆
coffee, americano, latte, espresso, 咖啡, 美式, 拿铁
tea, 茶
milk, 牛奶, 奶
beer, wine, alcohol, 啤酒, 酒, 白酒
sugar, sweet, 糖, 甜
spicy, chili, 辣, 辣椒
coriander, cilantro, 香菜
peanut, 花生
nut, hazelnut, walnut, almond, 坚果, 榛子, 核桃
seafood, shrimp, fish, 海鲜, 虾, 鱼
beef, 牛肉
chicken, 鸡肉, 鸡
pork, 猪肉
vegetable, 蔬菜
vegetarian, vegan, 素食, 吃素
fruit, 水果
mango, 芒果
cake, dessert, 蛋糕, 甜点
recipe, 菜谱, 食谱
cook, cooking, bake, baking, 做饭, 烹饪, 烘焙
# animals
pet, 宠物
dog, puppy, doggy, 狗, 小狗, 狗狗, 柯基
cat, kitten, kitty, 猫, 小猫, 猫咪
vet, veterinarian, 兽医, 宠物医院
pollen, 花粉
# home, things, money
house, home, 房子, 家
apartment, flat, condo, 公寓, 房子
rent, 租金, 房租, 月租
mortgage, loan, 房贷, 贷款
deposit, 押金, 定金
move, relocate, moving, 搬家, 搬
furniture, sofa, couch, 家具, 沙发
key, 钥匙
password, passcode, passphrase, 密码, 口令
lock, 锁
lift, elevator, 电梯
stairs, floor, 楼梯, 楼
room, 房间
kitchen, 厨房
garden, yard, 花园, 院子
router, wifi, wireless, wlan, wi-fi, 路由器, 无线
internet, broadband, network, 宽带, 网络, 网
printer, 打印机
phone, mobile, cellphone, smartphone, 手机, 电话
laptop, notebook, 笔记本, 电脑
computer, pc, 电脑
camera, 相机, 摄像头
screen, display, monitor, 屏幕, 显示器
headphone, earphone, earbud, 耳机
battery, 电池
charger, 充电器
telescope, 望远镜
gift, present, 礼物
book, novel, 书, 小说
film, movie, cinema, 电影
music, song, 音乐, 歌, 歌曲
concert, gig, 演唱会, 音乐会
painting, drawing, paint, 画, 绘画
photo, picture, image, 照片, 图片
game, 游戏
clothes, dress, outfit, 衣服, 裙子
shoes, sneakers, 鞋, 鞋子
money, cash, 钱, 现金
price, cost, fee, 价格, 费用, 价钱
expensive, pricey, 贵
cheap, 便宜
budget, 预算, must not cost
salary, wage, pay, 工资, 薪水, 薪资
tax, 税
bank, 银行
credit card, 信用卡
bill, invoice, receipt, 账单, 发票, 收据
refund, compensation, reimburse, 退款, 赔偿
reimbursement, expense, reimburse, 报销
purchase, buy, buying, procurement, 采购, 购买, 买, 采买
sell, sale, 卖, 销售
save, saving, 存, 存钱, 储蓄
debt, owe, 欠, 债
surcharge, extra charge, 加价, 附加费
discount, coupon, promotion, 折扣, 优惠券, 优惠
contract, agreement, 合同, 合约, 协议
certificate, 证书
licence, license, permit, 执照, 许可, 许可证
driving licence, driver's license, 驾照
passport, visa, 护照, 签证
# travel
travel, trip, journey, vacation, holiday, 旅行, 旅游, 出行, 度假
flight, plane, airplane, 航班, 飞机
airport, 机场
ticket, 票, 机票, 车票
train, rail, railway, 火车, 高铁
station, 车站
hotel, hostel, accommodation, 酒店, 宾馆, 住宿
car, vehicle, auto, drive, 车, 汽车, 车子, 开车
taxi, cab, 出租车, 打车
bus, 公交, 巴士
ferry, boat, ship, 轮渡, 船
luggage, suitcase, baggage, 行李
beach, sea, ocean, 海边, 海滩, 大海
mountain, 山
museum, exhibition, gallery, 博物馆, 展览, 美术馆
zoo, 动物园
park, 公园
abroad, overseas, 国外, 海外, 出国
domestic, mainland, 国内
city, town, 城市
country, nation, 国家
address, 地址
office, 办公室
timezone, time zone, 时区, 时差
national day, 国庆, 国庆节
spring festival, chinese new year, lunar new year, 春节, 过年
mid-autumn, 中秋, 中秋节
christmas, 圣诞, 圣诞节
singles day, double eleven, 双十一
weather, 天气
# time and work life
meeting, 会议, 开会
stand-up, standup, 站会, 晨会
schedule, timetable, calendar, agenda, 日程, 时间表, 安排
deadline, due, 截止, 期限, 截止日期
delay, postpone, late, 延期, 推迟, 延迟
cancel, call off, 取消
remind, reminder, 提醒, 通知
notification, notify, alert, 通知
weekend, 周末
morning, 早上, 上午, 早晨
afternoon, 下午
evening, night, 晚上, 夜里, 夜间
noon, 中午
daily, every day, 每天, 天天
weekly, every week, 每周
monthly, every month, 每月, 每个月
yearly, annual, every year, 每年, 年度
leave, day off, 请假, 休假
annual leave, 年假
overtime, 加班
on-call, oncall, on duty, duty, 值班, 值守
shift, 轮班
rotation, rotate, handover, 轮换, 交接, 轮值
interview, 面试
resign, quit, 辞职, 离职
hire, recruit, recruitment, 招聘, 招人
promotion, 晋升, 升职
job, work, occupation, profession, career, 工作, 职业
exam, test, 考试
degree, university, college, 大学, 学位
study, learn, lesson, 学习, 课, 课程
language, 语言
english, 英语, 英文
chinese, mandarin, 中文, 汉语
japanese, 日语
hobby, interest, pastime, 爱好, 兴趣
prefer, preference, favourite, favorite, 偏好, 最爱, 喜欢
dislike, 讨厌, 不喜欢
plan, 计划, 打算
goal, target, aim, 目标
promise, 答应, 承诺
problem, issue, trouble, 问题, 麻烦
reason, cause, 原因, 理由
decision, decide, decided, choose, chose, chosen, pick, 决定, 选择, 选
rule, policy, regulation, 规定, 规则, 制度
forbidden, prohibited, not allowed, never, 禁止, 不许, 不准, 不能
allowed, permitted, 允许
must, required, mandatory, 必须, 要求
approve, approval, sign off, 审批, 批准, 签字
sign, signature, signing, 签名, 签字
confirm, confirmation, 确认
agree, consent, 同意
refuse, reject, decline, 拒绝
task, todo, 任务, 待办
next step, 下一步
progress, status, 进度, 进展, 状态
finish, complete, 完成, 做完
stop, halt, pause, 停止, 暂停, 停
modify, alter, 修改, 更改
replace, swap, switch, migrate, switched, 换, 替换, 换成, 切换, 迁移
increase, raise, 增加, 提高
decrease, reduce, cut, 减少, 降低
expire, expiry, run out, runs out, lapse, 到期, 过期
renew, renewal, extend, 续, 续费, 续期, 续签
broken, damaged, defect, 坏, 损坏
lost, missing, 丢, 丢失
stolen, theft, steal, 偷, 被盗, 失窃
repair, fix, mend, maintenance, 维修, 修, 修理, 维护
install, installation, setup, set up, 安装, 装
measure, measurement, 测量, 量
temperature, heat, hot, 温度, 热
power, electricity, 电源, 供电, 断电, 停电
outage, power cut, blackout, 断电, 停电
document, documentation, doc, 文档, 文件
report, 报告
spreadsheet, excel, 表格
slide, slides, presentation, deck, ppt, 幻灯片, 演示
template, 模板
format, 格式
draft, 草稿
summary, summarise, summarize, 总结, 摘要
style, tone, 风格, 口吻
short, brief, concise, 简短, 简洁
number, 号码, 编号
email, mail, inbox, 邮件, 邮箱
text message, sms, 短信
message, 消息, 信息
wechat, 微信
dingtalk, 钉钉
feishu, lark, 飞书
contact, reach, 联系, 联系人
call, phone, 打电话, 电话
# software
software, application, app, 软件, 应用
version, release, 版本
upgrade, update, rollout, 升级, 更新
release, deploy, deployment, launch, rollout, ship, 发布, 上线, 部署
rollback, roll back, revert, 回滚, 回退
window, 窗口
freeze, frozen, 冻结, 封网
production, prod, 生产, 线上, 生产环境
staging, pre-production, 预发, 预发布, 测试环境
environment, env, 环境
server, host, machine, 服务器, 机器, 主机
service, 服务
cluster, kubernetes, k8s, 集群
database, db, 数据库, postgresql, postgres, pg, mysql
postgresql, postgres, pg
javascript, js
typescript, ts
python, py
cache, redis, 缓存
queue, mq, message queue, rabbitmq, kafka, 队列, 消息队列
backup, 备份
restore, recover, recovery, 恢复, 还原
snapshot, 快照
migration, migrate, 迁移
index, 索引
query, 查询
log, logs, logging, 日志
monitoring, monitor, metric, dashboard, grafana, 监控, 指标, 看板, 仪表盘
alert, alarm, 告警, 报警, 警报
threshold, 阈值
performance, latency, 性能, 延迟
timeout, 超时
error, failure, fault, 错误, 故障, 失败, 报错
bug, defect, 缺陷, 漏洞
crash, 崩溃
reboot, restart, 重启
incident, outage, 事故, 故障
root cause, 根因
load test, stress test, benchmark, 压测, 压力测试
test, testing, 测试
code, source, 代码
repository, repo, git, 仓库
branch, 分支
merge, 合并
commit, 提交
review, code review, 评审, 审查
pipeline, ci, 流水线
build, compile, 构建, 编译, 打包
package manager, npm, pnpm, yarn, 包管理
dependency, library, 依赖, 库
framework, 框架
frontend, front end, 前端
backend, back end, back office, 后端, 后台
interface, api, endpoint, 接口
gateway, 网关
port, 端口
domain, 域名
certificate, tls, ssl, 证书
encryption, encrypt, 加密
credential, secret, token, 密钥, 令牌, 凭证
permission, access, 权限
login, sign in, 登录
account, user, 账号, 账户, 用户
feature flag, toggle, switch, 开关
configuration, config, setting, settings, 配置, 设置
firmware, 固件
image, 镜像
device, equipment, 设备
hardware, 硬件
sensor, 传感器
antenna, 天线
module, 模块, 模组
locker, cabinet, 柜子, 柜, 快递柜
parcel, package, shipment, 包裹, 快递
label, tag, 标签
customs, 海关
barcode, 条码, 条形码
qr, qr code, 二维码
warehouse, depot, 仓库
delivery, deliver, 送货, 配送, 派送
order, 订单, 下单
payment, pay, 支付, 付款
door, 门, 柜门
telemetry, heartbeat, health, 遥测, 心跳, report status
analytics, reporting, analysis, 分析, 报表
data centre, data center, datacenter, 数据中心, 机房
privacy, personal data, 隐私, 个人信息
requirement, spec, 需求
design, 设计
product manager, pm, 产品经理
operations, ops, sre, 运维
quality assurance, qa, 测试
roadmap, 路线图
milestone, 里程碑
sprint, iteration, 迭代
ticket, issue, 工单
release notes, changelog, 发布说明, 更新日志
holiday, vacation, 假期, 放假
shopping festival, 双十一, 购物节
site, venue, 场地
property manager, property management, 物业
trade fair, exhibition, 展会
law, legal, 法务, 法律
security, safety, 安全
fire safety, fire regulation, 消防
"""


def groups(stem: Callable[[str], str]) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """For each phrase, as stemmed words, the single words that mean the same; a single character is no word of the index."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for line in _GROUPS.splitlines():
        if line and not line.startswith("#"):
            phrases = [tuple(map(stem, part.split())) for part in line.split(", ")]
            single = [phrase[0] for phrase in phrases if len(phrase) == 1 and len(phrase[0]) > 1]
            for phrase in phrases:
                found.setdefault(phrase, {}).update((word, None) for word in single if (word,) != phrase)
    return {phrase: tuple(words) for phrase, words in found.items() if words}
