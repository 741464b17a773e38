"""The actions that a question is about, and the failure that it reports."""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, takewhile

from hmxgraph.recall.knowledge import ASKED_TO, OFTEN, PROCEDURES, Guidance, KnownArtifact
from hmxgraph.recall.question import ANY_FAILURE, LONGEST_QUESTION, Question, without_reporting_verb
from hmxgraph.text.terms import search_text, terms

# A question reports a failure if it contains this share of the failure's words. The share is lower if the question
# names the action, and lowest if it also speaks of trouble, since people quote the first part of a message.
_REPORTED, _REPORTED_WITH_ACTION, _QUOTED_WITH_ACTION = 0.8, 0.6, 0.4
# A question that neither names the action nor speaks of trouble can only report a failure with at least this many
# words.
_DISTINCTIVE_WORDS = 4
# Verbs that do not show which action is asked for, because they occur in any request.
_COMMON_VERBS = frozenset(terms("get find look make take give put"))
# Words that look like a request, but are none: nouns ("our booking", "the return") and past actions ("I cancelled").
_NO_REQUEST = re.compile(
    r"\b(?:my|our|your|his|her|their|the|this|that)\s+\w+|\b(?:i|we|he|she|they|have|has|had|was|were|been)\s+\w+ed\b",
    re.IGNORECASE,
)
# A slot stands for a part of a failure's message that varies: "<path>", or "<n>" for a number.
_SLOT, _NUMBER_SLOT = re.compile(r"<[^<>\s]+>"), re.compile(r"<n(?:umber)?>")
# Maximum number of words that a slot stands for, and of words of a message that are compared with a question.
_SLOT_WORDS, _MESSAGE_WORDS = 4, 40
# The type of an error, such as "AssertionError". In a report, the words before it only say where the error occurred.
_ERROR_TYPE = re.compile(r"\w(?:error|exception)$", re.IGNORECASE)
# Punctuation before and after a word of a message.
_OPENING, _CLOSING = "\"'`\u201c\u2018([", ".,;:!?\"'`\u201d\u2019)]"
# A message with at least ``_SURE_WORDS`` words besides its slots is recognised anywhere in the question, a message with
# at least ``_LEAST_WORDS`` only where a message may begin.
_SURE_WORDS, _LEAST_WORDS = 4, 2
# A quotation is an error message only if it has at least this many words that are not common to all failures: "the
# tests fail" is none.
_SHORTEST_MESSAGE = 2


def remedies(question: Question, artifacts: Iterable[KnownArtifact], failure: str) -> frozenset[str]:
    """Return the ids of the playbooks for *failure* and of the best playbook for a failure that the question reports.

    *failure* is the key of the failure of the running session's last action, or "". A question reports a failure if it
    contains the failure's message (:func:`_quoted_words`), or enough of its words (:func:`_described_words`). The best
    playbook has the most words in common with the question; among several, one whose action the question names wins.
    "The tests fail, what now?" quotes no message: if there are playbooks for *failure*, it refers to that failure.

    >>> from hmxgraph.recall.question import understood
    >>> def playbook(name, key):
    ...     return KnownArtifact(name, "failure_playbook", "", "", 0, "", "active", 0.5, 0, failures=(key,))
    >>> known = [playbook("p1", "branch upstream"), playbook("p2", "disk full"), playbook("p3", "branch protect push")]
    >>> sorted(remedies(understood("git push failed: the branch has no upstream", 0), known, "disk full"))
    ['p1', 'p2']

    """
    playbooks = [artifact for artifact in artifacts if artifact.failures]
    message_terms = _terms_without_actions(question, {action for playbook in playbooks for action in playbook.actions})
    words = list(_words_and_beginnings(question.text[:LONGEST_QUESTION]))
    matches = [(_described_words(playbook, question, message_terms), playbook.artifact_id) for playbook in playbooks]
    matches += [((_quoted_words(_message(playbook), words), 0), playbook.artifact_id) for playbook in playbooks]
    best = max(matches, default=((0, 0), ""))
    matching_ids = {artifact.artifact_id for artifact in playbooks if failure and failure in artifact.failures}
    message = [term for term in terms(question.error) if term not in ANY_FAILURE]
    if matching_ids and len(message) < _SHORTEST_MESSAGE:
        return frozenset(matching_ids)
    return frozenset(matching_ids | ({best[1]} if best[0][0] else set()))


