"""Mask secrets and personal data in exported texts."""

import re
from collections.abc import Callable
from typing import NamedTuple

from hmxgraph.text.masking import UNSET, MaskRule, mask_secrets, masked, phone, rule

# Names of secrets, forms of their values, and words about secrets that are not values.

# Names of passwords in many languages, and of keys and tokens. A value after such a name is masked whatever it looks
# like.
_STRONG = (
    r"(?i:pass(?:word|wd|phrase|code|wort)|kennwort|contrase[nñ]a|mot[ _]de[ _]passe|senha|palavra-passe|wachtwoord"
    r"|parola(?: d'ordine)?|has[lł]o\b|heslo|l[oö]senord|salasana|adgangskode|passord|jelszó|lozinka|şifre|пароль"
    r"|密码|密碼|パスワード|비밀번호|كلمة المرور|סיסמה|pwd|secret|securestring|credentials?|mnemonic)"
    r"|(?<![A-Za-z])(?i:mdp|pw|psk|(?:ask|db|key|root|smtp|ssh|store|sudo|trust|user)?pass)(?![A-Za-z])"
    r"|(?<=[a-z])Pass(?![a-z])"
)
_KEY = (
    r"(?i:(?:access|account|api|app|auth|client|encryption|licen[cs]e|master|private|service|shared|signing|storage"
    r"|subscription)[ _-]?key|(?:api|access|auth|bearer|csrf|id|personal|refresh|security|session|xsrf)[ _-]?token"
    r"|session[_-]?id|\.sid|(?:challenge|security|secret)[ _-]?answer)"
)
# Names that harmless values have as well, so that the value must look like a secret. "tokens" is excluded, because it
# names a count.
_WEAK = (
    r"(?<![A-Za-z])(?i:token(?!s)|keys?|code|otp|pin|cvv2?|cvc|sid|sig(?:nature)?|auth(?:orization)?|cookie"
    r"|clave|schlüssel|chiave|clé)"
)
# The text inside a mark: "password", or "password 0cd9" with a hash that is the same for equal secrets.
_MARK = (
    r"(?:account number|address|api key|card number|code|email|hash|national id|password|phone|private key|secret"
    r"|token)(?: [0-9a-f]{4})?"
)
# Excludes the name inside a mark such as [password], so that masking a masked text again keeps its marks.
_NAME = rf"(?:(?<!\[)|(?!{_MARK}\]))(?:{_STRONG}|{_KEY})[\w-]{{0,12}}"
# Words for "password" that also mean a door key, so that the value must look like a secret.
_DOOR = r"\b(?i:clave|schlüssel)\b"
# What stands between a name and its value: "=", ":", "=>". In code and markup, a quote may close the name first.
_ASSIGNS = r"\\*[\"']?\s*(?:=>|:=|={1,3}|:|%3[AD])\s*"
# Quoted text whose end may be cut off, and complete quoted text that is not empty.
_QUOTED = r"\\*\"[^\"\n]*\"?|'[^'\n]*'?|`[^`\n]*`?"
_WHOLE = r"(?:\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`)"
# Values. `_BARE_VALUE` ends at a blank, comma, semicolon or quote. `_VALUE` also ends at "&", or is a quoted text.
_VALUE = rf"(?P<value>{_QUOTED}|[^\s,;&\"'`]+)"
_BARE_VALUE = r"[^\s,;\"'`]+"
# Lookaheads that exclude harmless values: addresses, paths, versions and number ranges; names of regions or machines,
# such as us-east-1.
_NO_ADDRESS = r"(?!\S{0,64}://|[/~\[<]|\.{1,2}/|v?\d+(?:\.\d+)+(?!\w)|\d{1,3}(?:-\d{1,3})?(?![\w-]))"
_NO_MACHINE = r"(?![a-z]+(?:-[a-z]+){0,5}-[a-z]{0,9}\d{1,2}(?![\w-]))"
# A typical password chosen by a person, such as "hunter2" or "tulip-rose": it contains digits, symbols, inner capitals,
# or punctuation between letters, and is neither a path nor an address.
_CHOSEN = rf"{_NO_ADDRESS}(?=[^\s\"'`]{{0,64}}?(?:\d|[!#$%&*+?^~]|[^\W_][._-][^\W_]|[a-z][A-Z]))[^\s,;\"'`]{{4,128}}"
# A stricter form that ordinary words seldom match: letters mixed with digits or symbols.
_MIXED = (
    rf"{_NO_ADDRESS}{_NO_MACHINE}(?=[^\s,;\"'`/]{{0,64}}?[^\W\d_])(?=[^\s,;\"'`/]{{0,64}}?[\d!#$%&*+?^~])"
    r"[^\s,;\"'`/()«»„“”「」]{6,64}(?![^\s,;\"'`()«»„“”「」])"
)
# Words that follow "password is" without being passwords: "wrong", "required".
_STATUS_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and as asked at being by correct empty for from gone here in incorrect invalid is it kept known lost"
        " missing no not now null of old on once only optional or out passed read reset right safe sent set short stale"
        " still the that then there they this to too true unknown unset valid weak when where which with wrong"
        " abgelaufen erforderlich falsch ungültig caducada incorrecta inválida necesaria incorreta necessária"
        " expiré invalide nécessaire requis requise errata scaduta obligatoire obligatoria obrigatória"
        " demasiado trop zu",
    )
)
# The first characters of values that are already masked, or looked up at run time.
_MARKS = ("[", "<", "***", "$", "%(", "{")
_NOTHING = UNSET | {"on", "off"}
# A number with fewer digits is not taken for a code.
_SHORTEST_CODE = 4
_QUOTES = "\\\"'`"
# A path of two or more folders in lower case, such as /run/secrets/db.
_PATH = re.compile(r"(?:/[a-z][a-z_.-]+){2,}")


