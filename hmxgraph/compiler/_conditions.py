"""Find the words by which the requests that led to one option differ from those that led to its rivals."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from hmxgraph.compiler._vocabulary import BETWEEN_WORDS
from hmxgraph.compiler._wording import distinctive, listed, plain_words, term_counts
from hmxgraph.compiler.failures import Stratum, significance
from hmxgraph.compiler.summary import Step
from hmxgraph.text.terms import terms

MENTIONS = "the request mentions"
# Maximum words compared.
_MOST_WORDS = 20
# Minimum requests of the option, and of its rivals.
_LEAST_REQUESTS = 5
# A word distinguishes the option if at least the first share of its requests, and at most the second share of the rival
# requests, use the word. The word occurs in the name of the option, or in its command lines and inputs.
_LEAST_SHARE, _MOST_RIVALS = 0.6, 0.15
# The same shares for any other word.
_LEAST_SHARE_UNRELATED, _MOST_RIVALS_UNRELATED = 0.9, 0.05
# Minimum standard errors above chance: about one false alarm in a thousand, because many words are compared.
_LEAST_SIGNIFICANCE = 3.0


def what_requests_mention(requests: Sequence[str], rival_requests: Sequence[str], own_terms: AbstractSet[str]) -> str:
    """The condition "the request mentions ..." that distinguishes these requests from the rival ones; "" if none does.

    It names at most two words. *own_terms* are the terms in the name, command lines and inputs of the option.
    """
    if min(len(requests), len(rival_requests)) < _LEAST_REQUESTS:
        return ""
    counts, rival_counts = term_counts(requests), term_counts(rival_requests)
    words = distinctive(requests, counts + rival_counts, len(requests) + len(rival_requests), _MOST_WORDS)
    distinguishing = [
        word
        for word in plain_words(words, requests)
        if _distinguishes(word, (requests, counts), (rival_requests, rival_counts), is_own=terms(word)[0] in own_terms)
    ]
    own_words = [word for word in distinguishing if terms(word)[0] in own_terms]
    return f"{MENTIONS} {listed((own_words or distinguishing)[:2], 'or')}" if distinguishing else ""


def terms_of(action: str, steps: Sequence[Step]) -> frozenset[str]:
    """The terms in the name of an action, and in the command lines and input names of its *steps*."""
    texts = [action, *(step.command for step in steps), *(name for step in steps for name, _ in step.inputs)]
    return frozenset(term for text in dict.fromkeys(texts) for term in terms(BETWEEN_WORDS.sub(" ", text)))


def _distinguishes(
    word: str,
    own_side: tuple[Sequence[str], Counter[str]],
    rival_side: tuple[Sequence[str], Counter[str]],
    *,
    is_own: bool,
) -> bool:
    """Whether most requests of *own_side* and hardly any of *rival_side* use the word, more clearly than by chance.

    Each side holds its requests and the number of requests with each term. *is_own* is set if the word is one of the
    option's own terms. Any other word must separate the sides almost perfectly and not end in "ing", because many words
    are compared, and some ("either", "showing") say nothing about the request.
    """
    least, most = (_LEAST_SHARE, _MOST_RIVALS) if is_own else (_LEAST_SHARE_UNRELATED, _MOST_RIVALS_UNRELATED)
    term = terms(word)[0]
    table = Stratum(len(own_side[0]), own_side[1][term], len(rival_side[0]), rival_side[1][term])
    separates = table.affected >= least * table.having and table.others_affected <= most * table.others
    return separates and significance([table]) >= _LEAST_SIGNIFICANCE and (is_own or not word.endswith("ing"))
