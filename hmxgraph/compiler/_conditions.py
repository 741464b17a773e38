"""Conditions of a policy's options: the words by which the requests of one option differ from those of its rivals."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from hmxgraph.compiler._vocabulary import BETWEEN_WORDS
from hmxgraph.compiler._wording import distinctive, listed, plain_words, term_counts
from hmxgraph.compiler.failures import Stratum, significance
from hmxgraph.compiler.summary import Step
from hmxgraph.text.terms import terms

MENTIONS = "the request mentions"
# Maximum words tried.
_MOST_WORDS = 20
# Minimum requests of the option, and of its rivals; minimum share of the option's requests that use the word, and
# maximum share of rival requests that do.
_LEAST_REQUESTS, _LEAST_SHARE, _MOST_RIVALS = 5, 0.6, 0.15
# The same shares for a word that is not among the option's own terms.
_LEAST_UNTIED, _MOST_UNTIED_RIVALS = 0.9, 0.05
# Minimum standard errors above chance: one false alarm in a thousand, because many words are compared.
_SIGNIFICANT = 3.0


def what_requests_mention(requests: Sequence[str], rival_requests: Sequence[str], own_terms: AbstractSet[str]) -> str:
    """The condition "the request mentions ..." that sets these requests apart from the rival ones; "" if there is none.

    It names at most two words. *own_terms* holds the terms of the option itself.
    """
    if min(len(requests), len(rival_requests)) < _LEAST_REQUESTS:
        return ""
    counts, rival_counts = term_counts(requests), term_counts(rival_requests)
    words = distinctive(requests, counts + rival_counts, len(requests) + len(rival_requests), _MOST_WORDS)
    telling = [
        word
        for word in plain_words(words, requests)
        if _distinguishes(word, (requests, counts), (rival_requests, rival_counts), tied=terms(word)[0] in own_terms)
    ]
    own_words = [word for word in telling if terms(word)[0] in own_terms]
    return f"{MENTIONS} {listed((own_words or telling)[:2], 'or')}" if telling else ""


def terms_of(action: str, steps: Sequence[Step]) -> frozenset[str]:
    """The terms in the name of an action, and in the command lines and input names of its *steps*."""
    texts = [action, *(step.command for step in steps), *(name for step in steps for name, _ in step.inputs)]
    return frozenset(term for text in dict.fromkeys(texts) for term in terms(BETWEEN_WORDS.sub(" ", text)))


def _distinguishes(
    word: str,
    own_side: tuple[Sequence[str], Counter[str]],
    rival_side: tuple[Sequence[str], Counter[str]],
    *,
    tied: bool,
) -> bool:
    """Whether most of *own_side* and hardly any of *rival_side* use the word, beyond chance.

    *tied* is set if the word is one of the option's own terms. Any other word must separate the two almost perfectly
    and not end in "ing": many words are compared, and some ("either", "showing") say nothing about the request.
    """
    least, most = (_LEAST_SHARE, _MOST_RIVALS) if tied else (_LEAST_UNTIED, _MOST_UNTIED_RIVALS)
    term = terms(word)[0]
    table = Stratum(len(own_side[0]), own_side[1][term], len(rival_side[0]), rival_side[1][term])
    distinct = table.affected >= least * table.having and table.others_affected <= most * table.others
    return distinct and significance([table]) >= _SIGNIFICANT and (tied or not word.endswith("ing"))