def _is_value(value: str) -> bool:
    """Whether *value* may be a secret: empty, unset or masked values, variables, paths and short numbers are none.

    >>> [_is_value(text) for text in ('""', "null", "[password]", "${DB_PASSWORD}", "/run/secrets/db", "tulip")]
    [False, False, False, False, False, True]

    """
    bare = value.strip(_QUOTES + " ")
    if bare.lower() in _NOTHING or bare.startswith(_MARKS):
        return False
    return not (_PATH.fullmatch(bare) or (bare.isdigit() and len(bare) < _SHORTEST_CODE))


def _is_list(inside: str) -> bool:
    """Whether the *inside* of brackets may be a list of secrets rather than the words of a mark."""
    return _is_value(inside) and re.fullmatch(_MARK, inside) is None


def _is_chosen(word: str) -> bool:
    """Whether *word* is a password rather than a statement about one: "is wrong", "was reset", "is required"."""
    bare = word.strip(_QUOTES + ".,;:!?()").lower()
    return _is_value(word) and bare not in _STATUS_WORDS and not bare.endswith(("ed", "ing"))


def _has_digit(value: str) -> bool:
    """Whether *value* may be a secret and contains a digit."""
    return _is_value(value) and any(map(str.isdigit, value))


def mixes(word: str) -> bool:
    """Whether *word* may be a secret: six or more characters, of at least two kinds (letters, digits, symbols)."""
    bare = word.strip(_QUOTES + ".,;:!?()")
    symbols = any(not character.isalnum() and character not in "-_/.:" for character in bare)
    kinds = (any(map(str.isdigit, bare)), any(map(str.isalpha, bare)), symbols)
    return _is_value(word) and len(bare) >= 6 and sum(kinds) > 1


def _is_login(word: str) -> bool:
    """Whether *word* is a user name with a password, or looks like a password."""
    return "://" not in word and (mixes(word) or ":" in word.strip(_QUOTES)) and _is_value(word)


# Randomness: keys, tokens and hashes, as opposed to words and names.

