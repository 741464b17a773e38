"""Masking of ids, secrets and personal data in text."""

import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

# Masking rules: a pattern, the mark that replaces a match, and a test if the pattern alone matches too much.


@dataclass(frozen=True, slots=True)
class MaskRule:
    """Replaces each match of *pattern* with *mark*, if *accepts* returns true for it.

    If the pattern has a group ``value``, only this group is tested and replaced. If *needs* is not empty, a text can
    match only if, in lower case, it contains one of these substrings; testing for them first is several times as fast.
    """

    mark: str
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = bool
    needs: tuple[str, ...] = ()

    def replacement(self, match: re.Match[str]) -> str:
        """Return the replacement for *match*."""
        whole = match.group()
        group = "value" if "value" in self.pattern.groupindex else 0
        if not self.accepts(match.group(group)):
            return whole
        start, end = (position - match.start() for position in match.span(group))
        return whole[:start] + self.mark + whole[end:]


def _is_card(number: str) -> bool:
    """Whether *number* is a card number: 13 to 19 digits that pass the check digit test of ISO/IEC 7812."""
    digits = [int(character) for character in number if character.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return 13 <= len(digits) <= 19 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def iban(number: str) -> bool:
    """Whether *number* has valid check digits (ISO 13616)."""
    compact = number.replace(" ", "")
    return int("".join(str(int(character, 36)) for character in compact[4:] + compact[:4])) % 97 == 1


def _looks_secret(word: str) -> bool:
    """Whether *word*, of at least six characters, mixes letters and digits, unlike the words of a sentence."""
    return len(word) >= 6 and any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _looks_password(word: str) -> bool:
    """Whether *word* mixes letters with digits or with punctuation inside it, unlike words, names and versions.

    >>> [_looks_password(word) for word in ("Kurbel!77", "hunter22", "pa$sword", "again!", "sha256", "v1.4.2")]
    [True, True, True, False, False, False]
    """
    if len(word) < 6 or word.lower() in _NAMES_WITH_DIGITS or not any(map(str.isalpha, word)):
        return False
    return _INSIDE.search(word) is not None or (_looks_secret(word) and _VERSION.match(word) is None)


def _looks_token(word: str) -> bool:
    """Whether *word* looks like an access token rather than the name of something in code."""
    return _looks_secret(word) and is_id(word)


def _is_set(value: str) -> bool:
    """Whether *value* is a real value: not empty, null, boolean, already masked, code or a placeholder."""
    bare = value.strip("\"' ")
    return bare.lower() not in UNSET and not value.startswith("[") and not _LOOKED_UP.match(bare)


def is_id(word: str) -> bool:
    """Whether *word* looks like an id: it has three or more digits, or fewer in certain forms.

    Two digits suffice if there are only letters between them. One digit suffices if the word has five or more
    characters, but no lower-case letters or hyphens. Numbers, quantities such as 15ms, and names such as sha256 are not
    ids.
    """
    digits = sum(map(str.isdigit, word))
    if word.lower() in _NAMES_WITH_DIGITS or digits == len(word) or _QUANTITY.fullmatch(word):
        return False
    among_capitals = len(word) >= 5 and word.upper() == word and "-" not in word
    return digits >= 3 or (digits >= 1 and among_capitals) or bool(digits >= 2 and _ALTERNATING.search(word))


def phone(number: str) -> bool:
    """Whether *number* has as many digits as a telephone number (E.164)."""
    return 8 <= sum(map(str.isdigit, number)) <= 15


# Code that reads a secret from elsewhere (request.form[, input(, process.env.KEY), and placeholders (YOUR_API_KEY).
_LOOKED_UP = re.compile(
    r"[A-Za-z_][\w.]*(?:\[|\(\)?)\Z|(?:process\.env|os\.environ|import\.meta\.env)\b|(?i:your|my|the)[_-]\w*(?i:key|token|password)(?i:[_-](?:here|goes[_-]here))?\Z"
)
# Values that mean that no secret is set.
UNSET = frozenset({"", "null", "none", "true", "false", "yes", "no"})
# Names of types, encodings and standards, which are not ids.
_NAMES_WITH_DIGITS = frozenset(
    (
        "amd64",
        "arm64",
        "base64",
        "float128",
        "int128",
        "iso8601",
        "rfc3339",
        "rfc8785",
        "sha-256",
        "sha-512",
        "sha256",
        "sha384",
        "sha512",
        "uint256",
        "x509",
        "x86_64",
    )
)
# A number with its unit, such as 15ms. A long number before a single letter is more likely an id.
_QUANTITY = re.compile(
    r"\d{1,4}[smhdkKMG]|\d{1,7}(?:ns|us|ms|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|[kKMGTP]i?[bB]|[KMGTP]i|bytes?"
    r"|[kKMG]?Hz|[kMG]?bps|rpm|rps|qps|px|pt|fps|dpi|[km][VWA]h?|[mk]g|[mck]m|ml|mph)"
)
# Punctuation that passwords have between letters and digits, but words do not. "user@host" and "a+b" do not match.
_INSIDE = re.compile(r"[^\W_][!#$%^&*?~]+[^\W_]")
_VERSION = re.compile(r"v?\d+\.\d")
# Letters between two digits: "4f7".
_ALTERNATING = re.compile(r"\d[a-zA-Z]+\d")
# Names of variables and fields that hold secrets.
_SENSITIVE_NAME = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret(?:[_-]?key)?|credentials?|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key"
    r"|(?:auth|access|refresh|session|api|bearer)[_-]?token|(?-i:(?<=[A-Z\d]_)PASS(?==[^=\d])))"
)
# A value: in quotation marks, as ${NAME}, or up to a blank or separator. A closing parenthesis at its end is not part
# of the value if the value does not contain the opening one: it then closes a call around the value.
_VALUE = (
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|\$\{[^}\n]*\}|[^\s,;&\"'}\](]*\([^\s,;&\"'}\]]*|[^\s,;&\"'}\]]*[^\s,;&\"'}\])])"
)
# A password in a sentence: up to a blank, separator or bracket, without a full stop or colon at its end.
_SPOKEN = r"(?P<value>[^\s,;&\"'`()\[\]{}<>=/\\]*[^\s,;&\"'`()\[\]{}<>=/\\.:])(?![\w(\[{=/\\])"
# Names ending in "token", except those of page positions (next_token), public keys of assemblies (publickeytoken) and
# errors of parsers ("unexpected token").
_BEARER_NAME = r"(?<!next)(?<!next[_-])(?<!page)(?<!page[_-])(?<!publickey)(?<!unexpected )token"
# A bearer token (RFC 6750): its characters, also percent-encoded, in up to 16 parts with colons between them. Versions,
# hexadecimal numbers and the beginnings of expressions do not match.
_BEARER_PART = r"\w(?:[\w.~+/-]|%[0-9a-f]{2})*"
_BEARER = (
    rf"[\"']?(?P<value>(?!0x|v?\d+\.\d){_BEARER_PART}(?::{_BEARER_PART}){{0,15}}=*)"
    r"(?<!\.)(?!\.?[\w~+/(\[-]|%[0-9a-f]{2}|:\w)"
)
# Keys and access tokens of services, recognised by their form.
_KEYS = (
    r"sk-[\w-]{16,}|[sr]k_(?:live|test)_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abeprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{35}|ya29\.[\w-]{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|npm_\w{30,}|pypi-[\w-]{30,}|hf_\w{30,}|dop_v1_[0-9a-f]{40,}"
    # Formats that services document for secret scanners: a unique prefix or a fixed shape.
    r"|whsec_\w{20,}|(?:SK|AC)[0-9a-f]{32}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}|\d{8,10}:AA[\w-]{30,}"
    r"|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|dapi[0-9a-f]{32}|hv[sb]\.[\w-]{20,}"
    r"|dckr_pat_[\w-]{20,}|lin_api_\w{30,}|gsk_\w{30,}|gl(?:sa|c)_[\w=+/]{20,}|NRAK-[A-Z0-9]{20,}|rubygems_[0-9a-f]{40,}"
    r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|LTAI\w{12,30}|ATATT3[\w=-]{100,}|CLOJARS_[a-z0-9]{60}|do[or]_v1_[0-9a-f]{40,}"
    r"|dp\.(?:pt|st|ct|sa)\.\w{40,}|duffel_(?:test|live)_[\w=-]{40,}|dt0[a-z]01\.[A-Z0-9.]{80,}|EZ[AT]K\w{50,}"
    r"|FLW(?:PUB|SEC)K[-_]TEST-[0-9a-z]{12,}|fio-u-[\w=-]{60,}|gl(?:rt|dt|ft|ptt|soat|imt|agent|cbt)-[\w-]{20,}"
    r"|HRKU-[\w-]{36,}|api_org_\w{30,}|ico-\w{32}|pubkey-[0-9a-f]{32}|ntn_\w{40,}|NR(?:AK|JS|II|RA)-[\w-]{19,}"
    r"|sha256~[\w-]{43}|pplx-\w{40,}|pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}|PMAK-[0-9a-f-]{50,}|pnu_\w{36}|pul-[0-9a-f]{40}"
    r"|rdme_[a-z0-9]{60,}|r8_\w{37,}|tk-us-[\w-]{48}|xkeysib-[0-9a-f]{60,}|sntry[us]_[\w=+/]{40,}|sm_aat_\w{16,}"
    r"|shippo_(?:live|test)_[0-9a-f]{40}|sq[upa]_[0-9a-f]{40}|EAAA[\w-]{56,}|sq0(?:csp|atp|idp)-[\w-]{22,}"
    r"|rk_(?:live|test)_\w{10,}|sbp_[0-9a-f]{40}|tskey-[a-z]+-[\w-]{20,}|tfp_[\w.=-]{50,}|AQVN[\w-]{35,}|sc_[\w-]{40}"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{50,}|xapp-[\w-]{20,}|(?<=hooks\.slack\.com/services/)T\w+/B\w+/\w+"
)
# The last word of the name of a street.
_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Terrace|Highway|Parkway|Way)"
)
# A flat after a street: "Apt 4".
_FLAT = r"(?:,? (?:Apt|Suite|Ste|Unit|#)\.? ?\w+)?"
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
_EMAIL = r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"


