"""If several users share a tenant: lines of other users name them, and do not answer questions of the asker."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress

import numpy as np

from hmxgraph.protocol.canonical import sha256_hex
from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.pool import EventPool, is_assistant
from hmxgraph.recall.question import PackRequest, Question
from hmxgraph.text.lines import PARTS, attributed, event_line, speaker_name
from hmxgraph.text.terms import TokenCounter, search_text

# The beginnings of the labels that name users: a speaker whose own name begins like one is shown as a user.
_LABELS = ("user ", "unnamed user", *(f"{role} to " for role, part in PARTS.items() if part == "assistant"))
# Number of characters of a user id that a label shows, those that it leaves out, and the length of a hash.
_LONGEST_ID = 24
_NOT_IN_IDS = re.compile(r"[^\w.'@/-]+")
_HASH = 8
# "We" may include the asker.
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine)\b", re.IGNORECASE)
_SECOND_PERSON = re.compile(r"\b(?:you|yours?)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# The first word of a user id is a name only if it has at least this many letters: the "u" of "u-17" is not.
_SHORTEST_NAME = 3


def _key(user_id: str) -> str:
    """Return a key that is the same for "Ana Costa" and "ana_costa"; other signs tell users apart ("C++" and "C#")."""
    return "_".join(user_id.casefold().split())


def _shown_id(user_id: str) -> str:
    """Return *user_id* as one word of at most 24 characters; if that leaves out more than blanks, it ends in a hash.

    >>> _shown_id("p.van-dam@x.org"), _shown_id("Ana Costa"), _shown_id("C++"), _shown_id("!!!")
    ('p.van-dam@x.org', 'Ana_Costa', 'C-cedb1bac', 'id-e84c538e')

    """
    whole = "_".join(user_id.split())
    kept = _NOT_IN_IDS.sub("", whole)[:_LONGEST_ID]
    has_letters = any(map(str.isalnum, kept))
    if kept == whole and has_letters:
        return kept
    return f"{kept[: _LONGEST_ID - _HASH - 1] if has_letters else 'id'}-{sha256_hex(_key(user_id).encode())[:_HASH]}"


def _is_like_label(speaker: str) -> bool:
    """Whether the name of a *speaker* could be read as a label: "user piet" as the user id of another user."""
    return " ".join(speaker.lower().split()).startswith(_LABELS)


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
        >>> asker.shown_speaker("user", ""), asker.shown_speaker("user omar", "mallory")
        ('unnamed user', 'user mallory')

        """
        if not self.named:
            return speaker
        speaker = "user" if _is_like_label(speaker) else speaker
        if not (self.is_other(user_id) or (self.keys and not user_id)):
            return speaker
        if is_assistant(speaker):
            return speaker_name(f"{speaker} to {_shown_id(user_id)}") if user_id else speaker
        if PARTS.get(speaker.lower()) != "user":
            return speaker
        return speaker_name(f"user {_shown_id(user_id)}") if user_id else "unnamed user"

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
    """Yield for each event the user whom it names, else the only one whom its session names, else the one it follows.

    That is the user who wrote the last message before it, if no event between them is missing; "" if unknown.
    """
    of_session: dict[str, dict[str, str]] = {}
    for session_id, user_id in zip(pool.session_id, pool.user_id, strict=True):
        if user_id:
            of_session.setdefault(session_id, {}).setdefault(_key(user_id), user_id)
    only = {session_id: next(iter(users.values())) for session_id, users in of_session.items() if len(users) == 1}
    columns = zip(pool.session_id, pool.user_id, pool.by_people.tolist(), pool.follows.tolist(), strict=True)
    current = ""
    for session_id, user_id, by_people, follows in columns:
        if user_id or by_people or not follows:
            current = user_id
        yield user_id or only.get(session_id, current)


def with_own_names(pool: EventPool, question: Question) -> EventPool:
    """Return *pool* with the names of users added to the words of what they say, if the *question* names them.

    "My rate is 90" then answers "What is Pia's rate?" before lines about other rates. The question names a user by the
    whole id or, if no other user shares it, by the first word of the id ("omar" for "omar.haddad").
    """
    named = _named_by_id(set(filter(None, pool.user_id)), question)
    if not named:
        return pool
    own = zip(pool.words, pool.by_people.tolist(), _users(pool), strict=True)
    return replace(pool, words=tuple(
        f"{said} {named[user_id]}" if by_user and user_id in named else said for said, by_user, user_id in own
    ))  # fmt: skip


