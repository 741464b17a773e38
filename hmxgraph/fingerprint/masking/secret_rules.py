"""The rules by which what travels is masked, by where a secret stands; each mark stays when it is read again."""

import re
from collections.abc import Callable
from typing import NamedTuple

from hmxgraph.fingerprint.masking.randomness import RUN, is_random
from hmxgraph.fingerprint.masking.secret_words import (
    CHOSEN,
    DOOR,
    IS,
    MIXED,
    NAME,
    NO_SIGN,
    QUOTED,
    VALUE,
    WEAK,
    WHOLE,
    has_digit,
    is_chosen,
    is_login,
    is_value,
    mixes,
)
from hmxgraph.text.masking_rules import Rule, phone, rule


def _password(pattern: str, accepts: Callable[[str], bool] = is_value) -> Rule:
    return rule("[password]", pattern, accepts)


def _code(pattern: str) -> Rule:
    return rule("[code]", pattern, is_value)


def _begins_one(sentence: str) -> bool:
    return is_chosen(next(iter(sentence.split()), ""))


_SENTENCE = r"(?P<value>\"[^\"]*\"|'[^']*'|[^.;\n\"']+)"
_WORDS = r"(?i:seed|recovery|mnemonic|backup|unlock)[ _]?(?i:phrase|words)"
_WHOLE = (
    rule("[private key]", r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z ]*-----|\Z)"),
    _password(rf"\b{_WORDS}\b(?:[^:=\n]{{0,40}}(?:\bis\b|[:=]))?\s*{_SENTENCE}"),
    _password(rf"(?i)\bmnemonic\w{{0,9}}[\"']?\s*[:=]\s*{_SENTENCE}"),
    _password(
        rf"(?i)\bpassphrase\b(?:\s+(?:for|of|to)\b[^:=\n]{{1,60}})?\s*(?:\bis\b|[:=])\s*{_SENTENCE}", _begins_one
    ),
    # What stands before the host of a URL.
    _password(r"(?i)(?<![\w+.-])[a-z][\w+.-]{0,64}://(?P<value>[^\s/\"'`<>\[]+)(?=@)", bool),
    _password(r"(?m)^[\w.*-]+:(?:\d+|\*):[\w*-]+:[\w*-]+:(?P<value>\S+)$"),
    _password(rf"(?<![\w/.-])[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{1,9}}:(?P<value>(?!\S*/){CHOSEN})"),
    _password(r"(?i)https?://(?:[\w-]+\.)*hooks?\.[\w.-]+/(?P<value>(?=\S{0,256}\d\S{0,256}[a-z])[^\s\"'<>]+)"),
    _password(r"\bWIFI:[^\n]{0,200}?\bP:(?P<value>[^;\n]+)"),
)

