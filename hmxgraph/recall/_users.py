"""If several users share a tenant: lines of other users name them, and do not answer questions of the asker."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.pool import EventPool, is_assistant
from hmxgraph.recall.question import PackRequest, Question
from hmxgraph.text.lines import attributed, event_line, speaker_name
from hmxgraph.text.terms import TokenCounter, search_text, words

# The speakers that are roles of users, not names.
_ROLES = frozenset({"user", "human", "customer", "client"})
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|we|us|our|ours)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# The first word of a user id is a name only if it has at least this many letters: the "u" of "u-17" is not.
_SHORTEST_NAME = 3


def _key(user_id: str) -> str:
    """Return a key that is the same for all spellings of *user_id*, as ``extraction.language.user_key`` does."""
    return " ".join(words(user_id)) or user_id.strip()


@dataclass(frozen=True)
class Asker:
    """Who asks: the key of the request's user, else those of the users who speak in the running session.

    ``named`` says whether lines name the users who do not ask. If it is unknown who asks, users are named only if the
    events are of several.
    """

    keys: frozenset[str]
    named: bool

    @classmethod
    def of(cls, pool: EventPool, request: PackRequest) -> "Asker":
        """Return who asks *request*, given the events of its *pool*."""
        users = frozenset(map(_key, set(filter(None, pool.user_id))))
        if request.user_id is not None:
            keys = frozenset({_key(request.user_id)})
        else:
            running = zip(pool.session_id, pool.user_id, strict=False)
            keys = frozenset(_key(user) for session, user in running if user and session == request.session_id)
        return cls(keys, bool(users - keys) if keys else len(users) > 1)

    def is_other(self, user_id: str) -> bool:
        """Whether *user_id* is a user who does not ask."""
        return bool(user_id) and _key(user_id) not in self.keys

    def shown_speaker(self, speaker: str, user_id: str) -> str:
        """The *speaker* of a line as a pack shows it: with the user who speaks or is spoken to, except for the asker.

        >>> asker = Asker(frozenset({"omar"}), named=True)
        >>> [asker.shown_speaker(*each) for each in (("user", "piet"), ("assistant", "piet"), ("user", "Omar"))]
        ['user piet', 'assistant to piet', 'user']
        >>> asker.shown_speaker("user", "")
        'unnamed user'

        """
        if not self.named or not (self.is_other(user_id) or (self.keys and not user_id)):
            return speaker
        if is_assistant(speaker):
            return speaker_name(f"{speaker} to {user_id}") if user_id else speaker
        if speaker.lower() not in _ROLES:
            return speaker
        return speaker_name(f"{speaker} {user_id}" if user_id else f"unnamed {speaker}")

    def named_in(self, evidence: Candidate, user_id: str, count_tokens: TokenCounter) -> Candidate:
        """Return the *evidence*, an event of the user *user_id*, with a line that names this user unless he asks."""
        shown = self.shown_speaker(evidence.speaker, user_id)
        if not user_id or shown == evidence.speaker:
            return evidence
        text = evidence.content.removeprefix(f"{evidence.speaker}: ") if evidence.speaker else evidence.content
        tokens = count_tokens(event_line(text, evidence.label, shown))
        return evidence._replace(content=attributed(text, shown), speaker=shown, tokens=tokens)


def with_users_named(pool: EventPool, request: PackRequest, count_tokens: TokenCounter) -> EventPool:
    """Return *pool*; lines that other users said, or that were said to them, name these users."""
    asker = Asker.of(pool, request)
    if not asker.named:
        return pool
    said_by, tokens = list(pool.speaker), list(pool.tokens)
    shown, count = cache(asker.shown_speaker), cache(count_tokens)
    for at, (speaker, user_id) in enumerate(zip(pool.speaker, _users(pool), strict=True)):
        # A line of the running session that names no user is the asker's.
        if user_id or pool.session_id[at] != request.session_id:
            said_by[at] = shown(speaker, user_id)
        if said_by[at] != speaker:
            tokens[at] += count(f"{said_by[at]}:") - count(f"{speaker}:")
    return replace(pool, said_by=tuple(said_by), tokens=tuple(tokens))


def _users(pool: EventPool) -> Iterator[str]:
    """Yield for each event the user whom it names, else the only one whom its session names, else ""."""
    of_session: dict[str, set[str]] = {}
    for session_id, user_id in zip(pool.session_id, pool.user_id, strict=True):
        if user_id:
            of_session.setdefault(session_id, set()).add(user_id)
    only = {session_id: next(iter(users)) for session_id, users in of_session.items() if len(users) == 1}
    for session_id, user_id in zip(pool.session_id, pool.user_id, strict=True):
        yield user_id or only.get(session_id, "")


def with_own_names(pool: EventPool, question: Question) -> EventPool:
    """Return *pool* with the names of users added to the words of what they say, if the *question* names them.

    "My rate is 90" then answers "What is Pia's rate?" before lines about other rates. The question names a user by the
    whole id or, if no other user shares it, by the first word of the id ("omar" for "omar.haddad").
    """
    users = sorted(set(filter(None, pool.user_id)))
    first_words = Counter(_first_word(user_id) for user_id in users)
    named = dict[str, str]()
    for user_id in users:
        first = _first_word(user_id)
        for name in (search_text(user_id), first if first_words[first] == 1 and len(first) >= _SHORTEST_NAME else ""):
            if name and question.mentions(name):
                named.setdefault(user_id, name)
    if not named:
        return pool
    own = zip(pool.words, pool.by_people.tolist(), _users(pool), strict=True)
    return replace(pool, words=tuple(
        f"{said} {named[user_id]}" if by_user and user_id in named else said for said, by_user, user_id in own
    ))  # fmt: skip


def _first_word(user_id: str) -> str:
    return search_text(user_id).partition(" ")[0]


def relevant_to_asker(pool: EventPool, question: Question, asker: Asker) -> EventPool:
    """Return *pool* without what other users say about themselves, if a known asker asks about himself.

    "Where do I live?" is not answered by where others live. Nothing is left out if the question asks for work or
    advice, or speaks of a failure: there, others' experience helps. Users whom the question names stay, too.
    """
    personal = question.own and question.recalls and not (question.works or question.troubled or question.seeks_advice)
    if not personal or not asker.keys or not asker.named:
        return pool
    others = {each for each in set(pool.user_id) if asker.is_other(each) and not question.mentions(search_text(each))}
    personal_to_others = np.array([each in others for each in pool.user_id], dtype=np.bool_) & pool.by_people
    for at in np.flatnonzero(personal_to_others).tolist():
        personal_to_others[at] = _is_of_oneself(pool.text[at])
    return pool.without(personal_to_others) if personal_to_others.any() else pool


def _is_of_oneself(text: str) -> bool:
    """Whether *text* has a sentence in the first person that is not a question.

    >>> _is_of_oneself("Hi! I live in Utrecht now. Is that fine?"), _is_of_oneself("Where do I live?")
    (True, False)

    """
    sentences = _SENTENCE_END.split(text)
    return any(_FIRST_PERSON.search(each) for each in sentences if not each.rstrip().endswith("?"))