# `_RUN` is text without blanks, `_SEGMENT` a part of it without symbols, `_PARTS` are the words (also in camelCase) and
# numbers in a segment.
_RUN = re.compile(r"[^\s\"'`,;<>()\[\]{}|\\]{9,}")
_SEGMENT = re.compile(r"[A-Za-z0-9]{9,}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
# Seven consonants in a row: no word has these.
_CONSONANTS = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{7}")
# A longer sequence of letters is not a word; a number of at least `_LONG_NUMBER` digits looks like a key.
_LONGEST_WORD = 20
_LONG_NUMBER = 9
# A segment is random if its `_randomness` exceeds a limit, which depends on its length: 0.4 for up to 15 characters,
# 0.3 for up to 23, and 0.2 for more, because long names consist of words. These limits are for segments with digits.
_MAX_RANDOMNESS = ((15, 0.4), (23, 0.3), (1_000_000, 0.2))
# The factor of the limit for segments without digits.
_WITHOUT_DIGITS = 1.5
# Text looks like base64 if its parts (words, numbers) have at most this mean length. In "kQ3xZ81mBw20" it is 1.3.
_LONGEST_PIECE = 2.75
_HEX = re.compile(r"(?=[0-9a-f]*\d)[0-9a-f]{12,}|(?=[0-9A-F]*\d)[0-9A-F]{12,}")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Base64 with a digit and a capital.
_ENCODED = re.compile(r"(?<![\w+/-])(?=[A-Za-z+/_-]*\d)(?=[a-z\d+/_-]*[A-Z])[A-Za-z0-9+/_-]{16,}={0,2}")


def _is_random(run: str) -> bool:
    """Whether a part of *run* looks random: a UUID, a long number, hexadecimal, or letters that form no words.

    >>> [_is_random(run) for run in ("kQ3xZ81mBw20", "ConnectionResetError104", "/var/log/app-2024/base64Encoded.txt")]
    [True, False, False]

    """
    return bool(_UUID.search(run)) or any(map(_is_random_segment, _SEGMENT.findall(run))) or _is_encoded(run)


def _is_random_segment(segment: str) -> bool:
    """Whether *segment*, of letters and digits, is a long number, hexadecimal, or too random for a name."""
    if segment.isdigit():
        return len(segment) >= _LONG_NUMBER
    if _HEX.fullmatch(segment):
        return True
    return _randomness(_PARTS.findall(segment)) > _max_randomness(segment)


def _randomness(parts: list[str]) -> float:
    """The number of letters outside words and of changes between kinds of characters, divided by the length."""
    letters = [part for part in parts if part.isalpha()]
    strange = sum(len(part) for part in letters if not _is_word(part))
    return (strange + len(parts) - 1) / max(sum(map(len, parts)), 1)


def _max_randomness(segment: str) -> float:
    """The maximum randomness of a name with the length of *segment*, with or without digits."""
    allowed = next(share for length, share in _MAX_RANDOMNESS if len(segment) <= length)
    return allowed if any(map(str.isdigit, segment)) else _WITHOUT_DIGITS * allowed


def _is_word(part: str) -> bool:
    """Whether *part* can be a word: of 3 to 20 letters, with a vowel."""
    return 2 < len(part) <= _LONGEST_WORD and bool(_VOWEL.search(part)) and not _CONSONANTS.search(part)


def _is_encoded(run: str) -> bool:
    """Whether *run* contains random base64. Its symbols (+, /) may split it into segments too short to be judged."""
    encoded = _ENCODED.search(run)
    return encoded is not None and len(_PARTS.findall(encoded.group())) >= len(encoded.group()) / _LONGEST_PIECE


# Masking rules, by the context of a secret, each with an example. Masking a masked text again keeps its marks.


def _password(pattern: str, accepts: Callable[[str], bool] = _is_value) -> MaskRule:
    return rule("[password]", pattern, accepts)


def _code(pattern: str) -> MaskRule:
    return rule("[code]", pattern, _is_value)


def _begins_secret(sentence: str) -> bool:
    """Whether the first word of *sentence* may belong to a passphrase."""
    return _is_chosen(next(iter(sentence.split()), ""))


# A quoted text, or the rest of a sentence.
_SENTENCE = r"(?P<value>\"[^\"]*\"|'[^']*'|[^.;\n\"']+)"
# Names of word sequences that restore an account: "seed phrase", "recovery words".
_WORDS = r"(?i:seed|recovery|mnemonic|backup|unlock)[ _]?(?i:phrase|words)"
_KNOWN_FORMS = (
    # `-----BEGIN PRIVATE KEY-----` and all that follows, up to `-----END PRIVATE KEY-----`
    rule("[private key]", r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z ]*-----|\Z)"),
    # `recovery phrase: tulip rose oak`
    _password(rf"\b{_WORDS}\b(?:[^:=\n]{{0,40}}(?:\bis\b|[:=]))?\s*{_SENTENCE}"),
    # `mnemonic = "tulip rose oak"`
    _password(rf"(?i)\bmnemonic\w{{0,9}}[\"']?\s*[:=]\s*{_SENTENCE}"),
    # `passphrase for the key is tulip`
    _password(
        rf"(?i)\bpassphrase\b(?:\s+(?:for|of|to)\b[^:=\n]{{1,60}})?\s*(?:\bis\b|[:=])\s*{_SENTENCE}",
        _begins_secret,
    ),
    # `redis://:hunter2@cache`
    _password(r"(?i)(?<![\w+.-])[a-z][\w+.-]{0,64}://(?P<value>[^\s/\"'`<>\[]+)(?=@)", bool),
    # `app:1001:*:sales:hunter2`
    _password(r"(?m)^[\w.*-]+:(?:\d+|\*):[\w*-]+:[\w*-]+:(?P<value>\S+)$"),
    # `ann@example.com:hunter2!`
    _password(rf"(?<![\w/.-])[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{1,9}}:(?P<value>(?!\S*/){_CHOSEN})"),
    # `https://hooks.example.com/T01/a7xk2`
    _password(r"(?i)https?://(?:[\w-]+\.)*hooks?\.[\w.-]+/(?P<value>(?=\S{0,256}\d\S{0,256}[a-z])[^\s\"'<>]+)"),
    # `WIFI:T:WPA;S:home;P:hunter2;;`
    _password(r"\bWIFI:[^\n]{0,200}?\bP:(?P<value>[^;\n]+)"),
)

