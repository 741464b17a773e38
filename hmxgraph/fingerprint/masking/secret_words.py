"""By what names secrets go, what their values look like, and what is said about them that is none."""

import re

from hmxgraph.text.masking_rules import UNSET

STRONG = (
    r"(?i:pass(?:word|wd|phrase|code|wort)|kennwort|contrase[nñ]a|mot[ _]de[ _]passe|senha|palavra-passe|wachtwoord"
    r"|parola(?: d'ordine)?|has[lł]o\b|heslo|l[oö]senord|salasana|adgangskode|passord|jelszó|lozinka|şifre|пароль"
    r"|密码|密碼|パスワード|비밀번호|كلمة المرور|סיסמה|pwd|secret|securestring|credentials?|mnemonic)"
    r"|(?<![A-Za-z])(?i:mdp|pw|psk|(?:ask|db|key|root|smtp|ssh|store|sudo|trust|user)?pass)(?![A-Za-z])"
    r"|(?<=[a-z])Pass(?![a-z])"
)
KEY = (
    r"(?i:(?:access|account|api|app|auth|client|encryption|licen[cs]e|master|private|service|shared|signing|storage"
    r"|subscription)[ _-]?key|(?:api|access|auth|bearer|csrf|id|personal|refresh|security|session|xsrf)[ _-]?token"
    r"|session[_-]?id|\.sid|(?:challenge|security|secret)[ _-]?answer)"
)
# Names of much that is no secret too: a value has to look like one. How many tokens there are is none.
WEAK = (
    r"(?<![A-Za-z])(?i:token(?!s)|keys?|code|otp|pin|cvv2?|cvc|sid|sig(?:nature)?|auth(?:orization)?|cookie"
    r"|clave|schlüssel|chiave|clé)"
)
# Not that of a mark, which stays as it is when it is read again.
NAME = rf"(?<!\[)(?:{STRONG}|{KEY})[\w-]{{0,12}}"
# Names only of what looks like a secret, and otherwise of what opens a door.
DOOR = r"\b(?i:clave|schlüssel)\b"
# What stands between a name and its value; in code and markup the name may be closed before.
IS = r"\\*[\"']?\s*(?:=>|:=|={1,3}|:|%3[AD])\s*"
QUOTED = r"\\*\"[^\"\n]*\"?|'[^'\n]*'?|`[^`\n]*`?"
WHOLE = r"(?:\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`)"
VALUE = rf"(?P<value>{QUOTED}|[^\s,;&\"'`]+)"
NO_SIGN = r"[^\s,;\"'`]+"
# No address, path, version or range of numbers; and no name of a place or machine, such as us-east-1.
_NO_ADDRESS = r"(?!\S{0,64}://|[/~\[<]|\.{1,2}/|v?\d+(?:\.\d+)+(?!\w)|\d{1,3}(?:-\d{1,3})?(?![\w-]))"
_NO_MACHINE = r"(?![a-z]+(?:-[a-z]+){0,5}-[a-z]{0,9}\d{1,2}(?![\w-]))"
# A word that people choose for a password and seldom write otherwise: with digits, signs, capitals inside or signs
# between its letters; no path, no address.
CHOSEN = rf"{_NO_ADDRESS}(?=[^\s\"'`]{{0,64}}?(?:\d|[!#$%&*+?^~]|[^\W_][._-][^\W_]|[a-z][A-Z]))[^\s,;\"'`]{{4,128}}"
# One that is hardly anything else: letters with digits or signs.
MIXED = (
    rf"{_NO_ADDRESS}{_NO_MACHINE}(?=[^\s,;\"'`/]{{0,64}}?[^\W\d_])(?=[^\s,;\"'`/]{{0,64}}?[\d!#$%&*+?^~])"
    r"[^\s,;\"'`/()«»„“”「」]{6,64}(?![^\s,;\"'`()«»„“”「」])"
)
# What is said about passwords, as opposed to what is one.
_SAID = frozenset(
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
_MARKS = ("[", "<", "***", "$", "%(", "{")
_NOTHING = UNSET | {"on", "off"}
_SHORTEST_CODE = 4
_QUOTES = "\\\"'`"
_PATH = re.compile(r"(?:/[a-z][a-z_.-]+){2,}")


def is_value(value: str) -> bool:
    """Whether *value* is one: not empty, unset, masked already, a variable, or the path of a file that has it.

    >>> [is_value(each) for each in ('""', "null", "[password]", "${DB_PASSWORD}", "/run/secrets/db", "tulip")]
    [False, False, False, False, False, True]

    """
    bare = value.strip(_QUOTES + " ")
    if bare.lower() in _NOTHING or bare.startswith(_MARKS):
        return False
    return not (_PATH.fullmatch(bare) or (bare.isdigit() and len(bare) < _SHORTEST_CODE))


def is_chosen(word: str) -> bool:
    """Whether *word* is a password rather than something said about one: "is wrong", "was reset", "is required"."""
    bare = word.strip(_QUOTES + ".,;:!?()").lower()
    return is_value(word) and bare not in _SAID and not bare.endswith(("ed", "ing"))


def has_digit(value: str) -> bool:
    """Whether there is a digit in it."""
    return is_value(value) and any(map(str.isdigit, value))


def mixes(word: str) -> bool:
    """Whether *word* has two of: letters, digits, signs that no word is written with."""
    bare = word.strip(_QUOTES + ".,;:!?()")
    strange = any(not sign.isalnum() and sign not in "-_/.:" for sign in bare)
    kinds = (any(map(str.isdigit, bare)), any(map(str.isalpha, bare)), strange)
    return is_value(word) and len(bare) >= 6 and sum(kinds) > 1


def is_login(word: str) -> bool:
    """Whether *word* is a name with a password, or a password by its looks."""
    return "://" not in word and (mixes(word) or ":" in word.strip(_QUOTES)) and is_value(word)