def rule(mark: str, pattern: str, accepts: Callable[[str], bool] = bool, needs: tuple[str, ...] = ()) -> MaskRule:
    """Return a rule with *pattern* compiled."""
    return MaskRule(mark, re.compile(pattern), accepts, needs)


# Every sensitive name contains one of these parts. No part has the letter i, because case-insensitive patterns also
# match the dotless i, which ``casefold`` leaves unchanged.
_SENSITIVE_PARTS = ("pass", "pwd", "secret", "creden", "key", "token")

# What must not precede or follow a card number: the rest of a word or of another number.
_CARD_START, _CARD_END = r"(?<![\w.-])", r"(?![\w-]|\.\d)"

# Secrets: keys, tokens, passwords, card and account numbers.
SECRETS = (
    rule(
        "[private key]",
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    rule("[api key]", rf"(?<![\w-])(?:{_KEYS})"),
    # JSON web tokens.
    rule("[token]", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*", needs=("eyj",)),
    rule(
        "[token]",
        r"(?i)\b(?:bearer|authorization:\s*(?:basic|token))\s+(?P<value>[\w.~+/=-]{8,})",
        needs=("bearer", "author"),
    ),
    # The signature of a signed address.
    rule("[token]", r"[?&]sig=(?P<value>[\w%+/=-]{16,})"),
    # "curl -u user:password", "sshpass -p password", "https://user:password@host".
    rule("[password]", r"(?<!\S)-u\s+[\w.@-]+:(?P<value>[^\s\"'@]{4,})", _is_set, needs=("-u",)),
    rule("[password]", r"\bsshpass\s+-p\s*(?P<value>\S+)", _is_set, needs=("sshpass",)),
    # The host follows the last "@" of an address. An "@" behind a quote, a comma or a query belongs to something else.
    rule("[password]", r"://[^/\s:@]+:(?P<value>[^/\s@]+(?:@[^/\s@\"'<>,;?#]+)*)@", _is_set),
    # "--db-password hunter2", then "DB_PASSWORD=hunter2" and "password: hunter2".
    rule("[password]", rf"(?i)(?<![\w-])--[\w-]*{_SENSITIVE_NAME}\s+{_VALUE}", _is_set, needs=("--",)),
    rule("[password]", rf"(?i){_SENSITIVE_NAME}[\"']?\s*(?:=>|:=|[:=])\s*{_VALUE}", _is_set, needs=_SENSITIVE_PARTS),
    # "pass=hunter2", "--pass hunter2", "db_pass: hunter2".
    rule(
        "[password]",
        r"(?i)(?:(?<![a-z])pass=|(?<![\w-])--(?:[\w-]*-)?pass\s+|[a-z\d][_-]pass[\"']?\s*[:=]\s*)"
        r"(?!=)[\"']?(?P<value>[^\s,;&\"'()\[\]{}]+)(?![^\s,;&\"')\]}])",
        _looks_secret,
        needs=("pass",),
    ),
    # "token=...", "the token is ...", "--token ...".
    rule(
        "[token]",
        rf"(?i)(?:{_BEARER_NAME}(?:[\"']?\s*(?:=>|:=|[:=])|\s+is\b)|(?<![\w-])--[\w-]*token\s)\s*{_BEARER}",
        _looks_token,
        needs=("token",),
    ),
    rule(
        "[password]",
        r"(?i)\bpass(?:word|phrase|code)\s+is\s+[\"']?(?P<value>[^\s\"',;]+)",
        _looks_secret,
        needs=("pass",),
    ),
    # A quoted value of "pw", then "password Kurbel77" and "user shop pass Kurbel77". In code, "pw" is also the name of
    # a variable, and "pass" alone has other meanings.
    rule(
        "[password]",
        r"(?i)(?<![a-z\d-])pw[\"']?\s{0,3}[:=]\s{0,3}(?P<value>\"[^\"\n\\]{4,}\"|'[^'\n\\]{4,}')",
        _is_set,
        needs=("pw",),
    ),
    rule(
        "[password]",
        r"(?i)(?<![\w\[./-])(?:pw|pwd|passwd|pass(?:word|phrase|code)"
        r"|(?:user(?:name)?|login)[\s:=]{1,3}[^\s,;/]{1,80}[\s,;/]{1,3}pass)"
        rf"(?:\s{{1,3}}|\s?[:=]\s{{0,3}}){_SPOKEN}",
        _looks_password,
        needs=("pw", "pass"),
    ),
    # Without gaps, or in groups of digits as printed on cards: 4-4-4-4-3, 4-4-4-4, 4-6-5 and 4-6-4.
    rule("[card number]", rf"{_CARD_START}[2-6]\d{{12,18}}{_CARD_END}", _is_card),
    rule(
        "[card number]",
        rf"{_CARD_START}[2-6]\d{{3}}(?P<gap>[ -])\d{{4}}(?:(?P=gap)\d{{4}}){{2}}(?P=gap)\d{{3}}{_CARD_END}",
        _is_card,
    ),
    rule(
        "[card number]", rf"{_CARD_START}[2-6]\d{{3}}(?P<gap>[ -])\d{{4}}(?:(?P=gap)\d{{4}}){{2}}{_CARD_END}", _is_card
    ),
    rule("[card number]", rf"{_CARD_START}3\d{{3}}(?P<gap>[ -])\d{{6}}(?P=gap)\d{{4,5}}{_CARD_END}", _is_card),
    rule("[account number]", r"\b[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){3,7}(?: ?[0-9A-Z]{1,3})?\b", iban),
    # The same, but groups without a digit are not part of the number: they are words in capitals after it ("EUR").
    rule(
        "[account number]",
        r"\b[A-Z]{2}\d{2} ?[0-9A-Z]{4}(?: ?(?=[A-Z]{0,3}\d)[0-9A-Z]{4}){2,6}(?: ?(?=[A-Z]{0,2}\d)[0-9A-Z]{1,3})?\b",
        iban,
    ),
)
# Personal data that can be recognised by its form.
_PERSONAL = (
    rule("[email]", _EMAIL),
    rule("[national id]", r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"),
    rule("[phone]", r"(?<![\w+])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?!\w)", phone),
    rule("[phone]", r"(?<![\w(.-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])"),
    rule("[address]", rf"\b\d{{1,5}} (?:[NSEW]\.? )?(?:[A-Z][\w'.-]* ){{1,4}}{_STREET}\b\.?{_FLAT}"),
    rule("[address]", r"\b[A-ZÄÖÜ][\w-]{0,60}(?:straße|strasse|str\.|gasse|allee|platz) \d{1,4}[a-z]?\b"),
)
# Ids and other values that differ each time the same thing happens.
IDS = (
    rule("<email>", _EMAIL),
    rule("<uuid>", r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    rule("<time>", rf"\b\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_CLOCK}(?: ?Z|[+-]\d{{2}}:?\d{{2}})?)?(?![\w-])"),
    rule("<time>", rf"(?<![\w:])(?:\d:\d{{2}}|{_CLOCK})(?![\w:])"),
    rule("<hex>", r"\b0x[0-9a-fA-F]{2,}\b|(?<![\w-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}(?![\w-])"),
    rule("<id>", r"(?<![\w<])#?[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*(?![\w>])", is_id),
    rule("<number>", r"(?<![\w.])\d+\.\d+(?![\w.])|(?<![\w.])(?:\d{4,}|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?!\w|\.\d)"),
)


# Masking whole texts: ids, secrets and personal data are replaced by marks.
#
# A mark does not depend on the masked value, so two texts that differ only in their ids become equal. Only
# ``linked_secrets`` tells different values apart.


def mask_ids(text: str) -> str:
    """Return *text* with e-mail addresses, ids, times, decimals and long numbers replaced by marks such as ``<id>``.

    Versions such as v1.4 or 1.4.2, status codes and counts of up to three digits stay.

    >>> mask_ids("user omar_davis_3817: reservation JG7FMM not found (404)")
    'user <id>: reservation <id> not found (404)'

    """
    return masked(text, IDS) if any(map(str.isdigit, text)) or "@" in text else text


def mask_secrets(text: str, *, personal: bool = True) -> str:
    """Return *text* with secrets and, if *personal*, personal data replaced by marks such as ``[password]``.

    Secrets: private keys, API keys, tokens, passwords, card and account numbers. Personal data, recognised by form:
    e-mail addresses, phone numbers, street addresses and national ids.

    >>> mask_secrets("curl -H 'Authorization: Bearer abcdef123456' -d password=hunter2 mail ann@example.com")
    "curl -H 'Authorization: Bearer [token]' -d password=[password] mail [email]"

    """
    return masked(text, (*SECRETS, *_PERSONAL) if personal else SECRETS)


def linked_secrets(text: str, key: str) -> str:
    """Return *text* with its secrets masked; the same secret has the same mark in all texts masked with *key*.

    A mark contains 16 bits of a keyed hash: enough to recognise the same secret in two texts, too few to recover it.

    >>> linked_secrets("password=hunter2, then password=hunter2", "k")
    'password=[password 0cd9], then password=[password 0cd9]'

    """
    for secret in _possible(text, SECRETS):
        text = secret.pattern.sub(lambda match, rule=secret: _linked(match, rule, key), text)  # type: ignore[misc]
    return text


def masked_fields(value: Any, mask: Callable[[str], str], name: str = "") -> Any:
    """Return *value* with *mask* applied to each text in it.

    A text in a field is masked as if it followed the field's name and a colon: "password: hunter2".

    >>> masked_fields({"user": "ann", "password": "hunter2", "log": ["pwd=a1b2c3"]}, mask_secrets)
    {'user': 'ann', 'password': '[password]', 'log': ['pwd=[password]']}

    """
    if isinstance(value, str):
        field = f"{name}: " if name else ""
        hidden = mask(f"{field}{value}")
        return hidden[len(field) :] if hidden.startswith(field) else mask(value)
    if isinstance(value, Mapping):
        return {key: masked_fields(part, mask, key) for key, part in value.items()}
    return [masked_fields(part, mask, name) for part in value] if isinstance(value, list | tuple) else value


def _linked(match: re.Match[str], rule: MaskRule, key: str) -> str:
    hidden = rule.replacement(match)
    if hidden == match.group():
        return hidden
    value = match.group("value" if "value" in rule.pattern.groupindex else 0)
    digest = hmac.new(key.encode(), value.encode("utf-8", "replace"), sha256).hexdigest()[:4]
    return hidden.replace(rule.mark, f"{rule.mark[:-1]} {digest}]", 1)


def _possible(text: str, rules: Iterable[MaskRule]) -> list[MaskRule]:
    """Return the *rules* that can match in *text*."""
    folded = text.casefold()
    return [rule for rule in rules if not rule.needs or any(part in folded for part in rule.needs)]


def masked(text: str, rules: Iterable[MaskRule]) -> str:
    """Apply *rules* to *text*, one after the other."""
    for rule in _possible(text, rules):
        text = rule.pattern.sub(rule.replacement, text)
    return text


# Addresses without credentials, safe to show in errors, reports and reject files.

# Credentials end at an @ before the path. A colon that no port follows also belongs to credentials, because a password
# may contain characters that are not allowed in an address.
_CREDENTIALS = re.compile(r"(?<=://)(?:[^/?#]*@|[^/?#:\[]*:(?!\d*(?:[/?#]|$)).*@)", re.DOTALL)
_QUERY_OR_FRAGMENT = re.compile(r"[?#].*", re.DOTALL)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.IGNORECASE)


def public_address(address: str) -> str:
    """Return *address* without credentials, query and fragment, which may contain passwords and keys.

    >>> public_address("rediss://ana:s3@cret@host:6379/events?key=1")
    'rediss://host:6379/events'
    >>> public_address("redis://:a/b?c@host/events"), public_address("http://host:80/@ana"), public_address("host:7687")
    ('redis://host/events', 'http://host:80/@ana', 'host:7687')
    """
    return _QUERY_OR_FRAGMENT.sub("", _CREDENTIALS.sub("", address))


def public_addresses(text: str) -> str:
    """Return *text* with every address in it reduced by :func:`public_address`.

    >>> public_addresses("401 for 'https://ana:secret@host/events?key=1'")
    "401 for 'https://host/events'"
    """
    return _ADDRESS.sub(lambda match: public_address(match[0]), text)
