"""Secrets and personal data in whatever travels: told by the name they are given, by their shape, by their randomness.

A fingerprint leaves the house, and a word too many masked costs it little. So these rules are stricter than those of
:mod:`hmxgraph.text.masking`, which come between: what is named a password is one, and so is what nobody would have
chosen as a word. Marks are no secrets, so that masked text seldom changes when it is masked again.
"""

import re

from hmxgraph.fingerprint.masking.secret_rules import rules_for
from hmxgraph.fingerprint.masking.secret_words import KEY, STRONG
from hmxgraph.text.masking import mask_secrets, masked

_ASKING = re.compile(rf"(?:--?|/)?[\w.-]*(?:{STRONG}|{KEY})[:=]?")


def travelling(text: str) -> str:
    """*text* without anything that might be a secret or lead to a person.

    >>> travelling("redis-cli -u redis://:hunter2@cache; Passwort: leise-laute")
    'redis-cli -u redis://[password]@cache; Passwort: [password]'

    """
    before, after = rules_for(text)
    return masked(mask_secrets(masked(text, before)), after)


def asks_for_secret(text: str) -> bool:
    """Whether what follows *text* in a list of arguments is a secret.

    >>> asks_for_secret("--password"), asks_for_secret("--user")
    (True, False)

    """
    return bool(_ASKING.fullmatch(text))