# `_FIELD` is the beginning of a field that holds a name: `"key": `. `_NAMED` is such a field with the name of a secret.
_FIELD = r"\\*\"(?:name|key|variable|field|option|param(?:eter)?|env|header|id)\\*\"\s*:\s*"
_NAMED = rf"{_FIELD}\\*\"[^\"]{{0,99}}(?:{_NAME})[^\"]{{0,99}}\""
# `_CONTENT` is a field that holds a value: `"value": "tulip"`. `_NEXT` is the beginning of such a field, with or
# without quotes: `value = `.
_CONTENT = r"\\*\"(?:value|val|content|default|text|data)\\*\"\s*:\s*(?P<value>\"[^\"]*\"|\\\"[^\"]*\"|[^\s,}\]]+)"
_NEXT = r"(?:value|val|text|content|default|data)[\"']?\s*[:=]\s*"
# Lines of a table, with cells separated by bars, or by commas, tabs or blanks.
_CELLS, _COLUMNS = r"(?![ \t|:-]+(?:\n|\Z))[^\n|]*\|[^\n]*", r"[^\n]*(?:,|\t| {2,20})[^\n]*"
# Between two columns.
_GAP = r"(?:,|\t| {2,20})"
# Rules for values in a structure: a list, the field or argument after the name, XML, a table, a call.
_IN_FIELDS = (
    # `passwords: [tulip, rose]`
    _password(rf"(?:{_NAME}){_ASSIGNS}\[(?P<value>[^\[\]]{{1,4096}})\]", _is_list),
    # `{"name": "DB_PASSWORD", "value": "tulip"}`
    _password(rf"{_NAMED}\s*,\s*{_CONTENT}"),
    # `{"value": "tulip", "name": "DB_PASSWORD"}`
    _password(rf"{_CONTENT}\s*,\s*{_NAMED}"),
    # `<password>tulip</password>`
    _password(rf"<[^<>]{{0,99}}(?:{_NAME})[^<>]{{0,99}}>\s*(?:<[\w:]{{1,40}}>\s*)?(?P<value>[^<]+)(?=</)"),
    # `password = {tulip rose}`
    _password(rf"(?:{_NAME})[\"']?\s{{0,9}}[:=]\s{{0,9}}\{{(?P<value>[^{{}}\n]{{4,}})\}}"),
    # `["--password", "tulip"]`
    _password(rf"\"--?[\w-]*(?:{_NAME})\"\s*,\s*(?P<value>\"[^\"]*\")"),
    # `"password"}, {"value": "tulip"}`
    _password(rf"(?:{_NAME})[\"'\]}})\s]{{1,9}},?[{{\s\"']{{0,9}}{_NEXT}(?P<value>{_WHOLE})"),
    # `getByLabel("Password").fill("tulip")`
    _password(rf"(?:{_NAME})[\"'\]}})]{{1,4}}(?:\.\w{{1,20}}\(|\s\w{{1,9}}\s)\s{{0,9}}(?P<value>{_WHOLE})"),
    # `value="tulip" name="user_password"`
    _password(
        rf"[\"']?(?:value|text)[\"']?\s*[:=]\s*(?P<value>{_WHOLE})[,\s]{{1,9}}[\"']?\w{{1,20}}[\"']?\s*[:=]\s*"
        rf"[\"'][^\"'\n]{{0,40}}(?:{_NAME})"
    ),
    # `**password**: "tulip"`
    _password(rf"(?:{_NAME})[\"'`\]}})*_]{{1,4}}\s{{0,9}}(?:=>|[:=,])\s{{0,9}}(?P<value>{_WHOLE})(?!\s*[:=])"),
    # `password | user\n--- | ---\ntulip | ann`
    _password(rf"(?:{_NAME})[ \t]*\|[^\n]*\n(?:[ \t|:-]+\n)?(?P<value>{_CELLS}(?:\n{_CELLS})*)"),
    # `user;password\nann;tulip`
    _password(rf"(?:(?:{_NAME})[;\t][^\s;]+|[^\s;][;\t](?:{_NAME}))\s+(?P<value>\S+[;\t]\S+(?:\s+\S+[;\t]\S+)*)"),
    # `user,password\nann,tulip`
    _password(
        rf"(?m)^(?:(?:[\w/-]{{1,30}}{_GAP}){{1,12}}(?:{_NAME})(?:{_GAP}[^\n]*)?|(?:{_NAME}){_GAP}[^\n]*)\n"
        rf"(?P<value>{_COLUMNS}(?:\n{_COLUMNS})*)"
    ),
    # `login("ann", "tulip")`
    _password(
        rf"(?i:auth|log_?[io]n|sign_?in(?:with\w{{1,30}})?|cred(?:ential)?s?|connect|\bPDO)\W{{0,4}}(?:new)?[({{]\s*"
        rf"(?:\w{{1,40}}\s*,\s*)?{_WHOLE}\s*,\s*"
        rf"(?P<value>(?![\"']/){_WHOLE}(?:\s*,\s*{_WHOLE})*)"
    ),
    # `CREATE USER ann IDENTIFIED BY 'tulip'`
    _password(rf"(?i)\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?(?P<value>{_WHOLE})"),
    # `password = str("tulip")`
    _password(rf"(?:{_NAME})\s{{0,9}}[:=]?\s{{0,9}}[\w.:]{{0,40}}\(\s{{0,9}}(?P<value>{_WHOLE})"),
    # `password = b"tulip"`
    _password(rf"(?:{_NAME})\s{{0,9}}[:=]\s{{0,9}}[A-Za-z@$]{{1,2}}(?P<value>{_WHOLE})"),
    # `password "tulip"`
    _password(rf"(?:{_NAME})\s+(?P<value>{_WHOLE})"),
)

