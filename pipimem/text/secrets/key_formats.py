"""The table of key formats: what a machine-made secret of each provider looks like.

Every pattern opens with its literal prefix behind a look-behind and then takes one run of characters,
so a text is read once whatever it holds. A named group `secret` marks the part that goes; without one
all of it goes. Sources: the providers' own pages on token formats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipimem.text.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Format:
    """One format; it is tried only on texts that hold one of its `hints` (lower case)."""

    kind: str
    hints: tuple[str, ...]
    pattern: Pattern


_EDGE = r"(?<![A-Za-z0-9])"  # ASCII only: `密钥sk-…` has no space in front of the key
_KEY_CHARS = r"[A-Za-z0-9_-]"


def _format(kind: str, hints: str, pattern: str, flags: int = 0) -> Format:
    return Format(kind, tuple(hints.split()), Pattern(pattern, flags))


def _prefixed(kind: str, hints: str, prefix: str, least: int, chars: str = _KEY_CHARS) -> Format:
    """A format that is a prefix and a run of at least `least` characters."""
    return _format(kind, hints, rf"{_EDGE}(?:{prefix}){chars}{{{least},}}")


_ALNUM = r"[A-Za-z0-9]"
# The body of a PEM block stops at any `-----`, so a thousand openings are read once, not a thousand times.
_PEM_BODY = r"[^-]*+(?:-(?!----)[^-]*+)*+"
_PEM_NAME = r"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?"

FORMATS: tuple[Format, ...] = (
    _format(
        "private key",
        "private",
        rf"-----BEGIN {_PEM_NAME}-----(?:{_PEM_BODY}-----END {_PEM_NAME}-----"
        r"|(?:(?:\\n|\s)*+[A-Za-z0-9+/=]{16,}+)++)",  # a block whose end was cut off: its base64 lines
    ),
    _format("private key", "age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    _format(
        "aws key",
        "akia asia abia acca a3t",
        rf"{_EDGE}(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{{16}}(?![A-Za-z0-9])",
    ),
    _prefixed("github token", "ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_", 30, _ALNUM),
    _prefixed("github token", "github_pat_", "github_pat_", 22, r"\w"),
    _prefixed("gitlab token", "glpat- gldt- glptt- glrt-", "glpat-|gldt-|glptt-|glrt-", 20),
    _prefixed("slack token", "xox xapp-", "xox[abeoprs]-|xapp-", 10),
    _format(
        "slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9+/]{30,})",
    ),
    _format(
        "discord webhook",
        "/api/webhooks/",
        r"/api/webhooks/\d{15,20}/(?P<secret>[A-Za-z0-9_-]{40,})",
    ),
    _prefixed("anthropic key", "sk-ant-", "sk-ant-", 20),
    _prefixed("openai key", "sk-", r"sk-(?!ant-)", 20),
    _prefixed("google key", "aiza", "AIza", 35),
    _prefixed("google token", "ya29.", r"ya29\.", 20),
    _prefixed("google secret", "gocspx-", "GOCSPX-", 20),
    _prefixed("stripe key", "_live_ _test_", "(?:sk|rk)_(?:live|test)_", 10, _ALNUM),
    _prefixed("webhook secret", "whsec_", "whsec_", 24, r"[A-Za-z0-9+/=]"),
    _format("telegram token", ":aa", rf"{_EDGE}\d{{8,10}}:AA[A-Za-z0-9_-]{{32,}}"),
    _format("dingtalk secret", "sec", rf"{_EDGE}SEC[0-9a-f]{{64}}(?![0-9a-f])"),
    _format(
        "dingtalk token", "access_token=", r"access_token=(?P<secret>[0-9a-f]{64})(?![0-9a-f])"
    ),
    _format(
        "wecom webhook",
        "qyapi.weixin.qq.com",
        r"qyapi\.weixin\.qq\.com/[\w/-]{1,40}\?key=(?P<secret>[0-9a-fA-F-]{30,40})",
    ),
    _format("feishu webhook", "/bot/v2/hook/", r"/bot/v2/hook/(?P<secret>[0-9A-Za-z-]{20,40})"),
    _format("aliyun key", "ltai", rf"{_EDGE}LTAI[A-Za-z0-9]{{12,26}}(?![A-Za-z0-9])"),
    _format("tencent key", "akid", rf"{_EDGE}AKID[A-Za-z0-9]{{13,40}}(?![A-Za-z0-9])"),
    _prefixed("npm token", "npm_", "npm_", 30, _ALNUM),
    _prefixed("pypi token", "pypi-", "pypi-", 32),
    _prefixed("hugging face token", "hf_ api_org_", "hf_|api_org_", 30, _ALNUM),
    _prefixed(
        "model key",
        "gsk_ xai- pplx- r8_ tvly- lsv2_",
        "gsk_|xai-|pplx-|r8_|tvly-|lsv2_(?:pt|sk)_",
        24,
    ),
    _format("sendgrid key", "sg.", rf"{_EDGE}SG\.[A-Za-z0-9_-]{{16,32}}\.[A-Za-z0-9_-]{{16,64}}"),
    _prefixed(
        "cloud token",
        "dop_v1_ doo_v1_ dapi hvs. atatt3 shp",
        r"do[opr]_v1_|dapi|hvs\.|ATATT3|shp(?:at|ca|pa|ss)_",
        32,
    ),
    _prefixed(
        "service token",
        "glsa_ nrak- lin_api_ ntn_ dckr_pat_ sbp_ sntrys_ sntryu_",
        "glsa_|NRAK-|lin_api_|ntn_|dckr_pat_|sbp_|sntry[su]_",
        24,
    ),
    _format("storage key", "accountkey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    # Header and payload both open with `{"`, which is `eyJ` in base64.
    _format(
        "jwt",
        "eyj",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?",
    ),
    _format(
        "bearer token",
        "bearer",
        r"\bbearer[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/-]{16,}={0,2})",
        re.IGNORECASE,
    ),
    _format(
        "basic credentials",
        "authorization",
        r"authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?basic[ \t]{1,4}"
        r"(?P<secret>[A-Za-z0-9+/]{8,}={0,2})",
        re.IGNORECASE,
    ),
    # user:password@host of any scheme; only the password goes. No slash: `//host:8080/a@b` is a port.
    _format(
        "url password", "://", r"://[^\s:/@\"'<>]{0,80}:(?P<secret>[^\s/\"'<>]{1,200})@(?=[\w\[$])"
    ),
)
