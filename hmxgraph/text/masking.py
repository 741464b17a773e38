"""Texts without what must not travel: ids that differ from run to run, secrets, personal data.

The marks left behind are stable, so two texts that differ in their ids only become equal.
"""

from collections.abc import Iterable

from hmxgraph.text.masking_rules import IDS, PERSONAL, SECRETS, Rule


def mask_ids(text: str) -> str:
    """*text* with ids, times and long numbers replaced by ``<uuid>``, ``<hex>``, ``<id>``, ``<time>``, ``<number>``.

    Versions, status codes and counts of up to three digits stay.

    >>> mask_ids("user omar_davis_3817: reservation JG7FMM not found (404)")
    'user <id>: reservation <id> not found (404)'

    """
    return masked(text, IDS) if any(map(str.isdigit, text)) or "@" in text else text


def mask_secrets(text: str, *, personal: bool = True) -> str:
    """*text* with secrets, and unless told otherwise personal data, replaced by marks such as ``[password]``.

    Secrets: private keys, API keys, tokens, passwords, card and account numbers. Personal data: e-mail addresses,
    phone numbers, street addresses and national ids, as far as their form gives them away.

    >>> mask_secrets("curl -H 'Authorization: Bearer abcdef123456' -d password=hunter2 mail ann@example.com")
    "curl -H 'Authorization: Bearer [token]' -d password=[password] mail [email]"

    """
    return masked(text, (*SECRETS, *PERSONAL) if personal else SECRETS)


def masked(text: str, rules: Iterable[Rule]) -> str:
    """*text* with what each of *rules* finds replaced, one after the other."""
    for rule in rules:
        text = rule.pattern.sub(rule.replacement, text)
    return text