# "is", "was", "to" in several languages.
_BEING = r"(?i:is|was|to|will be|ist|lautet|war|est|es|è|é)"
# Words between a name and its value: `_AFTER_WORDS` up to eight, `_NEAR` up to nine, also across punctuation.
_AFTER_WORDS = r"(?:[ \t]+[\w.'\u2019/@#-]{1,40}){0,8}?"
_NEAR = r"(?:[ \t,:(«„“「\u2013\u2014-]{1,4}+[^\W\d]{1,30}+){0,9}?[ \t,:(«„“「\u2013\u2014-]{1,4}+"
# What may stand between a value and the name after it: " as the ".
_FOR = r"[ \t»”」)]{1,3}[^.\n]{0,30}\b(?i:as|als|come|como|comme|for|in|into|at|works)\b[^.\n]{0,30}?"
# What directly precedes the value: " was changed to ", ": ".
_BECOMES = (
    r"(?:[ \t]+(?i:is|was|are|be|to|as|still|now|just|from|ist|lautet|war|auf|est|en|es|a|para|é|è|op|naar|jest)[ \t]+"
    r"|['\u2019]s[ \t]+|[ \t]*:[ \t]+|[ \t]+[=\u2013\u2014][ \t]+)"
)
# Names of short codes: "PIN", "door code".
_CODE = (
    r"(?i:\b(?:pin|puk|tan|otp|passcode|digicode|türcode|zugangscode|freischaltcode|host key)\b"
    r"|\b(?:2fa|mfa|sms|door|gate|access|unlock|security|verification|login|alarm|safe|auth)[ -]code\b"
    r"|\bcode (?:d'accès|confidentiel)\b|\bcódigo de \w{5,12}\b)"
)
# Lookbehinds that exclude codes that are not secrets, such as "exit code".
_NO_STATUS = r"(?<!promo )(?<!discount )(?<!status )(?<!error )(?<!exit )(?<!response )"
# "Backup codes", "one-time login keys".
_CODES = r"(?i)\b(?:backup|recovery|scratch|one-time|emergency|rescue)[ -](?:login[ -])?(?:codes?|keys?)\b"
# Words for logging in, and for credentials.
_ENTERING = (
    r"(?i:\b(?:log(?:ged|ging)?|sign(?:ed|ing)?)[ -]?(?:in|on)\b|\blogin\b|\bcreds\b|\bcredentials\b|\bzugangsdaten\b)"
)
# Before the password: " with ".
_BY = r"[ \t]+(?:with|using|mit|avec|con|com)[ \t]+"
_WIRELESS = r"\b(?:wi-?fi|wlan|ssid|network)\b"
_LONG_WORD = r"(?<![^\s,;\"'`])(?P<value>[^\s,;\"'`]{6,256})"
_IN_PROSE = (
    # `the password is tulip`
    _password(rf"(?:{_NAME})\s+{_BEING}\s+(?P<value>{_QUOTED}|{_BARE_VALUE})", _is_chosen),
    # `password hunter2!`
    _password(rf"(?:{_NAME}|{_DOOR})\s+(?P<value>{_BARE_VALUE})", mixes),
    # `the password for ann was changed to hunter2`
    _password(rf"(?:{_NAME}){_AFTER_WORDS}{_BECOMES}(?P<value>{_WHOLE}|{_CHOSEN})"),
    # `password tulipRose`
    _password(rf"(?:{_NAME})[ \t]+(?P<value>(?=[^\s\"'`]*[a-z][A-Z]){_CHOSEN})"),
    # `the password, as of today, hunter2!`
    _password(rf"(?:{_NAME}|{_DOOR}){_NEAR}(?P<value>{_MIXED})"),
    # `Wi-Fi home, key tulip`
    _password(
        rf"(?i:{_WIRELESS})[^\n]{{0,60}},[ \t]*(?:{_NAME}|{_DOOR}|(?i:key)\b)[ \t]+(?P<value>{_BARE_VALUE})", _is_chosen
    ),
    # `use hunter2! as the password`
    _password(rf"(?<![^\s«„“「(])(?P<value>{_MIXED}){_FOR}(?:{_NAME}|{_DOOR})"),
    # `app password: abcd efgh ijkl mnop`
    _password(rf"(?:{_NAME}){_AFTER_WORDS}[ \t]*[:=][ \t]*(?P<value>[a-z]{{4}}(?: [a-z]{{4}}){{3}})\b"),
    # `hunter2! for the password`
    _password(rf"{_LONG_WORD}\s+(?:as|for)\s+(?:\w+\s+)?(?:{_NAME})", mixes),
    # `log in: ann / hunter2`
    _password(rf"{_ENTERING}[^\n/]{{0,60}}?[\s:](?:\[password\]|[\w.@\\-]+)\s+/\s+(?P<value>{_CHOSEN})"),
    # `log in with hunter2!`
    _password(rf"{_ENTERING}[^\n]{{0,60}}?{_BY}(?P<value>(?!\S{{1,6}}(?!\S)){_MIXED})"),
    # `log in as ann with hunter2`
    _password(rf"{_ENTERING}[ \t]+(?:as|als|como|comme)[ \t]+\S+{_BY}(?P<value>{_CHOSEN})"),
    # `door code is 4711 22#`
    _code(
        rf"{_CODE}{_AFTER_WORDS}[ \t]*(?:[:=]|{_BEING})?[ \t]*"
        r"(?P<value>(?<![\w./-])(?!\d{4}-\d\d-\d\d)\d[\d -]{2,10}\d#?)(?![\w-])"
    ),
    # `471122 is your code`
    _code(
        r"\b(?P<value>(?:[A-Z]-)?\d{4,8})\s+(?:is|ist|est|es)\s+(?:your|my|our|dein|mein|ihr|votre|mon|su|tu|seu)\b"
        r"[^.\n]{0,40}\b(?i:code|otp|pin|passcode)\b"
    ),
    # `code: 471122`
    _code(rf"(?i){_NO_STATUS}\bc[oó]d(?:e|igo)\b(?: de \w+| is| es)?:? (?P<value>\d{{5,8}})\b"),
    # `backup codes: 1a2b3c 4d5e6f`
    _code(rf"{_CODES}(?:[^:\n]{{0,40}}:|\s+(?:are|is))?\s*(?P<value>(?:[\w-]*\d[\w-]*[\s,;/]*){{1,24}})"),
)

