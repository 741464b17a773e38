"""Secrets and personal data in whatever travels: told by the name they are given, by their shape, by their randomness.

A fingerprint leaves the house, and a word too many masked costs it little. So these rules are stricter than those of
:mod:`hmxgraph.text.masking`, which come first: what is named a password is one, and so is what nobody would have
chosen as a word. Masked text stays as it is when it is masked again.
"""

import re
from collections.abc import Callable

from hmxgraph.fingerprint.randomness import RUN, is_random
from hmxgraph.text.masking import mask_secrets
from hmxgraph.text.masking_rules import Rule, phone

_STRONG = (
    r"(?i:pass(?:word|wd|phrase|code|wort)|kennwort|contrase[nñ]a|mot[ _]de[ _]passe|senha|wachtwoord|has[lł]o\b"
    r"|пароль|密码|密碼|パスワード|pwd|secret|securestring|credentials?)"
    r"|(?<![A-Za-z])(?i:pw|psk|(?:ask|db|key|root|smtp|ssh|store|sudo|trust|user)?pass)(?![A-Za-z])|(?<=[a-z])Pass(?![a-z])"
)
_KEY = (
    r"(?i:(?:access|account|api|app|auth|client|encryption|licen[cs]e|master|private|service|shared|signing|storage"
    r"|subscription)[ _-]?key|(?:api|access|auth|bearer|csrf|id|personal|refresh|security|session|xsrf)[ _-]?token"
    r"|session[_-]?id|\.sid)"
)
_WEAK = r"(?<![A-Za-z])(?i:tokens?|keys?|code|otp|pin|cvv2?|cvc|sid|sig(?:nature)?|auth(?:orization)?|cookie)"
_NAME = rf"(?:{_STRONG}|{_KEY})[\w-]{{0,12}}"
_IS = r"\\*[\"']?\s*(?:=>|:=|[:=]|%3[AD])\s*"
_QUOTED = r"\\*\"[^\"\n]*\"?|'[^'\n]*'?|`[^`\n]*`?"
_VALUE = rf"(?P<value>{_QUOTED}|[^\s,;&\"'`]+)"
_FIELD = r"\\*\"(?:name|key|variable|field|option|param(?:eter)?|env|header|id)\\*\"\s*:\s*"
_NAMED = rf"{_FIELD}\\*\"[^\"]{{0,99}}(?:{_NAME})[^\"]{{0,99}}\""
_CONTENT = r"\\*\"(?:value|val|content|default|text|data)\\*\"\s*:\s*(?P<value>\"[^\"]*\"|\\\"[^\"]*\"|[^\s,}\]]+)"
# What is said about passwords, as opposed to what is one.
_SAID = frozenset(
    re.findall(
        r"\w+",
        "a an and as at being by correct empty for from gone here in incorrect invalid it kept known lost missing no"
        " not null of old on once only optional or out passed read reset right safe sent set short stale still the that"
        " then there they this to too true unknown unset valid weak when where which with wrong",
    )
)
_MARKS = ("[", "<", "***", "$", "%(", "{")
_SENTENCE = r"(?P<value>\"[^\"]*\"|'[^']*'|[^.;\n\"']+)"
_AT, _DOT = r"(?:[\[(]at[\])]|\bat\b)", r"(?:[\[(]dot[\])]|\bdot\b)"
_QUOTES = "\\\"'`"
_PHONE_DIGITS = r"(?:[ ./-]?\(?\d{1,8}\)?){2,5}(?![\w-]|[.:]\d)"


def travelling(text: str) -> str:
    """*text* without anything that might be a secret or lead to a person.

    >>> travelling("redis-cli -u redis://:hunter2@cache; Passwort: leise-laute")
    'redis-cli -u redis://[password]@cache; Passwort: [password]'

    """
    telling = _TELLING.search(text)
    masked = mask_secrets(text) if telling else text
    for rule in _RULES if telling else _RULES[-1:]:
        masked = rule.pattern.sub(rule.replacement, masked)
    return masked


def asks_for_secret(text: str) -> bool:
    """Whether what follows *text* in a list of arguments is a secret.

    >>> asks_for_secret("--password"), asks_for_secret("--user")
    (True, False)

    """
    return bool(_ASKING.fullmatch(text))


def _is_value(value: str) -> bool:
    bare = value.strip(_QUOTES + " ").lower()
    return bare not in {"", "null", "none", "true", "false"} and not bare.startswith(_MARKS)


def _is_chosen(word: str) -> bool:
    """Whether *word* is a password rather than something said about one: "is wrong", "was reset", "is required"."""
    bare = word.strip(_QUOTES + ".,;:!?()").lower()
    return _is_value(word) and bare not in _SAID and not bare.endswith(("ed", "ing"))


def _has_digit(value: str) -> bool:
    return _is_value(value) and any(map(str.isdigit, value))


def _mixes(word: str) -> bool:
    """Whether *word* has two of: letters, digits, signs that no word is written with."""
    bare = word.strip(_QUOTES + ".,;:!?()")
    strange = any(not sign.isalnum() and sign not in "-_/.:" for sign in bare)
    kinds = (any(map(str.isdigit, bare)), any(map(str.isalpha, bare)), strange)
    return _is_value(word) and len(bare) >= 6 and sum(kinds) > 1


def _is_login(word: str) -> bool:
    return "://" not in word and (_mixes(word) or ":" in word.strip(_QUOTES)) and _is_value(word)


def _rule(mark: str, pattern: str, accepts: Callable[[str], bool] = _is_value) -> Rule:
    return Rule(mark, re.compile(pattern), accepts)


