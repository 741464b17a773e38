"""What speaks for an event besides words: who said it, and whether it says the kind of thing that is asked for.

Each cue gives zero where it does not apply, so one ranking serves conversations, documents and tool runs. When
something was said is the clock's part of the score (``scoring``).
"""

import numpy as np

from hmxgraph.recall.arrays import Floats
from hmxgraph.recall.asking.question import Question
from hmxgraph.recall.ranking.pool import EventPool
from hmxgraph.text.terms import terms

# What a cue adds to a relevance on which the best match of words is 1.
SPEAKER = 0.5
SUBJECT = 0.2
TIME_WORDS = 0.2
QUESTION_TURN = -0.15
# What each doubling of its length beyond that of a message takes: a long text has some word of every question.
# No more than that: what alone has the words that are asked for is not outdone by what has none.
LENGTH = -0.3
MOST_DOUBLINGS = 2.5
MESSAGE_TOKENS = 96
# A turn with fewer words of its own than these, none of them asked for, says little, whatever is said around it.
FEW_WORDS = 5
HARDLY_A_WORD = -0.5
# What is told for the first time says more of it than what is said of it later; it counts by the share of its words
# that nobody used before.
FIRST_TOLD = 0.15
# An event that repeats the request and adds less than this of its own words tells nothing new.
NEWS = 0.5
ECHO = -1.0
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
    heard = _speaker(question, pool) + _time_words(question, pool) + QUESTION_TURN * pool.questions
    said = _length(pool) + _hardly_a_word(question, pool)
    return heard + said + (_first_told(question, pool) if question.recalls else _echoes(question, pool))


def _length(pool: EventPool) -> Floats:
    """Long talk stands back; a document with a title is about one subject and as long as that needs."""
    doublings: Floats = np.log2(np.maximum(pool.lengths / MESSAGE_TOKENS, 1.0))
    return LENGTH * pool.talk * np.minimum(doublings, MOST_DOUBLINGS)


def _first_told(question: Question, pool: EventPool) -> Floats:
    """Of talk about what was; a question about what is wants what was said of it last."""
    if question.latest:
        return np.zeros(len(pool))
    return FIRST_TOLD * pool.talk * pool.occurrences.first_told(pool.ages)


def _hardly_a_word(question: Question, pool: EventPool) -> Floats:
    """Thanks and greetings stand beside what is asked for, and take the place of what tells something."""
    lacking = HARDLY_A_WORD * np.maximum(1.0 - pool.occurrences.vocabulary / FEW_WORDS, 0.0)
    return np.where(pool.occurrences.met(question.terms) == 0, lacking, 0.0)


def _echoes(question: Question, pool: EventPool) -> Floats:
    """Earlier requests of the same kind: an agent at work is helped by what came of them, not by their words."""
    news = 1.0 - pool.occurrences.met(question.terms) / np.maximum(pool.occurrences.vocabulary, 1)
    return ECHO * np.maximum(1.0 - news / NEWS, 0.0)


def _speaker(question: Question, pool: EventPool) -> Floats:
    named = speakers_named(question, pool)
    if len(named) == 1:
        return SPEAKER * _spoken_by(set(named.values()), pool)
    return SUBJECT * _spoken_by({speaker for name, speaker in named.items() if name in question.subjects}, pool)


def _spoken_by(speakers: set[str], pool: EventPool) -> Floats:
    return np.array([speaker in speakers for speaker in pool.speaker], dtype=np.float64)


def _time_words(question: Question, pool: EventPool) -> Floats:
    """Turns that say when, for a question that asks when."""
    if not question.when:
        return np.zeros(len(pool))
    return np.where(pool.occurrences.met(_TIME_WORDS) > 0, TIME_WORDS, 0.0)
