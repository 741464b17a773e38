"""What speaks for an event besides words: who said it, and whether it says the kind of thing that is asked for.

Each cue gives zero where it does not apply, so one ranking serves conversations, documents and tool runs. When
something was said is the clock's part of the score (``scoring``).
"""

import numpy as np

from hmxgraph.recall.pool import EventPool, Floats
from hmxgraph.recall.question import Question
from hmxgraph.text.terms import terms

# What a cue adds to a relevance on which the best match of words is 1.
SPEAKER = 0.45
SUBJECT = 0.2
TIME_WORDS = 0.2
DIGITS = 0.15
QUESTION_TURN = -0.15
_TIME_WORDS = frozenset(
    terms(
        "yesterday today tonight tomorrow ago last next week weekend month year morning night evening recently soon"
        " since monday tuesday wednesday thursday friday saturday sunday"
    )
)


def speakers_named(question: Question, pool: EventPool) -> dict[str, str]:
    """The speakers in *pool* that the question names, by the terms of their names."""
    names = {speaker: " ".join(terms(speaker)) for speaker in sorted(set(pool.speaker)) if speaker}
    return {name: speaker for speaker, name in names.items() if name and question.mentions(name)}


def cue_scores(question: Question, pool: EventPool) -> Floats:
    """The sum of all cues for each event."""
    return _speaker(question, pool) + _time_words(question, pool) + QUESTION_TURN * pool.questions


def _speaker(question: Question, pool: EventPool) -> Floats:
    named = speakers_named(question, pool)
    if len(named) == 1:
        return SPEAKER * _spoken_by(set(named.values()), pool)
    return SUBJECT * _spoken_by({speaker for name, speaker in named.items() if name in question.subjects}, pool)


def _spoken_by(speakers: set[str], pool: EventPool) -> Floats:
    return np.array([speaker in speakers for speaker in pool.speaker], dtype=np.float64)


def _time_words(question: Question, pool: EventPool) -> Floats:
    """Turns that say when, for a question that asks when; turns with numbers, for one that asks how many."""
    if not (question.when or question.counts):
        return np.zeros(len(pool))
    found = [frozenset(text.split()) for text in pool.words]
    digits = DIGITS * np.array([any(map(str.isdigit, words)) for words in found], dtype=np.float64)
    if not question.when:
        return digits
    return digits + TIME_WORDS * np.array([not _TIME_WORDS.isdisjoint(words) for words in found], dtype=np.float64)