_FIELD = r"\\*\"(?:name|key|variable|field|option|param(?:eter)?|env|header|id)\\*\"\s*:\s*"
_NAMED = rf"{_FIELD}\\*\"[^\"]{{0,99}}(?:{NAME})[^\"]{{0,99}}\""
_CONTENT = r"\\*\"(?:value|val|content|default|text|data)\\*\"\s*:\s*(?P<value>\"[^\"]*\"|\\\"[^\"]*\"|[^\s,}\]]+)"
_NEXT = r"(?:value|val|text|content|default|data)[\"']?\s*[:=]\s*"
_CELLS, _COLUMNS = r"(?![ \t|:-]+(?:\n|\Z))[^\n|]*\|[^\n]*", r"[^\n]*(?:,|\t| {2,20})[^\n]*"
_GAP = r"(?:,|\t| {2,20})"
# A name in one field or argument, its value in the next; XML; tables; calls.
_IN_FIELDS = (
    _password(rf"{_NAMED}\s*,\s*{_CONTENT}"),
    _password(rf"{_CONTENT}\s*,\s*{_NAMED}"),
    _password(rf"<[^<>]{{0,99}}(?:{NAME})[^<>]{{0,99}}>\s*(?:<[\w:]{{1,40}}>\s*)?(?P<value>[^<]+)(?=</)"),
    _password(rf"(?:{NAME})[\"']?\s{{0,9}}[:=]\s{{0,9}}\{{(?P<value>[^{{}}\n]{{4,}})\}}"),
    _password(rf"\"--?[\w-]*(?:{NAME})\"\s*,\s*(?P<value>\"[^\"]*\")"),
    _password(rf"(?:{NAME})[\"'\]}})\s]{{1,9}},?[{{\s\"']{{0,9}}{_NEXT}(?P<value>{WHOLE})"),
    _password(rf"(?:{NAME})[\"'\]}})]{{1,4}}(?:\.\w{{1,20}}\(|\s\w{{1,9}}\s)\s{{0,9}}(?P<value>{WHOLE})"),
    _password(
        rf"[\"']?(?:value|text)[\"']?\s*[:=]\s*(?P<value>{WHOLE})[,\s]{{1,9}}[\"']?\w{{1,20}}[\"']?\s*[:=]\s*"
        rf"[\"'][^\"'\n]{{0,40}}(?:{NAME})"
    ),
    _password(rf"(?:{NAME})[\"'`\]}})*_]{{1,4}}\s{{0,9}}(?:=>|[:=,])\s{{0,9}}(?P<value>{WHOLE})(?!\s*[:=])"),
    _password(rf"(?:{NAME})[ \t]*\|[^\n]*\n(?:[ \t|:-]+\n)?(?P<value>{_CELLS}(?:\n{_CELLS})*)"),
    _password(rf"(?:(?:{NAME})[;\t][^\s;]+|[^\s;][;\t](?:{NAME}))\s+(?P<value>\S+[;\t]\S+(?:\s+\S+[;\t]\S+)*)"),
    _password(
        rf"(?m)^(?:(?:[\w/-]{{1,30}}{_GAP}){{1,12}}(?:{NAME})(?:{_GAP}[^\n]*)?|(?:{NAME}){_GAP}[^\n]*)\n"
        rf"(?P<value>{_COLUMNS}(?:\n{_COLUMNS})*)"
    ),
    _password(
        rf"(?i:auth|log_?[io]n|sign_?in(?:with\w{{1,30}})?|cred(?:ential)?s?|connect|\bPDO)\W{{0,4}}(?:new)?[({{]\s*"
        rf"(?:\w{{1,40}}\s*,\s*)?{WHOLE}\s*,\s*"
        rf"(?P<value>(?![\"']/){WHOLE}(?:\s*,\s*{WHOLE})*)"
    ),
    _password(rf"(?i)\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?(?P<value>{WHOLE})"),
    _password(rf"(?:{NAME})\s{{0,9}}[:=]?\s{{0,9}}[\w.:]{{0,40}}\(\s{{0,9}}(?P<value>{WHOLE})"),
    _password(rf"(?:{NAME})\s{{0,9}}[:=]\s{{0,9}}[A-Za-z@$]{{1,2}}(?P<value>{WHOLE})"),
    _password(rf"(?:{NAME})\s+(?P<value>{WHOLE})"),
)

