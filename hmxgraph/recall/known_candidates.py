"""Artifacts, memories, task records, entities and conflicts as scored candidates, and their evidence (HMX-C 3.1)."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.candidates import EPISODIC, SAID_BY, Candidate, Components, RecencyDecay, support
from hmxgraph.recall.knowledge import (
    AFTER_LOOKUP,
    FIRST_REQUEST,
    NO_GUIDANCE,
    PROCEDURES,
    REMEMBERED,
    WORK_BEGINS,
    Evidence,
    Guidance,
    Known,
    KnownArtifact,
    KnownConflict,
    KnownEntity,
    KnownMemory,
    KnownRecord,
    KnownRelation,
    Priors,
)
from hmxgraph.recall.question import ANY_FAILURE, Question, asks_for_goals, asks_permission, diet_terms
from hmxgraph.text.artifacts import TOLD_TO_USERS
from hmxgraph.text.lines import attributed, rejection, speaker_name
from hmxgraph.text.terms import TokenCounter, search_text, terms

# How knowledge is scored: match with the question, recency, priors.

# Knowledge that matches less of the question than this is irrelevant, however recent and well supported it is.
_LEAST_SHARE = 0.1
# A match is full if its terms weigh as much as the question's heaviest terms, up to this many.
_ENOUGH_TERMS = 6
# A memory or playbook of less relevance than this is about something else. Evidence that matches less of the question
# than this proves nothing.
_LEAST_MEMORY = 0.35
# The same limit for policies, whose terms are few and common.
_LEAST_POLICY = 0.3
# Minimum relevance of a memory that the question names.
_NAMED = 0.5
# Terms with which questions ask for policies, without saying for which.
_POLICY_TERMS = frozenset(terms("rule policy guideline regulation apply allow permit limit standing"))
# A name counts only if each of its terms has at least this fraction of the largest weight, because common names do not
# distinguish memories.
_RARE_NAME = 0.5
# The verb after the subject of a fact.
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|costs?|takes?|opens?|closes?|needs?|lives?|works?|uses?)\b")
# A word with a capital letter.
_NAME = re.compile(r"\b(?=\w*[A-Z])[\w.@/-]*\w")
# A token that contains this is an identifier (three digits, or letters mixed with digits), or a file or host (a dot,
# underscore or @ inside).
_ITEM = re.compile(r"\d{3}|[a-z]\W?\d|\d[a-z]|\w\w[.@_]\w")
# A token that may be an identifier, file or host: letters and digits, with characters such as "/" between them.
_TOKEN = re.compile(r"[\w@](?:[\w@./-]*\w)?")
# A quotation in a policy.
_QUOTATION = re.compile(r"“[^“”]+”")


@dataclass(frozen=True)
class Appraisal:
    """What the score of knowledge depends on: the question, the weights of its terms, recency and priors.

    - ``general_words``: the terms that most titles of procedures contain.
    - ``best_rule``: the largest share of the question in a rule that agents told users.
    - ``clauses``: the terms of each question, if the text asks several.
    """

    question: Question
    weights: Mapping[str, float]
    decay: RecencyDecay
    priors: Priors
    count_tokens: TokenCounter
    guidance: Guidance = NO_GUIDANCE
    general_words: frozenset[str] = frozenset()
    best_rule: float = 0.0
    clauses: tuple[frozenset[str], ...] = ()

    @cached_property
    def _weights_of_clauses(self) -> list[tuple[Mapping[str, float], float]]:
        """For the whole text and for each clause, the weights of its terms and the weight of a full match.

        A clause with a single term counts only if it is a name: "Are you sure?" is small talk, "Who is Marta?" is not.
        """
        names = frozenset(term for name in self.question.names for term in terms(name))
        specific = (clause for clause in self.clauses if len(clause) > 1 or clause & names)
        clauses = [{term: self.weights[term] for term in self.weights if term in clause} for clause in specific]
        texts = (self.weights, *clauses)
        return [(weights, _weight_of_heaviest(weights)) for weights in texts if any(weights.values())]

    def share(self, words: str) -> float:
        """Return the weight of the question's terms in *words*, divided by that of its six heaviest terms; at most 1.

        If the text asks several questions, the question that matches best counts.
        """
        term_set = set(words.split())
        shares = (
            sum(weight for term, weight in weights.items() if term in term_set) / enough
            for weights, enough in self._weights_of_clauses
        )
        return min(max(shares, default=0.0), 1.0)

    def share_of_failure(self, words: str) -> float:
        """Return :meth:`share` for the *words* of a playbook.

        Terms of the question that are common to all failures are ignored, if others remain.
        """
        specific = {term: weight for term, weight in self.weights.items() if term not in ANY_FAILURE}
        return replace(self, weights=specific).share(words) if specific else self.share(words)

    def match(self, memory: KnownMemory) -> float:
        """Return the relevance of a memory: its share of the question or, if larger, its similarity by vectors.

        It is at least ``_NAMED`` if the question has an alias of the memory, a rare name that is in its text, or the
        subject of a fact.
        """
        share = max(self.share(memory.words), memory.meaning)
        if memory.kind == "policy":
            share = max(share, self._share_of_policy(memory.words))
        statement = SAID_BY.sub("", memory.text, count=1)
        # Goals and rules begin with a verb, whose capital letter does not make it a name.
        statement = statement.partition(" ")[2] if memory.kind in _SECTIONS else statement
        is_named = any(map(self.names, memory.aliases)) or any(map(self._has_rare_name, _NAME.findall(statement)))
        is_named = is_named or (memory.kind == "fact" and self._has_subject(statement))
        return max(share, _NAMED) if is_named else share

    def _share_of_policy(self, words: str) -> float:
        """Return the fraction of the question's terms that a policy with these *words* has, whatever the terms weigh.

        Weights are ignored because policies use the common terms of the tenant's work, which weigh little. Words that
        ask for policies are ignored, too: "Cancellation rules?" asks for the rules about cancellations.
        """
        subject_terms = [term for term in self.question.terms if term not in _POLICY_TERMS]
        shared = len(set(words.split()).intersection(subject_terms))
        return shared / len(subject_terms) if subject_terms else 0.0

    def _has_subject(self, statement: str) -> bool:
        """Whether the question contains the subject of a *statement*, such as "our tutor" of "Our tutor is Ms Lee"."""
        subject, *predicate = _VERB.split(statement, maxsplit=1)
        subject_terms = set(terms(subject)) if predicate else set[str]()
        return bool(subject_terms) and subject_terms <= set(self.question.terms)

    def _has_rare_name(self, name: str) -> bool:
        """Whether the question contains all terms of *name*, and all of them are rare."""
        name_terms = search_text(name).split()
        top = max(self.weights.values(), default=0.0)
        return bool(name_terms) and all(self.weights.get(term, 0.0) >= _RARE_NAME * top > 0 for term in name_terms)

    @property
    def now_us(self) -> int:
        """The moment of asking."""
        return self.decay.now_us

    def names(self, name: str) -> bool:
        """Whether *name* occurs in the question."""
        return self.question.mentions(search_text(name))

    def components(
        self, relevance: float, time_us: int, provenance: float, salience: float, *, least: float = _LEAST_SHARE
    ) -> Components:
        """Return the four components of an item of knowledge last confirmed at *time_us*.

        Below the *least* relevance, recency and salience are 0, so that the score is below the threshold. A question
        without terms has no such limit.
        """
        if self._weights_of_clauses and relevance < least:
            return Components(relevance, 0.0, provenance, 0.0)
        return Components(relevance, self.decay.recency(time_us), provenance, salience)


def _weight_of_heaviest(weights: Mapping[str, float]) -> float:
    """Return the weight of the ``_ENOUGH_TERMS`` heaviest terms."""
    return sum(sorted(weights.values(), reverse=True)[:_ENOUGH_TERMS])


# Task records, written by agents that share work (memd specification), as candidates weighted by trust.

# Trust in a record that is countersigned, not countersigned, or rejected by another agent.
_VERIFIED = 1.0
_NOT_COUNTERSIGNED = 0.8
REJECTED = 0.2
# Salience of every record.
_SALIENCE = 0.7
# Source types of records by section; "memory" for all others (HMX-C 3.2).
_SOURCE_TYPES = {"episodes": "episode"}


def trust(record: KnownRecord) -> float:
    """Return the trust in *record*, in [0, 1].

    >>> trust(KnownRecord("r", "evidence", "", "", 0, "s", trust_tier="verified_record"))
    1.0

    """
    if record.rejected:
        return REJECTED
    return _VERIFIED if record.trust_tier == "verified_record" else _NOT_COUNTERSIGNED


def _record(record: KnownRecord, appraisal: Appraisal) -> Candidate:
    relevance = appraisal.share(record.words)
    components = appraisal.components(relevance, record.created_us, trust(record), _SALIENCE)
    content = _attributed(record)
    return Candidate(
        section=record.section,
        source_type=_SOURCE_TYPES.get(record.section, "memory"),
        source_id=record.record_id,
        tokens=appraisal.count_tokens(content),
        score=components.score,
        components=components,
        content=content,
        origin=record.trust_tier,
        confidence=trust(record),
        evidence_count=1 + record.countersigned,
        time_us=record.created_us,
        session_id=record.session_id,
        label=rejection(record.rejected_by),
        verdict="" if record.held else "deprecated",
    )


def _attributed(record: KnownRecord) -> str:
    """Return the text of a record with its author or "unsigned", and whether another agent verified it.

    >>> text = "evidence: The buffer leaks"
    >>> _attributed(KnownRecord("r", "evidence", text, "", 0, "s", agent_id="ana"))
    'evidence by ana: The buffer leaks'

    """
    kind, mark, statement = record.text.partition(": ")
    author = speaker_name(record.agent_id or "")
    attribution = f" by {author}" if author else ", unsigned"
    if record.trust_tier == "verified_record":
        attribution += ", verified by another agent"
    return f"{kind}{attribution}{mark}{statement}"


# Knowledge as candidates in their sections (HMX-C 3.1, 3.2).

# Default salience by kind.
_MEMORY_SALIENCE = {"policy": 0.9, "preference": 0.8, "goal": 0.7, "fact": 0.6}
_ARTIFACT_SALIENCE = 0.8
_ENTITY_SALIENCE = 0.5
# Entity types of which nobody asks how often they were mentioned.
_UNCOUNTED_TYPES = frozenset({"concept", "tag"})
EVIDENCE = "evidence"
# The section of each kind of memory; all other kinds are in facts, and hard rules in core.
_SECTIONS = {"policy": "constraints", "goal": "goals"}
# Factor for a relation of which the question names only one end.
_PARTLY_NAMED = 0.5
# A procedure with a lower success rate than this is shown with the number of sessions that went well.
_WENT_WELL = 0.8
# Minimum relevance of artifacts if the question requests no work, of procedures if actions are expected, and of the
# first request of another session.
_ASKED_FOR = 0.5
# Relevance of a standing rule that may share no word with the question: high enough to be shown whatever its age.
# Maximum number of such rules that share no word with a request, and of such rules that do.
_STANDING, _MOST_STANDING, _MOST_MATCHING = 0.5, 5, 10
# Rules and preferences about answers apply to every question.
_OF_ANSWERS = re.compile(
    r"\b(?:(?:speak|talk|write)(?: (?:to|me|us|only|always))* in [A-Z]\w+|answers?|repl(?:y|ies)|respond|responses?"
    r"|call me|address me|no emojis)\b",
    re.IGNORECASE,
)
# What people cannot or will not eat. Whoever plans a meal must know of an allergy, although the request seldom has a
# word of it.
_DIET = re.compile(
    r"\b(?:allergic to|does not (?:eat|drink)|(?:don't|can't) (?:eat|drink)|vegetarian|vegan|pescatarian|co?eliac"
    r"|diabetic|halal|kosher|(?:lactose|gluten)[- ](?:free|intolerant))\b",
    re.IGNORECASE,
)
# A rule for one kind of thing applies to work that names this kind: "tell Ines about refunds", "for invoices, use the
# new letterhead", "commit messages should be in English", "when you book trains, ...".
_PLURAL = r"(?:[a-z-]+ ){0,2}[a-z-]{2,}s\b"
# The speaker before a rule about themselves: "jonas: Production deploys need my approval".
_SPEAKER = re.compile(r"^[\w.@-]{1,40}(?: [\w.@-]{1,40}){0,2}: ")
_MANNERS_OF_SPEECH = r"(?:use|be|write|say|answer|ask|add|include|speak|send|show|give|make|put|call)\b"
_TIMES = r"(?:[a-z]+ ){0,2}(?:minutes|hours|days|weeks|months|years|mornings|evenings|nights|[a-z]+days)\b"
_OF_ONE_KIND = re.compile(
    rf"\b(?:about|regarding|concerning) (?:the |any |all |every |each |our )?(?P<topic>{_PLURAL})"
    rf"|^(?:please )?(?:for|in|on) (?P<object>{_PLURAL})[^,.;]*,"
    r"|\b(?:when(?:ever)?|if) (?:you|we|i) (?P<occasion>[a-z]+ (?:(?:a|an|any|every) )?[a-z][^,.;]*)"
    r"|^we (?:never|always|only|don't|do not) (?P<custom>[a-z][^,.;]*)"
    rf"|^(?P<subject>{_PLURAL})(?: (?:[a-z]+ed|over|above|under|below|of|to|from|for|without|with) [^,.;]+?)?"
    r" (?:must|should|need|require|may|are|can|always|never|get|receive|start|begin|end|go|belong)\b"
    r"|^if (?:only )?(?:one|an?|any|some|several) (?P<case>[\w-]+(?: [\w-]+)?)[^,.;]*, (?P<then>[a-z]+)"
    r"|^(?:if|when(?:ever)?) (?!(?:you|we|i)\b)(?P<trouble>[\w. -]{2,60}?) (?:fails?|breaks?|crash(?:es)?|is down"
    r"|goes down|times out|stops)\b"
    r"|^(?:please )?(?:do not|don't) (?P<deed>[a-z-]+ [^,.;]+?) without\b|\bnothing (?P<stopped>[^,.;]+)"
    rf"|\b(?:in|for) (?:all |my |our )?(?!{_TIMES})(?P<texts>{_PLURAL}(?: (?:to|for|from|of) {_PLURAL})?)"
    r",?(?: always| please)*\W*$"
    rf"|^(?:please )?(?:do not|don't) (?P<act>(?!{_MANNERS_OF_SPEECH})[a-z-]+ [a-z-]+s)\W*$"
    r"|^no (?:more|longer) (?P<former>[^:]+: .*)|^(?:please )?(?:always )?(?P<text>sign) ",
    re.IGNORECASE,
)
# A rule of a kind named by one of the first words applies to work that names any of the others: who never writes
# "cheers" does not do so in a reply.
_WRITING = frozenset(terms("write sign say answer reply respond"))
_TEXTS = _WRITING | frozenset(terms("draft mail email letter message text wording phrase formulate"))
# A preference applies to a request if it has at least this share of the request's terms, however common they are. With
# 0.25, the precision for 39 questions about beliefs fell from 0.84 to 0.78.
_PREFERRED = 0.33
# The kinds of memories that answer a question about how to answer, or for all rules.
_MANNERS = frozenset({"policy", "preference"})
# Extraction gives a rule that a single sentence states about the current work at most this confidence. Such a rule may
# not apply to other work.
_AT_HAND = 0.5
# A question about how often something was mentioned.
_ASKS_HOW_OFTEN = re.compile(r"\bhow (?:often|many times) .*\bmention", re.IGNORECASE)
# A rule that agents told users is about the question if they share this many terms, or this share of the rule's terms.
_RULE_TERMS, _RULE_SHARE = 3, 0.4
# The minimum share of the question in a rule told to users, as a fraction of the largest share in such a rule.
_NEAR_BEST_RULE = 0.6
# A rule told to users repeats another if at least this part of the terms of the shorter one is in both.
_RESTATED = 0.75
# A word is general only if the titles of at least this many procedures contain it.
_SEVERAL = 3
# Days after which the first request of another session is no longer a goal.
_OPEN_DAYS = 7


def known_candidates(known: Known, appraisal: Appraisal) -> Iterator[Candidate]:
    """Yield a candidate for each item of knowledge, except evidence and relations, which are added later.

    Entities are candidates only if the question asks how often they were mentioned.
    """
    yield from (_artifact(artifact, appraisal) for artifact in known.artifacts)
    standing = _standing_rules(known.memories, appraisal.question, appraisal.guidance.expected)
    standing |= _diets(known.memories, appraisal.question)
    yield from (_memory(memory, appraisal, stands=memory.memory_id in standing) for memory in known.memories)
    yield from (_entity(entity, appraisal) for entity in known.entities if _is_informative(entity, appraisal))
    yield from (_conflict(conflict, appraisal) for conflict in known.conflicts)
    yield from (_record(record, appraisal) for record in known.records)


def evidence_candidates(known: Known, candidates: Iterable[Candidate], appraisal: Appraisal) -> Iterator[Candidate]:
    """Yield the latest event behind each of *candidates* that may be included; it is as relevant as its candidate.

    Each event is yielded once. Events that say little about the question ("positive feedback") prove nothing and are
    skipped. The events behind artifacts are skipped, too: the text of an artifact says how often it was seen.
    """
    by_id = {candidate.source_id: candidate for candidate in candidates}
    seen: set[str] = set()
    for evidence in known.evidence:
        supported = by_id.get(evidence.record_id)
        if supported is None or supported.source_type == "artifact" or not supported.useful:
            continue
        if appraisal.share(search_text(evidence.text)) < _LEAST_MEMORY:
            continue
        if evidence.event_id not in seen:
            seen.add(evidence.event_id)
            yield _evidence(evidence, supported, appraisal)


def _artifact(artifact: KnownArtifact, appraisal: Appraisal) -> Candidate:
    remedy = appraisal.guidance.answers(artifact)
    components = appraisal.components(
        appraisal.guidance.relevance(artifact, _share(artifact, appraisal)),
        # A playbook for the current failure, or for the one that the question reports, does not age.
        appraisal.now_us if remedy else artifact.confirmed_us or artifact.created_us,
        support(artifact.confidence, artifact.observed_count),
        appraisal.priors.salience(artifact.artifact_id, artifact.tags, _ARTIFACT_SALIENCE),
        least=_least(artifact.artifact_type, appraisal),
    )
    return Candidate(
        section="constraints" if artifact.artifact_type == "decision_policy" else "procedures",
        source_type="artifact",
        source_id=artifact.artifact_id,
        tokens=artifact.tokens,
        score=components.score,
        components=components,
        content=_with_odds(artifact, appraisal.guidance),
        origin=artifact.agent_id or "compiler",
        confidence=artifact.confidence,
        evidence_count=artifact.observed_count,
        time_us=artifact.created_us,
        verdict=_verdict(held=artifact.status != "deprecated", sound=artifact.sound),
    )


def _with_odds(artifact: KnownArtifact, guidance: Guidance) -> str:
    r"""Return the text of *artifact*; for a procedure, also whether it often failed or is only the best guess.

    >>> schema = KnownArtifact("s", "task_schema", "Fly", "Fly\n1. Book", 0, "", "active", 0.4, 0)
    >>> failing = replace(schema, observed_count=37, success_rate=16 / 37)
    >>> _with_odds(failing, NO_GUIDANCE)
    'Fly (went well in 16 of 37 sessions)\n1. Book'
    >>> _with_odds(failing, Guidance(lead="s", chance=0.31))
    'Fly (only if asked: about 3 of 10 such requests led to it; went well in 16 of 37 sessions)\n1. Book'

    """
    if artifact.artifact_type not in PROCEDURES:
        return artifact.text
    rate, observed, odds = artifact.success_rate, artifact.observed_count, []
    if artifact.artifact_id == guidance.lead and guidance.guesses:
        odds.append(f"only if asked: about {max(1, round(10 * guidance.chance))} of 10 such requests led to it")
    if rate is not None and rate < _WENT_WELL:
        odds.append(f"went well in {round(rate * observed)} of {observed} sessions")
    title, line_end, steps = artifact.text.partition("\n")
    return f"{title} ({'; '.join(odds)}){line_end}{steps}" if odds else artifact.text


def _share(artifact: KnownArtifact, appraisal: Appraisal) -> float:
    """Return the share of the question in *artifact*; for a playbook, without terms common to all failures.

    0 for a procedure whose title has no word of a question that requests no work.
    """
    if artifact.artifact_type == "failure_playbook":
        return appraisal.share_of_failure(artifact.words)
    if artifact.text.startswith(TOLD_TO_USERS):
        return _share_of_rule(artifact, appraisal)
    if appraisal.question.works:
        return appraisal.share(artifact.words)
    # A question is compared only with the title and the text: the words of past requests only help to find a procedure
    # for work. The procedure for booking does not answer "Can this cabin be changed?", even if a step of it chooses a
    # cabin. A title word that most procedures have, such as "order", does not count.
    subject = set(search_text(artifact.title).split()) - appraisal.general_words
    if artifact.artifact_type in PROCEDURES and subject.isdisjoint(appraisal.question.terms):
        return 0.0
    return appraisal.share(search_text(artifact.text))


def _share_of_rule(artifact: KnownArtifact, appraisal: Appraisal) -> float:
    """Return the share of the question in a rule that users were told, or of the rule in the question if larger.

    It is 0 if they share fewer than three terms and less than two fifths of the rule's terms, because one shared term
    says little: a tenant's rules have general terms in common ("order"). It is also 0 if another rule contains much
    more of the question.
    """
    rule_terms = set(search_text(artifact.title).split())
    shared = len(rule_terms.intersection(appraisal.question.terms))
    if shared < _RULE_TERMS and shared < _RULE_SHARE * len(rule_terms):
        return 0.0
    share = appraisal.share(artifact.words)
    return max(share, shared / len(rule_terms)) if share >= _NEAR_BEST_RULE * appraisal.best_rule else 0.0


def best_rule(artifacts: Iterable[KnownArtifact], appraisal: Appraisal) -> float:
    """Return the largest share of the question in a rule that users were told, without deprecated ones."""
    rules = (
        artifact
        for artifact in artifacts
        if artifact.text.startswith(TOLD_TO_USERS) and artifact.status != "deprecated"
    )
    return max((appraisal.share(rule.words) for rule in rules), default=0.0)


def general_words(artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the terms in the titles of more than half of the procedures, and of at least three.

    >>> titles = ("Cancel the order", "Return the order", "Ship the order", "Find the customer")
    >>> sorted(general_words(KnownArtifact("a", "task_schema", title, "", 0, "", "active", 1.0, 0) for title in titles))
    ['order']

    """
    titles = [
        set(search_text(artifact.title).split()) for artifact in artifacts if artifact.artifact_type in PROCEDURES
    ]
    counts = Counter(term for title in titles for term in title)
    return frozenset(term for term, count in counts.items() if count > max(len(titles) / 2, _SEVERAL - 1))


