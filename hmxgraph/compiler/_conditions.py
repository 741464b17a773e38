"""When an option or a step applies: the words of requests that set those sessions apart."""

import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from hmxgraph.compiler._wording import distinctive, listed, plain_words, term_counts
from hmxgraph.compiler.failures import Stratum, significance
from hmxgraph.compiler.summary import Step
from hmxgraph.text.terms import terms

MENTIONS = "the request mentions"
_MOST_WORDS = 20
# Requests needed on each side; minimum share of them, and maximum share of rivals, with the word.
_FEW, _MOST, _HARDLY = 5, 0.6, 0.15
# The same shares for a word that the option itself does not use.
_NEARLY_ALL, _NEARLY_NONE = 0.9, 0.05
_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
# Standard errors above chance: one false alarm in a thousand, because many words are compared.
_TELLING = 3.0


def what_requests_mention(requests: Sequence[str], rival_requests: Sequence[str], spoken: AbstractSet[str]) -> str:
    """The condition "the request mentions ..." that sets these requests apart from the rival ones; "" if there is none.

    *spoken* holds the terms of the option itself.
    """
    if len(requests) < _FEW or len(rival_requests) < _FEW:
        return ""
    here, there = term_counts(requests), term_counts(rival_requests)
    words = distinctive(requests, here + there, len(requests) + len(rival_requests), _MOST_WORDS)
    telling = [
        word
        for word in plain_words(words, requests)
        if _sets_apart(word, (requests, here), (rival_requests, there), tied=terms(word)[0] in spoken)
    ]
    own = [word for word in telling if terms(word)[0] in spoken]
    return f"{MENTIONS} {listed((own or telling)[:2], 'or')}" if telling else ""


def terms_of(action: str, steps: Sequence[Step]) -> frozenset[str]:
    """The terms of an action: of its name, the command lines of *steps* and the names of their inputs."""
    texts = [action, *(step.command for step in steps), *(name for step in steps for name, _ in step.inputs)]
    return frozenset(term for text in dict.fromkeys(texts) for term in terms(_BETWEEN_WORDS.sub(" ", text)))


def _sets_apart(
    word: str, mine: tuple[Sequence[str], Counter[str]], theirs: tuple[Sequence[str], Counter[str]], *, tied: bool
) -> bool:
    """Whether most of *mine* and hardly any of *theirs* use the word, beyond chance.

    A word that the option itself does not use must separate them almost perfectly: many words are compared, and
    turns of phrase ("either", "showing") say nothing about the request.
    """
    most, hardly = (_MOST, _HARDLY) if tied else (_NEARLY_ALL, _NEARLY_NONE)
    term = terms(word)[0]
    table = Stratum(len(mine[0]), mine[1][term], len(theirs[0]), theirs[1][term])
    distinct = table.affected >= most * table.having and table.others_affected <= hardly * table.others
    return distinct and significance([table]) >= _TELLING and (tied or not word.endswith("ing"))