_ASKING = re.compile(rf"(?:--?|/)?[\w.-]*(?:{_STRONG}|{_KEY})[:=]?")
_BEING = r"(?:is|was|to|will be|ist|lautet|war|est|es|è|é)"
_NO_SIGN = r"[^\s,;\"'`]+"
_ARGUMENT = r"(?P<value>[^\s|;&]+)"
_LONG_WORD = r"(?<![^\s,;\"'`])(?P<value>[^\s,;\"'`]{6,256})"
_BEFORE = r"[^|;&]{0,256}?"
_READS_ONE = r"(?:sudo\b|passwd\b|[^|]{0,99}--password-stdin)"
# A text without any of these can hold no secret but a run of random letters.
_TELLING = re.compile(
    rf"[\d@:=$|<%]|-----|\S{{16}}|{_NAME}|-u|/user|(?i:dot)\b"
    r"|\b(?i:seed|recovery|mnemonic|backup|basic|bearer|token|ssws)\b"
    r"|\b(?:sshpass|docker|mysql|mariadb|mongo|7z|redis-cli|ldap|zip|unzip|sqlplus|sqlldr|expdp|impdp)"
)
_RULES = (
    _rule("[private key]", r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z ]*-----|\Z)"),
    _rule("[password]", rf"(?i)\b(?:seed|recovery|mnemonic|backup) (?:phrase|words)\s*(?:is|[:=])?\s*{_SENTENCE}"),
    _rule("[password]", rf"(?i)\bpassphrase\s*(?:is|[:=])\s*{_SENTENCE}"),
    # What stands before the host of a URL.
    _rule("[password]", r"(?i)(?<![\w+.-])[a-z][\w+.-]{0,64}://(?P<value>[^\s/\"'`<>\[]+)(?=@)", bool),
    # A name in one field, its value in the next; XML; lists of arguments.
    _rule("[password]", rf"{_NAMED}\s*,\s*{_CONTENT}"),
    _rule("[password]", rf"{_CONTENT}\s*,\s*{_NAMED}"),
    _rule("[password]", rf"(?i)<(?:\w+:)?[\w.-]*(?:{_NAME})[^>]*>\s*(?P<value>[^<]+)"),
    _rule("[password]", rf"\"--?[\w-]*(?:{_NAME})\"\s*,\s*(?P<value>\"[^\"]*\")"),
    _rule("[password]", rf"(?<![\w-])--?[\w-]*(?:{_NAME})(?:\s+|=)(?P<value>{_QUOTED}|[^\s;|&\"'`]+)"),
    _rule("[password]", rf"(?:{_NAME}){_IS}{_VALUE}"),
    # Prose.
    _rule("[password]", rf"(?:{_NAME})\s+{_BEING}\s+(?P<value>{_QUOTED}|{_NO_SIGN})", _is_chosen),
    _rule("[password]", rf"(?:{_NAME})\s+(?P<value>\"[^\"]+\"|'[^']+'|`[^`]+`)"),
    _rule("[password]", rf"(?:{_NAME})\s+(?P<value>{_NO_SIGN})", _mixes),
    _rule("[password]", rf"{_LONG_WORD}\s+(?:as|for)\s+(?:\w+\s+)?(?:{_NAME})", _mixes),
    # Commands that take a password without saying so.
    _rule("[password]", r"\blogin\s+\S+\s+password\s+(?P<value>\S+)"),
    _rule("[password]", r"(?<![\w-])(?:-u|--user|/user:\S+)\s+(?P<value>\S+)", _is_login),
    _rule("[password]", rf"\b(?:sshpass|docker login|mysql\w*|mariadb\w*|mongo\w*|7z\w*)\b{_BEFORE}\s-p\s?{_ARGUMENT}"),
    _rule("[password]", rf"\bredis-cli\b{_BEFORE}\s-a\s*{_ARGUMENT}"),
    _rule("[password]", rf"\bldap\w+\b{_BEFORE}\s-w\s*{_ARGUMENT}"),
    _rule("[password]", rf"\b(?:un)?zip\b{_BEFORE}\s-P\s*{_ARGUMENT}"),
    _rule("[password]", r"\b(?:sqlplus|sqlldr|expdp|impdp)\s+[^\s/]+/(?P<value>[^\s@]+)"),
    _rule("[password]", r"(?<![\w/.@-])[\w.-]+:(?P<value>[^\s/:@]+)@(?=[\w(])", _mixes),
    _rule("[password]", r"\bpass:(?P<value>[^\s\"'`]+)"),
    _rule("[password]", rf"\becho\s+(?:-n\s+)?(?P<value>[^|;&]{{1,256}}?)\s*\|\s*{_READS_ONE}"),
    _rule("[token]", rf"(?:{_WEAK})(?:\s+(?:is|was)\s+|{_IS}){_VALUE}", _has_digit),
    _rule("[token]", r"(?i)\b(?:basic|bearer|token|ssws)\s+(?P<value>[\w.~+/=-]{6,})", _mixes),
    _rule("[hash]", r"\$[\w-]{1,12}\$[\w./$=,+-]{8,}", bool),
    _rule("[email]", rf"(?i)(?<![\w.+-])[\w.+-]{{1,64}}\s*{_AT}\s*[\w-]{{1,64}}\s*{_DOT}\s*\w+", bool),
    _rule("[phone]", rf"(?<![\w.+/:-])(?:\+|00)\d{_PHONE_DIGITS}", phone),
    _rule("[phone]", rf"(?<![\w.+/:-])(?:\(0?\d{{2,5}}\)|0\d{{1,4}}|1[-. ]\(?\d{{3}}\)?){_PHONE_DIGITS}", phone),
    _rule("[secret]", r"(?<![\w-])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,}(?![\w-])", _has_digit),
    _rule("[secret]", RUN.pattern, is_random),
)