def actions_named(question: Question, artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the actions of procedures that the question names, with or without the program: "git commit" by "commit".

    >>> from hmxgraph.recall.question import understood
    >>> schema = KnownArtifact("s", "task_schema", "", "", 0, "", "active", 0.5, 0, actions=("git commit", "git add"))
    >>> sorted(actions_named(understood("How do I commit here?", 0), [schema]))
    ['git commit']

    """
    names = {action: search_text(action.split(" ", 1)[-1]) for action in _actions_of_procedures(artifacts)}
    return frozenset(action for action, name in names.items() if name and question.mentions(name))


def actions_asked(question: Question, artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the actions of procedures, and the changes of :func:`changes_of_policies`, whose verb the question uses.

    The verb is the first word of an action's name. It does not count if it is a common one ("get"), or if the question
    uses it only as a noun or in the past tense ("the return", "I returned").

    >>> from hmxgraph.recall.question import understood
    >>> schema = KnownArtifact("s", "task_schema", "", "", 0, "", "active", 0.5, 0, actions=("get_order", "return_it"))
    >>> sorted(actions_asked(understood("I would like to return the lamp", 0), [schema]))
    ['return_it']
    >>> sorted(actions_asked(understood("Take her off the return of mine, I returned it", 0), [schema]))
    []

    """
    known = tuple(artifacts)
    request_terms = terms(_NO_REQUEST.sub(" ", question.text[:LONGEST_QUESTION]))
    verbs = frozenset(question.terms).intersection(request_terms) - _COMMON_VERBS
    actions = _actions_of_procedures(known) | changes_of_policies(known)
    return frozenset(action for action in actions if not verbs.isdisjoint(search_text(action).split()[:1]))


def _actions_of_procedures(artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    procedures = (artifact for artifact in artifacts if artifact.artifact_type in PROCEDURES)
    return frozenset(chain.from_iterable(procedure.actions for procedure in procedures))


def changes_of_policies(artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the changes that policies apply to if the user asks for them."""
    policies = [artifact for artifact in artifacts if artifact.artifact_type == "decision_policy"]
    about_changes = [policy for policy in policies if str(policy.content.get("condition", "")).startswith(ASKED_TO)]
    return frozenset(action for policy in about_changes for action in policy.actions[-1:])


def actions_in_trouble(question: Question, artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the actions whose whole name the question contains; none if it does not speak of trouble."""
    known = {action for artifact in artifacts for action in artifact.actions} if question.troubled else set[str]()
    return frozenset(action for action in known if question.mentions(search_text(action)))


def actions_suspected(question: Question, artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the actions of playbooks whose names share at least half of their words with the question.

    There are none if the question does not speak of trouble. A program's name before a subcommand does not count,
    because it does not say what the action does.

    >>> from hmxgraph.recall.question import understood
    >>> about = {"failures": ("full",), "actions": ("book_seat",)}
    >>> playbook = KnownArtifact("p", "failure_playbook", "", "", 0, "", "active", 0.5, 0, **about)
    >>> sorted(actions_suspected(understood("Booking is rejected", 0), [playbook]))
    ['book_seat']

    """
    if not question.troubled:
        return frozenset()
    known = {action for artifact in artifacts if artifact.failures for action in artifact.actions}
    return frozenset(action for action in known if _calls_for(question, action.split(" ", 1)[-1]))


def warning(question: Question, artifacts: Iterable[KnownArtifact], guidance: Guidance) -> str:
    """Return the id of the playbook to show before anything has failed, or "".

    It warns of a failure of an expected step if the question has at least half of the words of the step's action. The
    failure must be frequent, or have occurred twice and have a word of the question in its message. One warning is
    enough: the playbook with such a word, otherwise the one that was observed most often.
    """
    ahead = [each for each in artifacts if guidance.lies_ahead(each) and _calls_for(question, each.actions[0])]
    named = {each.artifact_id for each in ahead if _is_named(question, each)}
    warnings = [each for each in ahead if each.artifact_id in named or each.observed_count >= OFTEN]
    best = sorted(warnings, key=lambda each: (each.artifact_id not in named, -each.observed_count, each.artifact_id))
    return best[0].artifact_id if best else ""


def _is_named(question: Question, playbook: KnownArtifact) -> bool:
    """Whether the question has a word of the playbook's message that is not in the name of the action."""
    matter = set(search_text(" ".join(_message(playbook))).split()) - set(search_text(playbook.actions[0]).split())
    return not matter.isdisjoint(question.terms)


def _calls_for(question: Question, action: str) -> bool:
    """Whether the question has at least half of the words in the name of *action*.

    >>> from hmxgraph.recall.question import understood
    >>> asked = understood("Return the lamp of my order", 0)
    >>> _calls_for(asked, "return_order_items"), _calls_for(asked, "get_order_details")
    (True, False)

    """
    words_of_action = set(search_text(action).split())
    return bool(words_of_action) and 2 * len(words_of_action & set(question.terms)) >= len(words_of_action)


def _terms_without_actions(question: Question, actions: AbstractSet[str]) -> frozenset[str]:
    """Return the terms of the question without the first mention of each action and the verb before a quoted error.

    Neither is part of the error message: ``get_order returned "Error: gone"`` is not about returning an order.
    """
    text = without_reporting_verb(question.text[:LONGEST_QUESTION])
    for action in sorted(actions, key=lambda name: (-len(name), name)):
        text = text.replace(action, " ", 1)
    return frozenset(terms(text))


def _message(playbook: KnownArtifact) -> list[str]:
    """Return the words of the message that *playbook* is about, without those that only say where the error occurred.

    >>> def message(pattern):
    ...     content = {"failure_pattern": pattern}
    ...     return _message(KnownArtifact("p", "failure_playbook", "", "", 0, "", "active", 0.5, 0, content))
    >>> message("FAILED <path> - AssertionError: <n> != <n>"), message("helm: release <name> is stuck.")
    (['assertionerror', '<n>', '!=', '<n>'], ['release', '<name>', 'is', 'stuck'])

    """
    raw_words = str(playbook.content.get("failure_pattern", "")).split()
    error_types = (index for index, word in enumerate(raw_words) if _ERROR_TYPE.search(_bare(word)))
    after_programs = (index for index, word in enumerate(raw_words) if not word.endswith(":"))
    start = next(chain(error_types, after_programs), 0)
    return [_bare(word) for word in raw_words[start : start + _MESSAGE_WORDS]]


def _words_and_beginnings(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word of *text*, and whether a message may begin with it.

    That is at the start of a line, after a colon, and after a quotation mark or bracket.
    """
    for line in text.splitlines():
        before = ":"
        for word in line.split():
            yield _bare(word), before.endswith(":") or word[0] in _OPENING
            before = word


def _bare(word: str) -> str:
    return word.lstrip(_OPENING).rstrip(_CLOSING).casefold() or word


def _quoted_words(message: Sequence[str], words: Sequence[tuple[str, bool]]) -> int:
    """Return the number of words in *message* besides its slots if *words* contain it with values for them; else 0.

    A value has up to four words. The value of a number slot ("<n>"), or of a slot that is part of a word ("v<n>"), has
    only one.

    >>> def quoted(text):
    ...     message = ["release", "<name>", "is", "in", "state", "<name>"]
    ...     return _quoted_words(message, list(_words_and_beginnings(text)))
    >>> quoted("helm: release labels is in state pending"), quoted("Which release labels is in no state?")
    (4, 0)
    >>> quoted("the release of my labels is in state pending")
    4

    """
    count = sum(not _SLOT.search(word) for word in message)
    if count < _LEAST_WORDS:
        return 0
    # The indexes at which the next word of the message may be.
    indexes = {index for index, (_, begins) in enumerate(words) if begins or count >= _SURE_WORDS}
    for pattern in message:
        indexes = {end for index in indexes for end in _ends(pattern, words, index)}
    return count if indexes else 0


def _ends(pattern: str, words: Sequence[tuple[str, bool]], start: int) -> Iterator[int]:
    """Yield the index after each sequence of words that begins at *start* and matches *pattern*, a word or slot."""
    if start < len(words) and _is_like(words[start][0], pattern):
        yield start + 1
        if _SLOT.fullmatch(pattern) and not _NUMBER_SLOT.fullmatch(pattern):
            further = takewhile(lambda word: not word[1], words[start + 1 : start + _SLOT_WORDS])
            yield from (start + count for count, _ in enumerate(further, start=2))


def _is_like(word: str, pattern: str) -> bool:
    """Whether *word* is *pattern* with any text in place of its slots; if one is a number, *word* must have a digit.

    >>> _is_like("a.py", "<path>"), _is_like("v3.2", "v<n>"), _is_like("v", "v<n>"), _is_like("w3", "v<n>")
    (True, True, False, False)

    """
    if word == pattern or "<" not in pattern:
        return word == pattern
    before, *after = _SLOT.split(pattern)
    fits = bool(after) and word.startswith(before) and word.endswith(after[-1])
    return fits and (not _NUMBER_SLOT.search(pattern) or any(map(str.isdigit, word)))


def _described_words(artifact: KnownArtifact, question: Question, message_terms: frozenset[str]) -> tuple[int, int]:
    """Return how many words of the playbook's failure the question has (0 if too few), and 1 if it names the action.

    Of several failures, the one with the most words in the question counts. The question reports a failure in two
    cases:

    - It has the share of the failure's words that :func:`_least_share` returns, at least two of them (or the only one).
      For a failure of fewer than ``_DISTINCTIVE_WORDS`` words, it must also speak of trouble or name the action.
    - It speaks of trouble, and its specific words are at least two and all belong to the failure. Specific words are
      those that are neither in ``ANY_FAILURE`` nor in the names of the actions.
    """
    named = any(map(question.mentions, map(search_text, artifact.actions)))
    least = _least_share(named=named, troubled=question.troubled)
    specific = message_terms - ANY_FAILURE - set(search_text(" ".join(artifact.actions)).split())
    keys = [set(key.split()) for key in artifact.failures]
    matched = [
        len(message_terms.intersection(key))
        for key in keys
        if (
            len(message_terms.intersection(key)) >= max(least * len(key), min(2, len(key)))
            and (named or question.troubled or len(key) >= _DISTINCTIVE_WORDS)
        )
        or (question.troubled and len(specific) > 1 and specific <= key)
    ]
    return max(matched, default=0), int(named)


def _least_share(*, named: bool, troubled: bool) -> float:
    """Return the share of a failure's words that a question must contain to report it."""
    if not named:
        return _REPORTED
    return _QUOTED_WITH_ACTION if troubled else _REPORTED_WITH_ACTION