def repeated(
    artifacts: Collection[KnownArtifact], candidates: Collection[Candidate], lead: str | None
) -> frozenset[str]:
    """Return the ids of artifacts that repeat another artifact that may be included.

    - Procedures with only some of the actions of the *lead*.
    - Procedures whose title only adds words to the title of a procedure at least as relevant.
    - Policies about the first step, which every procedure shows.
    - Policies about a lookup result that a procedure states as a condition.
    - Rules told to users that repeat a better one.
    """
    procedures = {artifact.artifact_id: artifact for artifact in artifacts if artifact.artifact_type in PROCEDURES}
    eligible = [candidate for candidate in candidates if candidate.source_id in procedures and candidate.useful]
    shown = [procedures[candidate.source_id] for candidate in eligible]
    first_steps = (
        artifact.artifact_id for artifact in artifacts if shown and artifact.content.get("condition") == WORK_BEGINS
    )
    contained, longer_titles = _contained_in_lead(shown, lead), _with_longer_title(eligible, procedures, lead)
    restated = _restated_rules(artifacts, candidates)
    return frozenset(chain(first_steps, _quoted_policies(artifacts, shown), contained, longer_titles, restated))


def _restated_rules(artifacts: Iterable[KnownArtifact], candidates: Iterable[Candidate]) -> Iterator[str]:
    """Yield the ids of rules told to users that share most of their terms with a better one."""
    rules = {artifact.artifact_id: artifact for artifact in artifacts if artifact.text.startswith(TOLD_TO_USERS)}
    eligible = (candidate for candidate in candidates if candidate.source_id in rules and candidate.useful)
    better = list[set[str]]()
    for candidate in sorted(eligible, key=lambda candidate: candidate.order):
        title_terms = set(search_text(rules[candidate.source_id].title).split())
        if any(len(title_terms & other) >= _RESTATED * min(len(title_terms), len(other)) for other in better):
            yield candidate.source_id
        else:
            better.append(title_terms)


