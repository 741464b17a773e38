"""Rules in messages: sentences in which a person says what holds for a kind of work, whoever does it.

Rules of the user who asks are memories. Those of other users of the tenant are not, because they may not speak for
everybody; a pack shows them as what they are: messages, with the names of their authors.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from hmxgraph.recall.question import sentences
from hmxgraph.text.terms import terms

# Number of texts whose rules are cached.
_CACHED_TEXTS = 16_384
# The share of a request that a rule must contain: more if it shares no term with the request and an action.
_LEAST_SHARE_OF_ACTION, _LEAST_SHARE = 0.15, 0.25
# A rule is lifted by a later message that has this many of its terms.
_TERMS_LIFTED = 2
_LIFTS = re.compile(
    r"\b(?:may|can|are allowed to) (?:[\w'\u2019-]+ ){1,8}again\b"
    r"|\bno longer (?:appl(?:y|ies)|holds?|needed|necessary)\b"
    r"|\b(?:rule|ban|freeze|limit|stop)\b[^.!?]{0,40} (?:is|are) (?:over|lifted|gone|off|history)\b"
    r"|\b(?:forget|scrap|drop) (?:the|that|my|our) [^.!?]{0,40}\b(?:rule|ban|freeze|limit)\b",
    re.IGNORECASE,
)
_APPROVAL = r"(?:ok(?:ay)?|approval|sign-?off|permission|consent|go-ahead|signature)"
_RULE = re.compile(
    r"(?<!i've )(?<!i have )(?<!\bi )(?<!\bas )(?<!\bhe )(?<!she )(?<!they )(?<!\bit )(?<!has )(?<!have )(?<!had )"
    r"\b(?:never|always)\b"
    r"|\b(?:must(?:n['\u2019]t)?|may not|no matter (?:who|what|how)|from now on|going forward|not allowed|forbidden"
    r"|mandatory|freeze|no (?:more|exceptions))\b"
    r"|\b(?:do not|don['\u2019]t) (?:ever |just )?\w+ (?:\w+ ){0,6}?"
    r"(?:any(?:thing|one|body|where)?|without|until|before|unless|after"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
    rf"|\bneeds? (?:(?!i\b)[\w'\u2019]+ ){{1,2}}{_APPROVAL}\b"
    rf"|\bwithout (?:asking|checking|(?:[\w'\u2019]+ ){{1,2}}{_APPROVAL})\b"
    r"|\b(?:nobody|no one|nothing|only) (?:\w+ )?(?:may|goes|go|is|are|can|gets?|if|when|after|with)\b"
    r"|\b(?:ask|call|tell|check with) (?:me|us|[A-Z]\w+) (?:first|before)\b|\bunless (?:i|we|[A-Z]\w+)\b"
    r"|^(?:if|when(?:ever)?|for) (?!i\b|you see\b)[^,?]{4,80}, (?:please |always |then )?"
    r"[a-z]+ (?:that|the|them|it|only|with|an?|to)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=_CACHED_TEXTS)
def rules(text: str) -> tuple[str, ...]:
    """Return the sentences of *text*, except questions, that state a rule.

    >>> rules("I'm Mara. Never deploy on a Friday. Shall I always ask?")
    ('Never deploy on a Friday.',)
    >>> rules("Refunds above 150 EUR need my OK. I always liked that shop. As always!")
    ('Refunds above 150 EUR need my OK.',)
    >>> rules("Don't restart anything without asking. Don't worry about it.")
    ("Don't restart anything without asking.",)

    """
    return tuple(each for each in sentences(text) if not each.endswith("?") and _RULE.search(each))


def rule_share(text: str, weight_by_term: Mapping[str, float], actions: Iterable[Collection[str]]) -> float:
    """Return the share of the request in the rules of *text*; 0 if they are not about its work.

    - *weight_by_term*: the terms of the request that events contain, with weights that add up to 1.
    - *actions*: the terms of each action that the request probably leads to.

    A rule is about the work if it names a whole action, if it contains a quarter of the request, or if it contains a
    smaller part of the request with a term of an action.

    >>> weights, deploy = {"ship": 0.4, "cart": 0.4, "product": 0.2}, [["deploy"]]
    >>> rule_share("Never deploy to production on Fridays", weights, deploy)
    0.2
    >>> rule_share("Always send invoices from production", weights, deploy)
    0.0

    """
    best = 0.0
    for rule in rules(text):
        rule_terms = frozenset(terms(rule))
        shared = rule_terms & weight_by_term.keys()
        share = sum(weight_by_term[term] for term in sorted(shared))
        of_action = share >= _LEAST_SHARE_OF_ACTION and any(not shared.isdisjoint(action) for action in actions)
        if share >= _LEAST_SHARE or of_action or any(map(rule_terms.issuperset, actions)):
            best = max(best, share)
    return best


@lru_cache(maxsize=_CACHED_TEXTS)
def lifted_in(text: str) -> frozenset[str]:
    """Return the terms of the sentences of *text* that lift a rule.

    >>> sorted(lifted_in("They apologised. You may book them for Casa Blu again."))
    ['blu', 'book', 'casa', 'may']

    """
    return frozenset(term for each in sentences(text) if _LIFTS.search(each) for term in terms(each))


def is_lifted(text: str, lifted: Iterable[Collection[str]]) -> bool:
    """Whether the rules of *text* have several of the terms that a later message *lifted*."""
    rule_terms = frozenset(term for rule in rules(text) for term in terms(rule))
    return any(len(rule_terms.intersection(each)) >= _TERMS_LIFTED for each in lifted)
