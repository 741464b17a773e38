"""Tenants with several users: lines of users other than the asker name them, and do not answer personal questions."""

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

# The beginnings of labels that name users: "user piet", "assistant to piet". A speaker whose own name begins like a
# label is shown as "user", so that he cannot pass as somebody else.
_LABELS = ("user ", "unnamed user", *(f"{role} to " for role, part in PARTS.items() if part == "assistant"))
# Maximum length of a user id in a label, in characters.
_LONGEST_ID = 24
# Characters of user ids that labels leave out.
_NOT_IN_IDS = re.compile(r"[^\w.'@/-]+")
# Length of the hash that distinguishes shortened ids.
_HASH = 8
# Without "we", which may include the asker.
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine)\b", re.IGNORECASE)
_SECOND_PERSON = re.compile(r"\b(?:you|yours?)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# Average number of sessions per user from which users are a team.
_SESSIONS_PER_COLLEAGUE = 3
# The first word of a user id is a name only if it has at least this many letters: the "u" of "u-17" is not.
_SHORTEST_NAME = 3


def _key(user_id: str) -> str:
    """Return a key that is the same for "Ana Costa" and "ana_costa"; all other characters count ("C++" is not "C#")."""
    return "_".join(user_id.casefold().split())


def _shown_id(user_id: str) -> str:
    """Return *user_id* as one word of at most 24 characters; it ends in a hash if anything but blanks was left out.

    >>> _shown_id("p.van-dam@x.org"), _shown_id("Ana Costa"), _shown_id("C++"), _shown_id("!!!")
    ('p.van-dam@x.org', 'Ana_Costa', 'C-cedb1bac', 'id-e84c538e')

    """
    whole = "_".join(user_id.split())
    short = _NOT_IN_IDS.sub("", whole)[:_LONGEST_ID]
    is_readable = any(map(str.isalnum, short))
    if short == whole and is_readable:
        return short
    return f"{short[: _LONGEST_ID - _HASH - 1] if is_readable else 'id'}-{sha256_hex(_key(user_id).encode())[:_HASH]}"


def _is_like_label(speaker: str) -> bool:
    """Whether the name of a *speaker* could be mistaken for a label: "user piet" for a label of the user "piet"."""
    return " ".join(speaker.lower().split()).startswith(_LABELS)


@dataclass(frozen=True)
class Asker:
    """Who asks: the user of the request or, if it has none, the users who speak in the running session.

    - ``keys``: their keys; empty if it is unknown who asks.
    - ``named``: whether lines name users other than the asker: if some events are of other users or, if it is unknown
      who asks, if they are of several users.
    """

    keys: frozenset[str]
    named: bool

    @classmethod
    def of(cls, pool: EventPool, request: PackRequest) -> "Asker":
        """Return the asker of *request*, given the events of its *pool*."""
        users = frozenset(map(_key, set(filter(None, pool.user_id))))
        if request.user_id is not None:
            keys = frozenset({_key(request.user_id)})
        else:
            running = zip(pool.session_id, pool.user_id, strict=False)
            keys = frozenset(_key(user) for session, user in running if user and session == request.session_id)
        return cls(keys, bool(users - keys) if keys else len(users) > 1)

    def is_other(self, user_id: str) -> bool:
        """Whether *user_id* is a user other than the asker."""
        return bool(user_id) and _key(user_id) not in self.keys

    def shown_speaker(self, speaker: str, user_id: str) -> str:
        """Return the *speaker* of a line as a pack shows it: with the user who speaks or is spoken to, unless he asks.

        >>> asker = Asker(frozenset({"omar"}), named=True)
        >>> [asker.shown_speaker(*pair) for pair in (("user", "piet"), ("assistant", "piet"), ("user", "Omar"))]
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


def are_colleagues(pool: EventPool) -> bool:
    """Whether the users of *pool* are a team, each with several sessions, and not customers who come once or twice.

    What a customer calls a rule is none for others, so that only colleagues' rules are shown to each other.
    """
    by_user = {(user, session) for user, session in zip(pool.user_id, pool.session_id, strict=False) if user}
    return len(by_user) >= _SESSIONS_PER_COLLEAGUE * len({user for user, _ in by_user})


def with_users_named(pool: EventPool, request: PackRequest, count_tokens: TokenCounter) -> EventPool:
    """Return *pool* with the speaker of each line as :meth:`Asker.shown_speaker` shows it."""
    asker = Asker.of(pool, request)
    if not asker.named:
        return pool
    said_by, tokens = list(pool.speaker), list(pool.tokens)
    shown, count = cache(asker.shown_speaker), cache(count_tokens)
    for index, (speaker, user_id) in enumerate(zip(pool.speaker, _users(pool), strict=True)):
        # A line of the running session that names no user is the asker's.
        if user_id or pool.session_id[index] != request.session_id:
            said_by[index] = shown(speaker, user_id)
        if said_by[index] != speaker:
            tokens[index] += count(f"{said_by[index]}:") - count(f"{speaker}:")
    return replace(pool, said_by=tuple(said_by), tokens=tuple(tokens))


def _users(pool: EventPool) -> Iterator[str]:
    """Yield the user of each event, or "" if unknown.

    It is the user whom the event names; else the only user whom its session names; else the user of the last message
    before it, if no event between them is missing.
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
    """Return *pool* with the names of users whom the *question* names added to the words of their messages.

    If Pia says "My rate is 90", this line then ranks above other rates for "What is Pia's rate?". The question names a
    user by the whole id or, if no other user shares it, by the first word of the id ("omar" for "omar.haddad").
    """
    names = _named_by_id(set(filter(None, pool.user_id)), question)
    if not names:
        return pool
    columns = zip(pool.words, pool.by_people.tolist(), _users(pool), strict=True)
    return replace(pool, words=tuple(
        f"{words} {names[user_id]}" if by_user and user_id in names else words for words, by_user, user_id in columns
    ))  # fmt: skip


def _named_by_id(users: Iterable[str], question: Question) -> dict[str, str]:
    """Return the name by which the question names each of *users*: the id or its first word; omit the others."""
    ids = sorted(users)
    first_words = Counter(map(_first_word, ids))
    names = dict[str, str]()
    for user_id in ids:
        first = _first_word(user_id)
        for name in (search_text(user_id), first if first_words[first] == 1 and len(first) >= _SHORTEST_NAME else ""):
            if name and question.mentions(name):
                names.setdefault(user_id, name)
    return names


def _first_word(name: str) -> str:
    return search_text(name).partition(" ")[0]


def _named_speakers(pool: EventPool, question: Question) -> frozenset[str]:
    """Return the speakers in *pool* whom the question names by their name or its first word; roles are no names."""
    names = ((speaker, (name, _first_word(speaker))) for speaker, name in pool.speakers.items())
    return frozenset(
        speaker
        for speaker, (name, first) in names
        if speaker.lower() not in PARTS
        and (question.mentions(name) or (len(first) >= _SHORTEST_NAME and question.mentions(first)))
    )


def relevant_to_asker(pool: EventPool, question: Question, request: PackRequest) -> EventPool:
    """Return *pool*; if a known asker asks about himself, what other users say about themselves is withheld.

    "Where do I live?" is not answered by where others live, or by what an assistant replied to them. Nothing is
    withheld if the question asks for work or advice, or speaks of a failure, because then the experience of others
    helps. Events of the running session, and of users whom the question names, are never withheld. Withheld events stay
    in the pool without their words, because the users and neighbours of other events depend on them.
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
    of_others = np.array([user_id in others for user_id in users], dtype=np.bool_)
    of_others &= ~pool.of_session(request.session_id)
    # In sessions with an assistant and without the asker, "you" means the assistant.
    by_asker = pool.by_people & np.array([_key(user_id) in asker.keys for user_id in users], dtype=np.bool_)
    to_assistant = pool.in_sessions_of(pool.by_assistants) & ~pool.in_sessions_of(by_asker)
    people, follows = pool.by_people.tolist(), pool.follows.tolist()
    withheld, is_personal = np.zeros(len(pool), dtype=np.bool_), False
    for index in np.flatnonzero(of_others).tolist():
        if people[index]:
            is_personal = _is_of_oneself(pool.text[index], to_assistant=bool(to_assistant[index]))
        # An assistant's answers to a withheld message are withheld, too.
        is_personal = is_personal and (people[index] or follows[index])
        withheld[index] = is_personal and (people[index] or pool.by_assistants[index])
    if not withheld.any():
        return pool
    words = tuple("" if hidden else words for words, hidden in zip(pool.words, withheld.tolist(), strict=True))
    return replace(pool, words=words, withheld=frozenset(compress(pool.event_id, withheld.tolist())))


def _is_of_oneself(text: str, *, to_assistant: bool) -> bool:
    """Whether *text* has a statement in the first person.

    A sentence with "you" counts only if it is said *to_assistant*; otherwise it may be about the reader. In a sentence
    with a question mark, only the part before the last comma is a statement.

    >>> _is_of_oneself("Hi! I live in Bonn now. Is that fine?", to_assistant=False)
    True
    >>> [_is_of_oneself("I live in Bonn, did I tell you?", to_assistant=value) for value in (False, True)]
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