def _quoted_policies(artifacts: Iterable[KnownArtifact], procedures: Sequence[KnownArtifact]) -> Iterator[str]:
    """Yield the ids of the policies about lookup results whose statement one of *procedures* quotes."""
    for artifact in artifacts:
        if str(artifact.content.get("condition")).endswith(AFTER_LOOKUP):
            statements = set(_QUOTATION.findall(artifact.text))
            if any(statement in procedure.text for procedure in procedures for statement in statements):
                yield artifact.artifact_id


def _contained_in_lead(procedures: Sequence[KnownArtifact], lead: str | None) -> Iterator[str]:
    """Yield the ids of *procedures* with some of the actions of the *lead*, and no other actions."""
    lead_actions = {action for procedure in procedures if procedure.artifact_id == lead for action in procedure.actions}
    for procedure in procedures:
        if 0 < len(procedure.actions) < len(lead_actions) and lead_actions.issuperset(procedure.actions):
            yield procedure.artifact_id


def _with_longer_title(
    eligible: Sequence[Candidate], procedures: Mapping[str, KnownArtifact], lead: str | None
) -> Iterator[str]:
    """Yield the ids of procedures, except the *lead*, whose title only adds words to that of one no less relevant."""
    titles = {
        candidate.source_id: set(search_text(procedures[candidate.source_id].title).split()) for candidate in eligible
    }
    for long, short in product(eligible, repeat=2):
        adds_words = titles[short.source_id] < titles[long.source_id]
        if long.source_id != lead and adds_words and short.components.relevance >= long.components.relevance:
            yield long.source_id