_BEING = r"(?i:is|was|to|will be|ist|lautet|war|est|es|è|é)"
_AFTER_WORDS = r"(?:[ \t]+[\w.'\u2019/@#-]{1,40}){0,8}?"
_NEAR = r"(?:[ \t,:(«„“「\u2013\u2014-]{1,4}+[^\W\d]{1,30}+){0,9}?[ \t,:(«„“「\u2013\u2014-]{1,4}+"
_FOR = r"[ \t»”」)]{1,3}[^.\n]{0,30}\b(?i:as|als|come|como|comme|for|in|into|at|works)\b[^.\n]{0,30}?"
_BECOMES = (
    r"(?:[ \t]+(?i:is|was|are|be|to|as|still|now|just|from|ist|lautet|war|auf|est|en|es|a|para|é|è|op|naar|jest)[ \t]+"
    r"|['\u2019]s[ \t]+|[ \t]*:[ \t]+|[ \t]+[=\u2013\u2014][ \t]+)"
)
_CODE = (
    r"(?i:\b(?:pin|puk|tan|otp|passcode|digicode|türcode|zugangscode|freischaltcode|host key)\b"
    r"|\b(?:2fa|mfa|sms|door|gate|access|unlock|security|verification|login|alarm|safe|auth)[ -]code\b"
    r"|\bcode (?:d'accès|confidentiel)\b|\bcódigo de \w{5,12}\b)"
)
_NO_STATUS = r"(?<!promo )(?<!discount )(?<!status )(?<!error )(?<!exit )(?<!response )"
_CODES = r"(?i)\b(?:backup|recovery|scratch|one-time|emergency|rescue)[ -](?:login[ -])?(?:codes?|keys?)\b"
_ENTERING = (
    r"(?i:\b(?:log(?:ged|ging)?|sign(?:ed|ing)?)[ -]?(?:in|on)\b|\blogin\b|\bcreds\b|\bcredentials\b|\bzugangsdaten\b)"
)
_BY = r"[ \t]+(?:with|using|mit|avec|con|com)[ \t]+"
_WIRELESS = r"\b(?:wi-?fi|wlan|ssid|network)\b"
_LONG_WORD = r"(?<![^\s,;\"'`])(?P<value>[^\s,;\"'`]{6,256})"
_IN_PROSE = (
    _password(rf"(?:{NAME})\s+{_BEING}\s+(?P<value>{QUOTED}|{NO_SIGN})", is_chosen),
    _password(rf"(?:{NAME}|{DOOR})\s+(?P<value>{NO_SIGN})", mixes),
    _password(rf"(?:{NAME}){_AFTER_WORDS}{_BECOMES}(?P<value>{WHOLE}|{CHOSEN})"),
    _password(rf"(?:{NAME})[ \t]+(?P<value>(?=[^\s\"'`]*[a-z][A-Z]){CHOSEN})"),
    _password(rf"(?:{NAME}|{DOOR}){_NEAR}(?P<value>{MIXED})"),
    _password(
        rf"(?i:{_WIRELESS})[^\n]{{0,60}},[ \t]*(?:{NAME}|{DOOR}|(?i:key)\b)[ \t]+(?P<value>{NO_SIGN})", is_chosen
    ),
    _password(rf"(?<![^\s«„“「(])(?P<value>{MIXED}){_FOR}(?:{NAME}|{DOOR})"),
    _password(rf"(?:{NAME}){_AFTER_WORDS}[ \t]*[:=][ \t]*(?P<value>[a-z]{{4}}(?: [a-z]{{4}}){{3}})\b"),
    _password(rf"{_LONG_WORD}\s+(?:as|for)\s+(?:\w+\s+)?(?:{NAME})", mixes),
    _password(rf"{_ENTERING}[^\n/]{{0,60}}?[\s:](?:\[password\]|[\w.@\\-]+)\s+/\s+(?P<value>{CHOSEN})"),
    _password(rf"{_ENTERING}[^\n]{{0,60}}?{_BY}(?P<value>(?!\S{{1,6}}(?!\S)){MIXED})"),
    _password(rf"{_ENTERING}[ \t]+(?:as|als|como|comme)[ \t]+\S+{_BY}(?P<value>{CHOSEN})"),
    _code(
        rf"{_CODE}{_AFTER_WORDS}[ \t]*(?:[:=]|{_BEING})?[ \t]*"
        r"(?P<value>(?<![\w./-])(?!\d{4}-\d\d-\d\d)\d[\d -]{2,10}\d#?)(?![\w-])"
    ),
    _code(
        r"\b(?P<value>(?:[A-Z]-)?\d{4,8})\s+(?:is|ist|est|es)\s+(?:your|my|our|dein|mein|ihr|votre|mon|su|tu|seu)\b"
        r"[^.\n]{0,40}\b(?i:code|otp|pin|passcode)\b"
    ),
    _code(rf"(?i){_NO_STATUS}\bc[oó]d(?:e|igo)\b(?: de \w+| is| es)?:? (?P<value>\d{{5,8}})\b"),
    _code(rf"{_CODES}(?:[^:\n]{{0,40}}:|\s+(?:are|is))?\s*(?P<value>(?:[\w-]*\d[\w-]*[\s,;/]*){{1,24}})"),
)

