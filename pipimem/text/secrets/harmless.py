"""What may follow the words of a secret without being one: placeholders, references, mere talk."""

from __future__ import annotations

import re

from pipimem.text.patterns import Pattern

_WORDS = """
none null nil undefined true false yes no str string text int integer bool boolean float bytes
varchar any optional required expired invalid incorrect wrong missing empty blank weak strong secure
insecure correct right valid good bad ok okay fine hidden masked hashed encrypted encoded salted
stored saved set unset unknown known public private secret password passwd pwd token key apikey user
username admin@example.com reset changed change changing updated rotated leaked compromised shared
sent there here below above attached gone lost forgotten mandatory needed necessary disabled enabled
redacted removed safe unsafe important different same simple complex easy hard long short unique
random default temporary permanent case-sensitive alphanumeric numeric plain plaintext placeholder
changeme change-me change_me todo tbd fixme foo bar baz example sample dummy value secret-value
your-password mypassword yourpassword what which how why that this it not never always also still
just only being mine yours ours theirs his hers everything nothing something pending locked
protected confidential sensitive obsolete deprecated broken ready working unchanged visible
available back and or but if then than too very so now later soon today tomorrow yesterday because
when where while the a an to md5 sha1 sha128 sha256 sha-1 sha-256 sha384 sha512 sha-512 hs256 rs256
es256 bcrypt scrypt argon2 argon2id pbkdf2 aes aes128 aes256 aes-128 aes-256 rsa rsa2048 rsa4096
base32 base64 base-64 utf8 utf-8 ascii hex oauth oauth2 oauth2.0 jwt totp hmac ed25519 x509 s3 k8s
ec2 ipv4 ipv6 http2 tls1.2 tls1.3 sso saml ldap vault 1password lastpass bitwarden keepass
"""
NO_SECRETS = frozenset(_WORDS.split())

_PLACEHOLDER = Pattern(
    r"[*•·.…_#?-]+|\W*(?:[xX]{3,})\W*|\$\{.*|\$\(.*|\$[A-Z][A-Z0-9_]*|\$[a-z_]+|\{\{?.*"
    r"|%[sd]|%\(.*|<.*|\[.*|@\w+|#\{.*"
    r"|(?i:.*(?:\*{3}|x{4}|•{3}|…|\.{3}|your[_-]"
    r"|[_-]here\b|example|placeholder|changeme|redacted|insert[_-]).*)",
    re.DOTALL,
)
_REFERENCE = Pattern(
    r"[a-z][a-z0-9+.-]{1,15}://.*|(?:~|\.{1,2})?/[\w.-]+/.*|(?:~|\.{1,2})/.*"
    r"|\.env.*|[A-Za-z_][\w.]*(?:\(|\[).*"
    r"|(?:process|os|self|this|config|settings|env|secrets|vars|ctx|request|args|opts|options|data|props)"
    r"\.[A-Za-z_].*"
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+",  # the name of an environment variable
    re.DOTALL,
)
_DATE_OR_VERSION = Pattern(
    r"v?\d+(?:\.\d+){1,3}(?:[-+][\w.]+)?|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[:：]\d{2}.*|\d+%"
)
_UNIT = Pattern(
    r"\s{0,2}(?:位|个|次|天|年|月|号|日|周|分|秒|小?时|字|种|块|元"
    r"|bits?\b|bytes?\b|chars?\b|characters?\b|digits?\b|days?\b"
    r"|hours?\b|minutes?\b|seconds?\b|months?\b|years?\b|times?\b|words?\b|letters?\b|tokens?\b|users?\b|attempts?\b|%)"
)
_SCHEME = Pattern(
    r"\s{0,2}(?:加密|哈希|散列|存储|存的|编码|算法|hash|encr|encod|format|格式)", re.IGNORECASE
)


def is_no_secret(value: str) -> bool:
    """Whether a value is a known word, a placeholder, a reference to a secret, a date or a version."""
    return (
        not value
        or value.lower() in NO_SECRETS
        or _PLACEHOLDER().fullmatch(value) is not None
        or _REFERENCE().fullmatch(value) is not None
        or _DATE_OR_VERSION().fullmatch(value) is not None
    )


def tells_about(following: str) -> bool:
    """Whether the text behind a value makes it a measure ("8 位", "90 days") or a method ("MD5 加密")."""
    return _UNIT().match(following) is not None or _SCHEME().match(following) is not None