def _least(artifact_type: str, appraisal: Appraisal) -> float:
    """Return the minimum relevance of an artifact.

    It is highest for questions that request no work, and for procedures if the compiler's model expects actions.
    Otherwise, it is higher for playbooks than for other artifacts.
    """
    is_in_question = bool(appraisal.guidance.expected) and artifact_type in PROCEDURES
    if is_in_question or not appraisal.question.works:
        return _ASKED_FOR
    return _LEAST_MEMORY if artifact_type == "failure_playbook" else _LEAST_SHARE


def _standing_rules(
    memories: Iterable[KnownMemory], question: Question, expected: Iterable[str] = ()
) -> frozenset[str]:
    """Return the ids of the memories that apply whatever the *question* is about.

    They are policies and preferences that are not hard, and that apply to any work, not only to the work in which they
    were stated:

    - For a request for work, the ten that share most terms with it, and the five best supported of the other policies
      that are not for one kind of thing, or for one that the request or the *expected* actions name.
    - For a question whether something is allowed, only the ten that share most terms with it.
    - For any other question, those that say how to answer ("Always answer in German").

    A question about how to answer, or for all rules, gets all policies and preferences that hold; a question for all
    goals gets all goals that hold.
    """
    if question.of_manner or asks_for_goals(question.terms):
        kinds = _MANNERS if question.of_manner else {"goal"}
        return frozenset(memory.memory_id for memory in memories if memory.kind in kinds and memory.held)
    likely = (memory for memory in memories if memory.confidence > _AT_HAND)
    rules = [memory for memory in likely if memory.kind in _MANNERS and memory.held and not memory.hard]
    if not (question.works or asks_permission(question.text)):
        of_answers = (rule for rule in rules if _OF_ANSWERS.search(rule.text))
        return frozenset(rule.memory_id for rule in of_answers if _applies(rule, question.terms))
    shared = {rule.memory_id: _terms_shared(rule, question) for rule in rules}

    def order(rule: KnownMemory) -> tuple[float, ...]:
        return -shared[rule.memory_id], -rule.confidence, -rule.observations, -rule.last_us

    best = sorted(rules, key=lambda rule: (order(rule), rule.memory_id))
    matching = [rule.memory_id for rule in best if shared[rule.memory_id]]
    work = {*question.terms, *terms(" ".join(expected).replace("_", " "))}
    general = [
        rule.memory_id for rule in best if rule.is_soft_rule and not shared[rule.memory_id] and _applies(rule, work)
    ]
    return frozenset([*matching[:_MOST_MATCHING], *(general[:_MOST_STANDING] if question.works else ())])