_ARGUMENT = r"(?P<value>[^\s|;&]+)"
_BEFORE = r"[^|;&]{0,256}?"
_ASKED_BY_P = r"(?:sshpass|docker login|mysql\w*|mariadb\w*|mongo\w*|7z\w*|az login|cqlsh|influx|isql)"
_READS_ONE = r"(?:sudo\s+-\w*S|(?:sudo\s+)?(?:ch)?passwd\b|[^|]{0,99}(?:--password-stdin|\blogin\b))"
# Options and arguments of commands, many of which take a password without saying so.
_IN_COMMANDS = (
    _password(r"\b(?:login\s+\S+|nmcli\b[^|;&\n]{0,99}?)\s+password\s+(?P<value>\S+)"),
    _password(r"(?<![\w-])(?:-u|--user|/user:\S+)\s+(?P<value>\S+)", is_login),
    _password(rf"\b{_ASKED_BY_P}\b{_BEFORE}\s-p\s?{_ARGUMENT}"),
    _password(rf"\b(?:sqlcmd|bcp|osql|ipmitool|unzip|zip)\b{_BEFORE}\s-P\s*{_ARGUMENT}"),
    _password(rf"\b(?:redis-cli|https?)\b(?!:){_BEFORE}\s-a\s+{_ARGUMENT}"),
    _password(rf"\bldap\w+\b{_BEFORE}\s-w\s*{_ARGUMENT}"),
    _password(rf"\bopenssl\b{_BEFORE}\s-k\s+{_ARGUMENT}"),
    _password(r"(?<!\S)/p(?:w|wd|ass|assword)?:(?P<value>[^\s=]+)(?!\S)"),
    _password(rf"\bssh-keygen\b{_BEFORE}\s-N\s*(?P<value>{WHOLE}|\S+)"),
    _password(r"(?<!\S)/rp\s+(?P<value>\S+)"),
    _password(r"\bSETUSER\b[^\n]{0,99}?>(?P<value>\S+)"),
    _password(rf"\b(?:LOGIN\s+\S+|AUTH)\s+(?P<value>{CHOSEN})"),
    _password(r"\bradtest\s+\S+\s+(?P<value>\S+)"),
    _password(r"\s-U\s*[^\s%]+%(?P<value>\S+)"),
    _password(r"\bhtpasswd\s+-\w*b\w*\s+(?:-\w+\s+)*\S+\s+\S+\s+(?P<value>\S+)"),
    _password(r"\b(?:add_user|change_password|set_password)\s+\S+\s+(?P<value>[^\s-]\S*)"),
    _password(r"\bnet use\b[^\n]{0,99}?\\\\\S+\s+(?P<value>[^\s/]\S*)"),
    _password(rf"(?<!\.)\b(?:net user|rasdial \S+)\s+\S+\s+(?P<value>{CHOSEN})"),
    _password(r"\b(?:sqlplus|sqlldr|expdp|impdp)\s+[^\s/]+/(?P<value>[^\s@]+)"),
    _password(r"(?<![\w/.@-])[\w.-]+:(?P<value>[^\s/:@]+)@(?=[\w(])", mixes),
    _password(rf"(?<![\w/.@-])\w+:(?P<value>{CHOSEN})@(?=[\w(])"),
    _password(r"\bpass:(?P<value>[^\s\"'`]+)"),
    _password(rf"\becho\s+(?:-n\s+)?(?P<value>[^|;&]{{1,256}}?)\s*\|\s*{_READS_ONE}"),
    _password(rf"\b(?:chpasswd|cryptsetup|gpg|kinit|passwd)\b{_BEFORE}<<<\s*(?P<value>{QUOTED}|\S+)"),
    _password(rf"(?:{NAME})\S{{0,12}}=<\(\s*(?:echo|printf)\s+(?P<value>[^)\n]+)\)"),
    _password(rf"(?:{NAME})[^\n]{{0,20}}?[\"'].{{0,9}}\bsend\s+(?P<value>{WHOLE})"),
    _password(rf"\bsend\s+(?P<value>{WHOLE})[^\n]{{0,40}}?(?:{NAME})"),
    _password(r"\b(?i:auth\s+(?:md5|sha\S*)|priv\s+(?:3?des|aes)(?:\s+\d+)?)\s+(?P<value>[^\s,;]{6,})"),
    _password(r"\b(?:requirepass|masterauth)\s+(?P<value>\S+)"),
    _password(rf"\b(?:community|(?:radius|tacacs)[^\n]{{0,80}}\bkey)\s+(?P<value>{CHOSEN})"),
    _password(rf"\b(?:password|secret|key)\s+\d\s+(?P<value>{CHOSEN})"),
)