# `_OPERAND` is the secret argument of a command, `_BEFORE` the other arguments before it.
_OPERAND = r"(?P<value>[^\s|;&]+)"
_BEFORE = r"[^|;&]{0,256}?"
# Commands that take a password as -p, and commands that read one from their input.
_ASKED_BY_P = r"(?:sshpass|docker login|mysql\w*|mariadb\w*|mongo\w*|7z\w*|az login|cqlsh|influx|isql)"
_READS_INPUT = r"(?:sudo\s+-\w*S|(?:sudo\s+)?(?:ch)?passwd\b|[^|]{0,99}(?:--password-stdin|\blogin\b))"
# Options and arguments of commands, many of which take a password without naming it.
_IN_COMMANDS = (
    # `login ann password tulip`
    _password(r"\b(?:login\s+\S+|nmcli\b[^|;&\n]{0,99}?)\s+password\s+(?P<value>\S+)"),
    # `curl -u ann:hunter2`
    _password(r"(?<![\w-])(?:-u|--user|/user:\S+)\s+(?P<value>\S+)", _is_login),
    # `mysql -u root -p hunter2`
    _password(rf"\b{_ASKED_BY_P}\b{_BEFORE}\s-p\s?{_OPERAND}"),
    # `sqlcmd -S db -P hunter2`
    _password(rf"\b(?:sqlcmd|bcp|osql|ipmitool|unzip|zip)\b{_BEFORE}\s-P\s*{_OPERAND}"),
    # `redis-cli -a hunter2`
    _password(rf"\b(?:redis-cli|https?)\b(?!:){_BEFORE}\s-a\s+{_OPERAND}"),
    # `ldapsearch -w hunter2`
    _password(rf"\bldap\w+\b{_BEFORE}\s-w\s*{_OPERAND}"),
    # `openssl enc -k hunter2`
    _password(rf"\bopenssl\b{_BEFORE}\s-k\s+{_OPERAND}"),
    # `xfreerdp /p:hunter2`
    _password(r"(?<!\S)/p(?:w|wd|ass|assword)?:(?P<value>[^\s=]+)(?!\S)"),
    # `ssh-keygen -N hunter2`
    _password(rf"\bssh-keygen\b{_BEFORE}\s-N\s*(?P<value>{_WHOLE}|\S+)"),
    # `schtasks /rp hunter2`
    _password(r"(?<!\S)/rp\s+(?P<value>\S+)"),
    # `ACL SETUSER ann on >hunter2`
    _password(r"\bSETUSER\b[^\n]{0,99}?>(?P<value>\S+)"),
    # `AUTH hunter2`
    _password(rf"\b(?:LOGIN\s+\S+|AUTH)\s+(?P<value>{_CHOSEN})"),
    # `radtest ann hunter2`
    _password(r"\bradtest\s+\S+\s+(?P<value>\S+)"),
    # `smbclient -U ann%hunter2`
    _password(r"\s-U\s*[^\s%]+%(?P<value>\S+)"),
    # `htpasswd -b users ann hunter2`
    _password(r"\bhtpasswd\s+-\w*b\w*\s+(?:-\w+\s+)*\S+\s+\S+\s+(?P<value>\S+)"),
    # `rabbitmqctl add_user ann hunter2`
    _password(r"\b(?:add_user|change_password|set_password)\s+\S+\s+(?P<value>[^\s-]\S*)"),
    # `net use x: \\host\share hunter2`
    _password(r"\bnet use\b[^\n]{0,99}?\\\\\S+\s+(?P<value>[^\s/]\S*)"),
    # `net user ann hunter2`
    _password(rf"(?<!\.)\b(?:net user|rasdial \S+)\s+\S+\s+(?P<value>{_CHOSEN})"),
    # `sqlplus ann/hunter2@db`
    _password(r"\b(?:sqlplus|sqlldr|expdp|impdp)\s+[^\s/]+/(?P<value>[^\s@]+)"),
    # `ann:hunter2@db`
    _password(r"(?<![\w/.@-])[\w.-]+:(?P<value>[^\s/:@]+)@(?=[\w(])", mixes),
    # `ann:tulip-rose@db`
    _password(rf"(?<![\w/.@-])\w+:(?P<value>{_CHOSEN})@(?=[\w(])"),
    # `openssl rsa -passin pass:hunter2`
    _password(r"\bpass:(?P<value>[^\s\"'`]+)"),
    # `echo hunter2 | docker login --password-stdin`
    _password(rf"\becho\s+(?:-n\s+)?(?P<value>[^|;&]{{1,256}}?)\s*\|\s*{_READS_INPUT}"),
    # `kinit ann <<< hunter2`
    _password(rf"\b(?:chpasswd|cryptsetup|gpg|kinit|passwd)\b{_BEFORE}<<<\s*(?P<value>{_QUOTED}|\S+)"),
    # `--password-file=<(echo hunter2)`
    _password(rf"(?:{_NAME})\S{{0,12}}=<\(\s*(?:echo|printf)\s+(?P<value>[^)\n]+)\)"),
    # `expect "password:"; send "hunter2"`
    _password(rf"(?:{_NAME})[^\n]{{0,20}}?[\"'].{{0,9}}\bsend\s+(?P<value>{_WHOLE})"),
    # `send "hunter2" at the password prompt`
    _password(rf"\bsend\s+(?P<value>{_WHOLE})[^\n]{{0,40}}?(?:{_NAME})"),
    # `auth sha hunter2`
    _password(r"\b(?i:auth\s+(?:md5|sha\S*)|priv\s+(?:3?des|aes)(?:\s+\d+)?)\s+(?P<value>[^\s,;]{6,})"),
    # `requirepass hunter2`
    _password(r"\b(?:requirepass|masterauth)\s+(?P<value>\S+)"),
    # `snmp-server community hunter2`
    _password(rf"\b(?:community|(?:radius|tacacs)[^\n]{{0,80}}\bkey)\s+(?P<value>{_CHOSEN})"),
    # `password 7 hunter2`
    _password(rf"\b(?:password|secret|key)\s+\d\s+(?P<value>{_CHOSEN})"),
)