def _diets(memories: Iterable[KnownMemory], question: Question) -> frozenset[str]:
    """Return the ids of the memories about diets and allergies; none if the *question* is not about food."""
    if not diet_terms(question.terms):
        return frozenset()
    return frozenset(memory.memory_id for memory in memories if memory.held and _DIET.search(memory.text))


def _kind(rule: KnownMemory) -> frozenset[str]:
    """The terms of the kind of thing that a soft rule is for; empty if it is general."""
    match = _OF_ONE_KIND.search(_SPEAKER.sub("", rule.text)) if rule.is_soft_rule else None
    groups = match.groupdict() if match else {}
    # On the occasion "book trains", the object distinguishes the work better than the verb.
    occasion = (groups.pop("occasion", "") or "").partition(" ")
    named = " ".join(filter(None, (*groups.values(), occasion[2] or occasion[0])))
    kind = frozenset(terms(named))
    return kind if kind.isdisjoint(_WRITING) else kind | _TEXTS


def _applies(rule: KnownMemory, work: Collection[str]) -> bool:
    """Whether a memory is not for one kind of thing, or for one that a term of the *work* names ("git commit")."""
    kind = _kind(rule)
    return not kind or not kind.isdisjoint(work)


def _terms_shared(rule: KnownMemory, question: Question) -> int:
    """Return the number of the question's terms in a rule.

    It is 0 for a preference with a share below ``_PREFERRED``, and for a rule of a kind that is not asked about.
    """
    kind = _kind(rule)
    if kind and kind.isdisjoint(question.terms):
        return 0
    shared = len(set(rule.words.split()).intersection(question.terms))
    return 0 if rule.kind == "preference" and shared < _PREFERRED * len(question.terms) else shared


