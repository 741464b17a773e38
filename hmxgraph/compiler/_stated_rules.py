"""decision_policy: a rule that agents told users in many sessions, such as "Basic fares cannot be changed" (HMX-A 4.3).

Agents often know such rules only from their instructions, which logs do not contain. A rule is learned from sentences
that set a limit, name nothing particular to their session, and were said in similar words in several independent cases.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from hmxgraph.compiler._cases import Cases
from hmxgraph.compiler._drafts import MOST_SCOPE_WORDS, ArtifactDraft, Observations, evidence, tags
from hmxgraph.compiler._vocabulary import informative_words
from hmxgraph.compiler._wording import capital, title
from hmxgraph.compiler.failures import Stratum, chance
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.artifacts import told_in
from hmxgraph.text.comparison import jaccard
from hmxgraph.text.instructions import is_instruction
from hmxgraph.text.lines import cited
from hmxgraph.text.masking import mask_secrets
from hmxgraph.text.terms import terms

# The map step: find the rules in one message.

# Characters read of a message.
_LONGEST_MESSAGE = 8000
# Limits of a sentence that may be a rule.
_FEWEST_WORDS, _MOST_WORDS, _MOST_CHARACTERS = 4, 35, 200
# Where a sentence ends; an escaped line break ("\n" of JSON inside a message) also ends it.
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”]?\s+|\n+|;\s+|\\n")
# Markdown emphasis anywhere, and the bullet or number at the start of a list item.
_MARKUP = re.compile(r"[*`]+|^\s*(?:[-•]|\d+[.)])\s+")
# Words that set a limit: "cannot", "are not eligible", "only within", "non-refundable", "requires", "within 24".
_LIMITS = re.compile(
    r"\b(?:can ?not|can't|unable to|not able to|won't be able|may not|must|never|unless|at most|no longer"
    r"|(?:not|n't) (?:be |currently )?(?:able|allowed|eligible|permitted|possible|available|supported|offered)"
    r"|can only|only (?:be|if|when|once|one|for|to|after|within|with|available|possible)|once per|non-?\w+able"
    r"|require[sd]?|within \d+)\b",
    re.IGNORECASE,
)
# A finite verb; text without one is only a heading.
_VERB = re.compile(
    r"\b(?:is|are|be|can|cannot|can't|must|will|won't|may|has|have|does|do|require[sd]?|applies|apply|'m)\b",
    re.IGNORECASE,
)
# Introductory words that belong to the conversation, not to the rule: "Unfortunately, ", "Please note that ",
# "I'm sorry, but ", "According to our policy, ", "I should let you know that ".
_INTRODUCTION = re.compile(
    r"^(?:(?:unfortunately|however|but|so|and|also|additionally|therefore|sorry|yes|no)\b[,:]?"
    r"|(?:please )?(?:note|be aware|keep in mind|remember)(?: that)?[,:]?"
    r"|i(?:'m| am) (?:\w+ )?sorry,?(?: but)?|i apologi[sz]e[^,.]*,(?: but)?|i understand[^,.]*,(?: but)?"
    r"|(?:as per|according to|per|under|based on) (?:our|the) (?:\w+ )?polic(?:y|ies),?"
    r"|i (?:should|must|need to|have to|want to) (?:also )?(?:let you know|inform you|mention|note)(?: upfront)?"
    r"(?: that)?,?)\s+",
    re.IGNORECASE,
)
# Words that refer to the conversation ("this order", "was", "you've", "It cannot ..."), and a colon: a sentence with
# them cannot be understood alone, or is only true in this case.
_CONTEXT_DEPENDENT = re.compile(
    r"\b(?:this|these|those|neither|either condition|such|above|following|below|here|it's|already|currently"
    r"|ha(?:s|ve) been|was|were|had|let me|i need|i'(?:ll|ve|d)|(?:would|could|should) you|please|you'(?:d|ve))\b"
    r"|^(?:it|they|that|which|since|because|if not|if so|in that|he|she|as|given|then|after(?:wards?| that))\b|:",
    re.IGNORECASE,
)
# Codes, names of fields, amounts and addresses, which are particular to one session.
_PARTICULAR = re.compile(r"[#@<>{}=|_\\/]|\d{3}|\d\.\d|\b(?=\w*\d)(?=\w*[A-Za-z])\w{3,}")


def rules_in(message: str) -> Iterator[str]:
    """Yield the sentences of an agent's *message* that state a limit in general terms, with secrets masked.

    >>> list(rules_in("I understand, but unfortunately basic fares cannot be changed. This order cannot be changed."))
    ['Basic fares cannot be changed.']
    """
    for raw in _SENTENCE_END.split(message[:_LONGEST_MESSAGE].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")):
        if _LIMITS.search(raw):
            sentence = _without_introduction(_MARKUP.sub("", raw).strip(' "“”,{}'))
            if _is_rule(sentence):
                yield mask_secrets(capital(sentence))


def _without_introduction(sentence: str) -> str:
    while introduction := _INTRODUCTION.match(sentence):
        sentence = sentence[introduction.end() :]
    return sentence


def _is_rule(sentence: str) -> bool:
    """Whether *sentence* is complete, states a limit, and does not depend on its conversation."""
    if not _FEWEST_WORDS <= len(sentence.split()) <= _MOST_WORDS or len(sentence) > _MOST_CHARACTERS:
        return False
    if sentence.endswith("?") or sentence.count("(") != sentence.count(")") or sentence.count('"') % 2:
        return False
    states_limit = bool(_LIMITS.search(sentence) and _VERB.search(sentence))
    depends_on_session = _CONTEXT_DEPENDENT.search(sentence) or _PARTICULAR.search(sentence)
    return states_limit and not depends_on_session and not is_instruction(sentence)


# The reduce step: group sentences with similar words into rules.

# A wording joins a rule if the Jaccard index of their terms is at least this.
_LEAST_SIMILARITY = 0.4
# Only this many leading characters of a term are compared, because the stems of "modify" and "modification" differ.
_STEM = 5
# Minimum terms of a wording.
_FEWEST_TERMS = 2
# A rule is named by the terms that at least this share of its sentences contain.
_CORE_SHARE = 0.5
# A rule is doubtful if the sessions in which it was said succeeded less often than others, and the probability that
# this is due to chance is not above this.
_BY_CHANCE = 0.01
# Minimum number of sessions in which a rule was said. A person checked 29 rules against the logs: of 15 rules said in
# at least five sessions, 13 were true and useful; of 14 said in three or four, only 7.
_FEWEST_SESSIONS = 5
# Maximum number of wordings compared; the most frequent ones are kept.
_MOST_WORDINGS = 3000
_NEGATION = re.compile(r"\b(?:no|not|never|unable|cannot|\w+n't|non\w*|ineligible)\b", re.IGNORECASE)
# Terms of limits and of politeness, which do not show the subject of a rule.
_ANY_RULE = frozenset(terms("unfortunately please note must unable able unless allowed possible also available need"))


# A wording, reduced to the terms of the sentence and whether it contains a negation.
_Wording: TypeAlias = tuple[frozenset[str], bool]


@dataclass(slots=True)
class _Rule:
    """One rule: the terms of its first wording, and each utterance as (session, sentence, event id).

    ``is_negative`` is set if its sentences contain a negation.
    """

    terms: frozenset[str]
    is_negative: bool
    utterances: list[tuple[SessionSummary, str, str]] = field(default_factory=list)

    @property
    def sessions(self) -> list[SessionSummary]:
        """The sessions in which the rule was said, each once."""
        return list({session.session_id: session for session, _, _ in self.utterances}.values())

    @property
    def name(self) -> str:
        """The terms that most utterances share, by which the rule is recognised in later compilations."""
        counts = self.term_counts
        core = sorted(term for term in counts if counts[term] >= _CORE_SHARE * len(self.utterances))
        return " ".join(["not"] * self.is_negative + core)

    @property
    def term_counts(self) -> Counter[str]:
        """For each term, the number of utterances that contain it."""
        return Counter(term for _, sentence, _ in self.utterances for term in _wording_of(sentence)[0])

    @property
    def events(self) -> dict[str, list[str]]:
        """The ids of the events in which the rule was said, by session."""
        events: defaultdict[str, list[str]] = defaultdict(list)
        for session, _, event_id in self.utterances:
            events[session.session_id].append(event_id)
        return dict(sorted(events.items()))


def stated_rules(sessions: Sequence[SessionSummary], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """Yield a policy for each of the ``max_rules`` most frequent rules said in enough sessions and enough cases."""
    cases = Cases(sessions)
    judged = [session for session in sessions if session.went_well is not None]
    frequent = (rule for rule in _rules(sessions) if len(rule.sessions) >= _FEWEST_SESSIONS)
    rules_by_name: dict[str, _Rule] = {}
    for rule in sorted(frequent, key=lambda rule: (-len(rule.sessions), sorted(rule.terms)))[: profile.max_rules]:
        if len(cases.grouped(rule.sessions)) >= profile.min_cases:
            rules_by_name.setdefault(rule.name, rule)
    for rule in rules_by_name.values():
        yield _policy(rule, profile, useful=not _is_doubtful(rule, judged))


def _rules(sessions: Sequence[SessionSummary]) -> list[_Rule]:
    """The sentences of these sessions grouped into rules: each joins the most similar rule, or starts one.

    The most frequent wordings are grouped first.
    """
    utterances: defaultdict[_Wording, list[tuple[SessionSummary, str, str]]] = defaultdict(list)
    for session in sessions:
        for sentence, event_id in session.stated:
            utterances[_wording_of(sentence)].append((session, sentence, event_id))
    frequency = Counter(term for sentence_terms, _ in utterances for term in sentence_terms)
    rules: list[_Rule] = []
    by_term: defaultdict[str, list[int]] = defaultdict(list)
    for sentence_terms, is_negative in _most_frequent(utterances):
        # Every rule similar enough to the wording contains at least one of these terms (prefix filtering).
        prefix_length = len(sentence_terms) - int(_LEAST_SIMILARITY * len(sentence_terms)) + 1
        rarest = sorted(sentence_terms, key=lambda term: (frequency[term], term))[:prefix_length]
        indexes = sorted({index for term in rarest for index in by_term[term]})
        candidates = [index for index in indexes if rules[index].is_negative == is_negative]
        best = max(candidates, key=lambda index: jaccard(rules[index].terms, sentence_terms), default=None)
        if best is None or jaccard(rules[best].terms, sentence_terms) < _LEAST_SIMILARITY:
            best = len(rules)
            rules.append(_Rule(sentence_terms, is_negative))
            for term in sentence_terms:
                by_term[term].append(best)
        rules[best].utterances += utterances[sentence_terms, is_negative]
    return rules


def _most_frequent(utterances: Mapping[_Wording, Sequence[Any]]) -> list[_Wording]:
    """The wordings with enough terms, most frequent first, at most ``_MOST_WORDINGS``."""
    wordings = (wording for wording in utterances if len(wording[0]) >= _FEWEST_TERMS)
    return sorted(wordings, key=lambda wording: (-len(utterances[wording]), sorted(wording[0]), wording[1]))[
        :_MOST_WORDINGS
    ]


@lru_cache(maxsize=20_000)
def _wording_of(sentence: str) -> _Wording:
    sentence_terms = frozenset(term[:_STEM] for term in terms(sentence) if term not in _ANY_RULE)
    return sentence_terms, _NEGATION.search(sentence) is not None


def _is_doubtful(rule: _Rule, judged: Sequence[SessionSummary]) -> bool:
    """Whether the sessions in which the rule was said succeeded significantly less often than the others."""
    session_ids = {session.session_id for session in rule.sessions}
    with_rule = [session.succeeded for session in judged if session.session_id in session_ids]
    others = [session.succeeded for session in judged if session.session_id not in session_ids]
    failed, others_failed = with_rule.count(False), others.count(False)
    is_worse = failed * len(others) > others_failed * len(with_rule)
    return is_worse and chance(Stratum(len(with_rule), failed, len(others), others_failed)) <= _BY_CHANCE


def _policy(rule: _Rule, profile: CompilerProfile, *, useful: bool) -> ArtifactDraft:
    wording, sessions = _most_typical(rule), rule.sessions
    scope = list(dict.fromkeys(informative_words(wording)))[:MOST_SCOPE_WORDS]
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"stated:{rule.name}",
        title=title(wording),
        summary="",
        content={
            "condition": f"this comes up: {', '.join(scope)}",
            "recommendation": f"{told_in(len(sessions))}: {cited(wording)}",
            "alternatives": [],
            "outcomes": [],
            "scope": scope,
        },
        seen=Observations(len(sessions), len(sessions), len(sessions)),
        source_events=evidence(rule.events.values(), profile.max_evidence),
        tags=tags(["rule", *scope]),
        metadata={"origin": "stated_rules"},
        useful=useful,
    )


def _most_typical(rule: _Rule) -> str:
    """The sentence that represents the rule: the one whose terms are, on average, the most common in the rule.

    Sentences with few terms, or with personal words such as "you", get a lower score.
    """
    counts = rule.term_counts

    def rank(sentence: str) -> tuple[float, str]:
        sentence_terms = _wording_of(sentence)[0]
        personal_words = len(re.findall(r"\b(?:i|you|your|my)\b", sentence, re.IGNORECASE))
        return -sum(counts[term] for term in sentence_terms) / (len(sentence_terms) + 2 + personal_words), sentence

    return min((sentence for _, sentence, _ in rule.utterances), key=rank)