# "at" and "dot" in e-mail addresses that are spelled out to hide them from robots.
_AT, _DOT = r"(?:[\[(]at[\])]|\bat\b)", r"(?:[\[(]dot[\])]|\bdot\b)"
# Two to five groups of digits: " 170 1234567", "-123-4567".
_PHONE_DIGITS = r"(?:[ ./-]?\(?\d{1,8}\)?){2,5}(?![\w-]|[.:]\d)"
_BY_SHAPE = (
    # `token: a1b2c3`
    rule("[token]", rf"(?:{_WEAK})(?:\s+(?:is|was)\s+|{_ASSIGNS}){_VALUE}", _has_digit),
    # `Bearer abcdef123`
    rule("[token]", r"(?i)\b(?:basic|bearer|token|ssws)\s+(?P<value>[\w.~+/=-]{6,})", mixes),
    # `$2b$12$abcdefghijkl`
    rule("[hash]", r"\$[\w-]{1,12}\$[\w./$=,+-]{8,}", bool),
    # `ann at example dot com`
    rule("[email]", rf"(?i)(?<![\w.+-])[\w.+-]{{1,64}}\s*{_AT}\s*[\w-]{{1,64}}\s*{_DOT}\s*\w+", bool),
    # `+49 170 1234567`
    rule("[phone]", rf"(?<![\w.+/:-])(?:\+|00)\d{_PHONE_DIGITS}", phone),
    # `(030) 123 4567`
    rule("[phone]", rf"(?<![\w.+/:-])(?:\(0?\d{{2,5}}\)|0\d{{1,4}}|1[-. ]\(?\d{{3}}\)?){_PHONE_DIGITS}", phone),
    # `AB12-CD34-EF56-GH78`
    rule("[secret]", r"(?<![\w-])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,}(?![\w-])", _has_digit),
)
# `_EARLY_RULES` run before the rules of hmxgraph.text.masking, which might mask only a part of such a value.
# `_LATE_RULES` run after them.
_EARLY_RULES = (*_KNOWN_FORMS, *_IN_FIELDS)
_LATE_RULES = (
    # `--db-password tulip`
    _password(rf"(?<![\w-])--?[\w-]*(?:{_NAME})(?:\s+|=)(?P<value>{_QUOTED}|[^\s;|&\"'`]+)"),
    # `password: tulip`
    _password(rf"(?:{_NAME}){_ASSIGNS}{_VALUE}"),
    *_IN_PROSE,
    *_IN_COMMANDS,
    *_BY_SHAPE,
)