def _memory(memory: KnownMemory, appraisal: Appraisal, *, stands: bool) -> Candidate:
    rule = memory.kind == "policy" and memory.hard
    # What is allowed is shown as a fact, because among the constraints it would read like a command.
    kind = "policy" if rule or memory.is_soft_rule else "fact" if memory.withdraws else memory.kind
    is_current_goal = memory.kind == "goal" and memory.here
    # The first request of another session is shown as a goal only if the question closely resembles it.
    least = _LEAST_POLICY if memory.kind == "policy" or stands else _LEAST_MEMORY
    least = _ASKED_FOR if memory.method == FIRST_REQUEST else least
    is_asked_for = appraisal.question.of_manner or memory.kind == "goal" or _DIET.search(memory.text)
    standing = (1.0 if is_asked_for else _STANDING) if stands else 0.0
    relevance = 1.0 if is_current_goal else max(appraisal.match(memory), standing)
    if appraisal.question.works and not stands and not _applies(memory, appraisal.question.terms):
        relevance = 0.0
    if memory.method == FIRST_REQUEST and not memory.here and _is_of_other_items(memory.text, appraisal.question.text):
        relevance = 0.0
    components = appraisal.components(
        relevance,
        memory.last_us,
        _trust(memory),
        _MEMORY_SALIENCE.get(memory.kind, _ENTITY_SALIENCE),
        least=0.0 if rule or memory.pinned else least,
    )
    return Candidate(
        section="core" if rule else _SECTIONS.get(kind, "facts"),
        source_type="policy" if kind == "policy" else "memory",
        source_id=memory.memory_id,
        tokens=memory.tokens,
        score=components.score,
        components=components,
        content=memory.text,
        origin=memory.method or "semantic",
        confidence=memory.confidence,
        evidence_count=memory.observations,
        time_us=memory.last_us,
        verdict=_verdict(held=memory.held and not _has_expired(memory, appraisal.now_us), sound=memory.sound),
        exempt=rule or memory.pinned,
    )