def _named_by_id(users: Iterable[str], question: Question) -> dict[str, str]:
    """Return those *users* whom the question names by their id or its first word, each with that name."""
    ids = sorted(users)
    first_words = Counter(map(_first_word, ids))
    named = dict[str, str]()
    for user_id in ids:
        first = _first_word(user_id)
        for name in (search_text(user_id), first if first_words[first] == 1 and len(first) >= _SHORTEST_NAME else ""):
            if name and question.mentions(name):
                named.setdefault(user_id, name)
    return named


def _first_word(name: str) -> str:
    return search_text(name).partition(" ")[0]


def _named_speakers(pool: EventPool, question: Question) -> frozenset[str]:
    """The speakers in *pool*, other than roles, whose name or its first word the question contains."""
    names = ((speaker, (name, _first_word(speaker))) for speaker, name in pool.speakers.items())
    return frozenset(
        speaker
        for speaker, (name, first) in names
        if speaker.lower() not in PARTS
        and (question.mentions(name) or (len(first) >= _SHORTEST_NAME and question.mentions(first)))
    )


def relevant_to_asker(pool: EventPool, question: Question, request: PackRequest) -> EventPool:
    """Return *pool*; if a known asker asks about himself, what others say about themselves is withheld.

    "Where do I live?" is not answered by where others live, or by what an assistant replied to them. Nothing is
    withheld if the question asks for work or advice, or speaks of a failure: there, others' experience helps. Nor is
    the running session, nor what is said by users whom the question names. Withheld events stay in the pool without
    their words, so that the others keep their users and neighbours.
    """
    asker = Asker.of(pool, request)
    personal = question.own and question.recalls and not (question.works or question.troubled or question.seeks_advice)
    if not personal or not asker.keys or not asker.named:
        return pool
    users = list(_users(pool))
    ids = frozenset(filter(None, users))
    others = frozenset(filter(asker.is_other, ids))
    others -= _named_by_id({*others, *asker.keys}, question).keys()
    named_speakers = _named_speakers(pool, question)
    others -= {user_id for user_id, speaker in zip(users, pool.speaker, strict=True) if speaker in named_speakers}
    of_others = np.array([each in others for each in users], dtype=np.bool_) & ~pool.of_session(request.session_id)
    # "You" is an assistant where one takes part without the asker.
    by_asker = pool.by_people & np.array([_key(each) in asker.keys for each in users], dtype=np.bool_)
    to_assistant = pool.in_sessions_of(pool.by_assistants) & ~pool.in_sessions_of(by_asker)
    people, follows = pool.by_people.tolist(), pool.follows.tolist()
    withheld, is_personal = np.zeros(len(pool), dtype=np.bool_), False
    for at in np.flatnonzero(of_others).tolist():
        if people[at]:
            is_personal = _is_of_oneself(pool.text[at], to_assistant=bool(to_assistant[at]))
        # The answers to a message that is withheld are withheld, too.
        is_personal = is_personal and (people[at] or follows[at])
        withheld[at] = is_personal and (people[at] or pool.by_assistants[at])
    if not withheld.any():
        return pool
    words = tuple("" if hidden else said for said, hidden in zip(pool.words, withheld.tolist(), strict=True))
    return replace(pool, words=words, withheld=frozenset(compress(pool.event_id, withheld.tolist())))


def _is_of_oneself(text: str, *, to_assistant: bool) -> bool:
    """Whether *text* has a sentence in the first person, not counting questions.

    Unless it is said *to_assistant*, a sentence with "you" may be about whoever reads it. A question is what comes
    after the last comma before a question mark.

    >>> _is_of_oneself("Hi! I live in Bonn now. Is that fine?", to_assistant=False)
    True
    >>> [_is_of_oneself("I live in Bonn, did I tell you?", to_assistant=each) for each in (False, True)]
    [False, True]
    >>> _is_of_oneself("Where do I live?", to_assistant=True)
    False

    """
    for sentence in _SENTENCE_END.split(text):
        if to_assistant or not _SECOND_PERSON.search(sentence):
            statement = sentence.rpartition(",")[0] if sentence.rstrip().endswith("?") else sentence
            if _FIRST_PERSON.search(statement):
                return True
    return False