class Rules(NamedTuple):
    """Rules that apply to a text before and after those of :mod:`hmxgraph.text.masking`."""

    before: tuple[MaskRule, ...]
    after: tuple[MaskRule, ...]


def _rules_for(text: str) -> Rules:
    """The rules that may match *text*. Most rules need the name of a secret, which few texts contain.

    >>> len(_rules_for("the password is wrong").after) > len(_rules_for("it is wrong").after)
    True

    """
    return ALL if _NAMES_SECRET.search(text) else _NAMELESS


def _nameless(rules: tuple[MaskRule, ...]) -> tuple[MaskRule, ...]:
    return tuple(rule for rule in rules if _NAME not in rule.pattern.pattern)


_RANDOM = rule("[secret]", _RUN.pattern, _is_random)
# Rules that need the name of a secret can match only texts that match this. It includes words for Wi-Fi, because after
# them the Wi-Fi rule also accepts "key" as a name.
_NAMES_SECRET = re.compile(rf"{_NAME}|{_DOOR}|(?i:{_WIRELESS})")
ALL = Rules(_EARLY_RULES, (*_LATE_RULES, _RANDOM))
_NAMELESS = Rules(_nameless(_EARLY_RULES), (*_nameless(_LATE_RULES), _RANDOM))


# Secrets and personal data are recognised by their name, their form or their randomness.
#
# A fingerprint is shared with others, and masking a harmless word costs little. So these rules mask more than those of
# :mod:`hmxgraph.text.masking`: everything that is called a password or looks random. Marks such as [password] are not
# masked again, so that masking a text twice seldom changes it further.

_ASKING = re.compile(rf"(?:--?|/)?[\w.-]*(?:{_STRONG}|{_KEY})[:=]?")


def mask_for_export(text: str) -> str:
    """*text* with everything masked that looks like a secret or personal data.

    >>> mask_for_export("redis-cli -u redis://:hunter2@cache; Passwort: leise-laute")
    'redis-cli -u [password] Passwort: [password]'
    >>> mask_for_export("login [Passwort: tulpe] as [password]")
    'login [Passwort: [password] as [password]'
    >>> mask_for_export("my password is [password 0cd9].")
    'my password is [password 0cd9].'
    >>> mask_for_export('{"passwords": ["tulip", "rose"]} and secrets: [alpha, beta]')
    '{"passwords": [[password]]} and secrets: [[password]]'

    """
    before, after = _rules_for(text)
    return masked(mask_secrets(masked(text, before)), after)


def asks_for_secret(text: str) -> bool:
    """Whether *text* is an option or a name after which the next argument is a secret.

    >>> asks_for_secret("--password"), asks_for_secret("--user")
    (True, False)

    """
    return bool(_ASKING.fullmatch(text))