def _is_of_other_items(text: str, question: str) -> bool:
    """Whether *text* contains an identifier, file or host that *question* does not contain.

    >>> _is_of_other_items("Migrate plum.example.", "Migrate fig.example"), _is_of_other_items("Migrate it.", "Move it")
    (True, False)
    """
    in_question = set(_TOKEN.findall(question.lower()))
    return any(token not in in_question and _ITEM.search(token) for token in _TOKEN.findall(text.lower()))


def _trust(memory: KnownMemory) -> float:
    """Return the trust in a memory; a memory that someone asked to remember needs no second observation."""
    return memory.confidence if memory.method == REMEMBERED else support(memory.confidence, memory.observations)


def _has_expired(memory: KnownMemory, now_us: int) -> bool:
    """Whether a memory is the first request of another session, and carried out or more than a week old."""
    if memory.method != FIRST_REQUEST or memory.here:
        return False
    return not memory.open or now_us - memory.last_us > _OPEN_DAYS * DAY_US


def _verdict(*, held: bool, sound: bool) -> str:
    if not sound:
        return "provenance_failed"
    return "" if held else "deprecated"


def _is_informative(entity: KnownEntity, appraisal: Appraisal) -> bool:
    """Whether the question names the entity and asks how often it was mentioned; never for concepts and tags."""
    is_asked_for = _ASKS_HOW_OFTEN.search(appraisal.question.text) is not None
    return is_asked_for and entity.type not in _UNCOUNTED_TYPES and appraisal.names(entity.name)