_AT, _DOT = r"(?:[\[(]at[\])]|\bat\b)", r"(?:[\[(]dot[\])]|\bdot\b)"
_PHONE_DIGITS = r"(?:[ ./-]?\(?\d{1,8}\)?){2,5}(?![\w-]|[.:]\d)"
_BY_SHAPE = (
    rule("[token]", rf"(?:{WEAK})(?:\s+(?:is|was)\s+|{IS}){VALUE}", has_digit),
    rule("[token]", r"(?i)\b(?:basic|bearer|token|ssws)\s+(?P<value>[\w.~+/=-]{6,})", mixes),
    rule("[hash]", r"\$[\w-]{1,12}\$[\w./$=,+-]{8,}", bool),
    rule("[email]", rf"(?i)(?<![\w.+-])[\w.+-]{{1,64}}\s*{_AT}\s*[\w-]{{1,64}}\s*{_DOT}\s*\w+", bool),
    rule("[phone]", rf"(?<![\w.+/:-])(?:\+|00)\d{_PHONE_DIGITS}", phone),
    rule("[phone]", rf"(?<![\w.+/:-])(?:\(0?\d{{2,5}}\)|0\d{{1,4}}|1[-. ]\(?\d{{3}}\)?){_PHONE_DIGITS}", phone),
    rule("[secret]", r"(?<![\w-])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,}(?![\w-])", has_digit),
)
_FRAMED = (*_WHOLE, *_IN_FIELDS)
_TOLD = (
    _password(rf"(?<![\w-])--?[\w-]*(?:{NAME})(?:\s+|=)(?P<value>{QUOTED}|[^\s;|&\"'`]+)"),
    _password(rf"(?:{NAME}){IS}{VALUE}"),
    *_IN_PROSE,
    *_IN_COMMANDS,
    *_BY_SHAPE,
)


class Rules(NamedTuple):
    """What is looked for in a text, before and after the rules of :mod:`hmxgraph.text.masking`."""

    before: tuple[Rule, ...]
    after: tuple[Rule, ...]


def rules_for(text: str) -> Rules:
    """The rules that may find something in *text*: most need the name of a secret, and few texts have one.

    >>> len(rules_for("the password is wrong").after) > len(rules_for("it is wrong").after)
    True

    """
    return ALL if _TELLING.search(text) else _NAMELESS


def _nameless(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if NAME not in rule.pattern.pattern)


_DRAWN = rule("[secret]", RUN.pattern, is_random)
# What a rule about named secrets needs; that of Wi-Fi takes any key for a name.
_TELLING = re.compile(rf"{NAME}|{DOOR}|(?i:{_WIRELESS})")
ALL = Rules(_FRAMED, (*_TOLD, _DRAWN))
_NAMELESS = Rules(_nameless(_FRAMED), (*_nameless(_TOLD), _DRAWN))
