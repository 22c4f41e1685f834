"""Han words of talk at work and at home that are younger than the dictionary."""

from __future__ import annotations

from collections.abc import Mapping

# Counted as words that are neither rare nor common in the dictionary's own corpus: enough to win over the pieces.
FREQUENCY = 500

_WORDS = """
双十一 钉钉 飞书 企业微信 小程序 公众号 支付宝 拼多多 小红书 饿了么 抖音 直播带货 快递柜 快递员 外卖员 二维码
后端 看板 预发布 中台 微服务 容器化 消息队列 负载均衡 单点登录 压力测试 回归测试 需求池 用户故事 客单价 生产环境
时区 年假 调休 年终奖 月报 周会 日会 外包 实习生 产品经理 发布说明 更新日志 截止日期
拿铁 美式咖啡 奶茶 猫粮 狗粮 猫砂 铲屎 体检报告 公积金 身份证号 瑜伽垫 私教课 比亚迪 特斯拉 充电桩 充电宝 路由器
"""


def _by_first() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for word in _WORDS.split():
        found[word[0]] = (*found.get(word[0], ()), word)
    return found


BY_FIRST_CHARACTER: Mapping[str, tuple[str, ...]] = _by_first()