def _entity(entity: KnownEntity, appraisal: Appraisal) -> Candidate:
    times = "once" if entity.mentions == 1 else f"{entity.mentions} times"
    # Fully relevant, because the question asks for this count.
    components = appraisal.components(
        1.0,
        entity.last_us,
        support(entity.confidence, entity.mentions),
        _ENTITY_SALIENCE,
        least=0.0,
    )
    candidate = Candidate(
        "graph_relations", "entity", entity.entity_id, 0, components.score, components, origin="graph"
    )
    return _with_content(candidate, f"{entity.name} ({entity.type}), mentioned {times}", appraisal)._replace(
        confidence=entity.confidence, evidence_count=entity.mentions, time_us=entity.last_us
    )


def relation_candidate(relation: KnownRelation, appraisal: Appraisal) -> Candidate:
    """Return a relation as a candidate; only relations that are sides of a conflict are shown one by one."""
    content = f"{relation.source} {relation.relation_type.replace('_', ' ')} {relation.target}"
    named = [appraisal.names(relation.source), appraisal.names(relation.target)]
    factor = 1.0 if all(named) else _PARTLY_NAMED
    relevance = appraisal.share(search_text(content)) * factor if any(named) else 0.0
    components = appraisal.components(
        relevance,
        relation.last_us,
        support(relation.confidence, relation.evidence_count),
        relation.weight,
    )
    candidate = Candidate(
        "graph_relations", "relation", relation.relation_id, 0, components.score, components, origin="graph"
    )
    return _with_content(candidate, content, appraisal)._replace(
        confidence=relation.confidence,
        evidence_count=relation.evidence_count,
        time_us=relation.last_us,
    )


def _conflict(conflict: KnownConflict, appraisal: Appraisal) -> Candidate:
    relevance = appraisal.share(search_text(conflict.text))
    components = appraisal.components(relevance, conflict.detected_us, 1.0, _ARTIFACT_SALIENCE)
    candidate = Candidate(
        "conflicts", "conflict", conflict.conflict_id, 0, components.score, components, origin="conflicts"
    )
    return _with_content(candidate, conflict.text, appraisal)._replace(
        evidence_count=len(conflict.sides), time_us=conflict.detected_us
    )


def _with_content(candidate: Candidate, content: str, appraisal: Appraisal) -> Candidate:
    return candidate._replace(content=content, tokens=appraisal.count_tokens(content))


def _evidence(evidence: Evidence, supported: Candidate, appraisal: Appraisal) -> Candidate:
    components = appraisal.components(supported.components.relevance, evidence.time_us, 1.0, evidence.salience)
    return Candidate(
        section=EVIDENCE,
        source_type="episode",
        source_id=evidence.event_id,
        tokens=evidence.tokens,
        score=components.score,
        components=components,
        content=attributed(evidence.text, evidence.speaker),
        origin=EPISODIC,
        time_us=evidence.time_us,
        session_id=evidence.session_id,
        speaker=evidence.speaker,
        label=evidence.label,
    )
