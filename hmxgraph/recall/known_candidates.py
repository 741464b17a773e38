"""Knowledge as candidates by section, and artifacts as prompt text (HMX-C 3.1)."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from typing import Any

from hmxgraph.protocol.document import content_faults
from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.candidates import EPISODIC, SAID_BY, THRESHOLD, Candidate, Components, RecencyDecay, support
from hmxgraph.recall.knowledge import (
    AFTER_LOOKUP,
    ASKED_TO,
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
from hmxgraph.recall.question import ANY_FAILURE, LONGEST_QUESTION, Question, without_reporting_verb
from hmxgraph.text.lines import attributed, plain_quotes, rejection, speaker_name, tool_quote
from hmxgraph.text.terms import TokenCounter, search_text, terms

# Appraisal of knowledge: match with the question, recency, priors.

# Knowledge that matches less of the question than this is irrelevant, however recent and well supported it is.
_LEAST_SHARE = 0.1
# Matching this many rare terms counts as a full match.
_ENOUGH_TERMS = 6
# A memory or playbook that matches no more than a third of the question is about something else, unless it is named.
_LEAST_MEMORY = 0.35
_NAMED = 0.5
# A name counts if its terms have at least this fraction of the weight of the rarest term: common names select nothing.
_RARE_NAME = 0.5
_NAME = re.compile(r"\b(?=\w*[A-Z])[\w.@/-]*\w")
_QUOTATION = re.compile(r"“[^“”]+”")


@dataclass(frozen=True)
class Appraisal:
    """How a question scores knowledge: term weights, recency decay and priors in force."""

    question: Question
    weights: Mapping[str, float]
    decay: RecencyDecay
    priors: Priors
    count_tokens: TokenCounter
    guidance: Guidance = NO_GUIDANCE

    @cached_property
    def _enough(self) -> float:
        return sum(sorted(self.weights.values(), reverse=True)[:_ENOUGH_TERMS])

    def share(self, words: str) -> float:
        """Return the share of the question's term weight in *words*, in [0, 1]; 1 for a full match."""
        term_set = set(words.split())
        matched = sum(weight for term, weight in self.weights.items() if term in term_set)
        return min(matched / self._enough, 1.0) if self._enough else 0.0

    def share_of_failure(self, words: str) -> float:
        """Return :meth:`share` for the *words* of a playbook, without terms common to all failures if others remain."""
        specific = {term: weight for term, weight in self.weights.items() if term not in ANY_FAILURE}
        return replace(self, weights=specific).share(words) if specific else self.share(words)

    def match(self, memory: KnownMemory) -> float:
        """Return the relevance of a memory: its share of the question, at least ``_NAMED`` if the question names it.

        A memory that means the same as the question, according to an embedder, needs no words in common with it.
        """
        share = max(self.share(memory.words), memory.meaning)
        statement = SAID_BY.sub("", memory.text, count=1)
        # Goals and rules begin with a verb: its capital does not make it a name.
        statement = statement.partition(" ")[2] if memory.kind in _SECTIONS else statement
        is_named = any(map(self.names, memory.aliases)) or any(map(self._is_rare, _NAME.findall(statement)))
        return max(share, _NAMED) if is_named else share

    def _is_rare(self, name: str) -> bool:
        """Whether the question contains *name*, and the name is rare enough to select something."""
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
        """Return the four components of a record last confirmed at *time_us*.

        Below the *least* relevance neither recency nor salience counts, so that the score alone drops the record;
        a question without terms has no such limit.
        """
        if self._enough and relevance < least:
            return Components(relevance, 0.0, provenance, 0.0)
        return Components(relevance, self.decay.recency(time_us), provenance, salience)


# Artifacts as prompt text: only what to do, without archive details.

Content = Mapping[str, Any]


def brief(artifact_type: str, title: str, text: str, content: Content) -> str:
    """Return the artifact as short instructions; its full *text* if its type or content has no short form.

    >>> print(brief("task_schema", "Deploy", "", {"steps": [
    ...     {"order": 1, "description": "Apply with kubectl", "tools_used": ["kubectl"], "optional": False},
    ...     {"order": 2, "description": "Verify the rollout", "tools_used": ["kubectl"], "optional": True}]}))
    Deploy
    1. Apply with kubectl
    2. Verify the rollout (kubectl, optional)

    """
    written = _BRIEFLY.get(artifact_type)
    if written is None or content_faults("artifact", artifact_type, dict(content)):
        return text
    return "\n".join(line for line in written(title, content) if line) or text


def _task_schema(title: str, content: Content) -> Iterator[str]:
    if not content.get("steps"):
        return
    yield title
    yield _list("Before", content.get("preconditions"))
    for step in content["steps"]:
        yield f"{step.get('order', '-')}. {step.get('description', '')}{_note(step)}"
    yield _list("After", content.get("postconditions"))


def _failure_playbook(title: str, content: Content) -> Iterator[str]:
    if not content.get("recovery_steps"):
        return
    pattern = str(content.get("failure_pattern") or "")
    heading = _without_quotation(title, pattern)
    yield heading
    for number, step in enumerate(content["recovery_steps"], start=1):
        yield f"{number}. {step}"
    yield _list("Prevent", content.get("prevention_strategies"))
    # Last, so that none of our own lines follow and look like part of the quotation.
    yield "" if pattern.lower() in heading.lower() else tool_quote(pattern)


def _causal_pattern(_title: str, content: Content) -> Iterator[str]:
    """Yield a short form only if the cause quotes a tool: the quotation gets a labelled line of its own."""
    cause = str(content.get("cause") or "")
    if not (cited := _CITED.search(cause)):
        return
    yield f"When {cause[: cited.start()]}with this{cause[cited.end() :]}, {content.get('effect')} more often"
    yield _list("Conditions", content.get("conditions"))
    yield tool_quote(cited.group("words"))


def _decision_policy(title: str, content: Content) -> Iterator[str]:
    if not content.get("recommendation"):
        return
    condition = str(content.get("condition") or title)
    yield f"{_moment(condition)}: {content['recommendation']}"
    for other in content.get("alternatives") or ():
        yield f"Instead of: {other.get('description', '')}{_outcome(other)}"


def _moment(condition: str) -> str:
    """Return the condition of a policy as the beginning of a sentence.

    >>> _moment("the work begins"), _moment("push has failed"), _moment("When in doubt")
    ('First step', 'When push has failed', 'When in doubt')

    """
    if condition == WORK_BEGINS:
        return "First step"
    return condition if condition.lower().startswith("when ") else f"When {condition}"


_BRIEFLY: Mapping[str, Callable[[str, Content], Iterator[str]]] = {
    "task_schema": _task_schema,
    "failure_playbook": _failure_playbook,
    "decision_policy": _decision_policy,
    "causal_pattern": _causal_pattern,
}
_CITED = re.compile(r"\bwith “(?P<words>.*)”", re.DOTALL)


def _without_quotation(title: str, pattern: str) -> str:
    """Remove the quotation of *pattern* from *title*.

    >>> _without_quotation("Recover when ship fails: “no carrier”", "ShipError: no carrier")
    'Recover when ship fails'
    >>> _without_quotation("Recover from: “no carrier”", "no carrier")
    'Recover from this'
    >>> _without_quotation("Run “blue” again", "no carrier")
    'Run “blue” again'

    """
    before, quote, quotation = title.partition("“")
    cited = plain_quotes(quotation.removesuffix("”").removesuffix(" ..."))
    if not quote or cited.lower() not in plain_quotes(pattern).lower():
        return title
    head = before.rstrip(" :")
    return f"{head} this" if head.endswith("from") else head


def _list(label: str, values: Any) -> str:
    return f"{label}: {'; '.join(values)}" if values else ""


def _note(step: Content) -> str:
    """Return the tools that the description does not name, and whether the step is optional."""
    unnamed = [tool for tool in step.get("tools_used") or () if tool not in str(step.get("description", ""))]
    notes = [*unnamed, *(["optional"] if step.get("optional") else [])]
    return f" ({', '.join(notes)})" if notes else ""


def _outcome(other: Content) -> str:
    outcome = other.get("outcome")
    return f" ({outcome})" if outcome else ""


# Task records as candidates, weighted by trust (memd).

# Trust in a record: countersigned, not countersigned, rejected by another agent.
_VERIFIED = 1.0
_SIGNED = 0.8
REJECTED = 0.2
_SALIENCE = 0.7
# Source types of records by section (HMX-C 3.2).
_SOURCE_TYPES = {"episodes": "episode"}


def trust(record: KnownRecord) -> float:
    """Return the trust in *record*, in [0, 1].

    >>> trust(KnownRecord("r", "evidence", "", "", 0, "s", trust_tier="verified_record"))
    1.0

    """
    if record.rejected:
        return REJECTED
    return _VERIFIED if record.trust_tier == "verified_record" else _SIGNED


def _record_candidates(records: Iterable[KnownRecord], appraisal: Appraisal) -> Iterator[Candidate]:
    """Yield a candidate for each of *records*; digests are never among them."""
    yield from (_record(record, appraisal) for record in records)


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
    """Return the text of a record with its author, and whether another agent verified it.

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
_MERE_NAMES = frozenset({"concept", "tag"})
EVIDENCE = "evidence"
_SECTIONS = {"policy": "constraints", "goal": "goals"}
# Factor for a relation of which the question names only one end.
_PARTLY_NAMED = 0.5
# Share of a failure's words that a question must contain to report it: lower if it names the action, lowest if it also
# speaks of trouble, since people quote the first part of a message. A failure of ``_TELLING_WORDS``
# or more words needs neither.
_REPORTED, _REPORTED_WITH_ACTION, _QUOTED_WITH_ACTION = 0.8, 0.6, 0.4
_TELLING_WORDS = 4
# Verbs that occur in any request, although actions begin with them, too.
_COMMON_VERBS = frozenset(terms("get find look make take give put"))
# Possessions and past actions: "our booking", "I cancelled it".
_NO_REQUEST = re.compile(
    r"\b(?:my|our|your|his|her|their|the|this|that)\s+\w+|\b(?:i|we|he|she|they|have|has|had|was|were|been)\s+\w+ed\b",
    re.IGNORECASE,
)
# A procedure that went well in a smaller share of its sessions than this is shown with that share.
_WENT_WELL = 0.8
# Minimum relevance of a procedure for questions about facts.
_ASKED_FOR = 0.5
# Relevance of a standing rule to any work, and the number of rules that apply without a word of the question.
_STANDING, _MOST_STANDING = 0.4, 5
# The confidence of a rule that one sentence states about things at hand; such rules may not apply to other work.
_AT_HAND = 0.5
_COUNTS = re.compile(r"\bhow (?:often|many times) .*\bmention", re.IGNORECASE)
# Days after which an open request is no longer a goal.
_OPEN_DAYS = 7


def known_candidates(known: Known, appraisal: Appraisal) -> Iterator[Candidate]:
    """Yield a candidate per item of knowledge, but for evidence and relations, which are added later.

    Entities are candidates only if the question asks how often they were mentioned.
    """
    yield from (_artifact(artifact, appraisal) for artifact in known.artifacts)
    standing = _standing_rules(known.memories) if appraisal.question.works else frozenset[str]()
    yield from (_memory(memory, appraisal, stands=memory.memory_id in standing) for memory in known.memories)
    yield from (_entity(entity, appraisal) for entity in known.entities if _is_informative(entity, appraisal))
    yield from (_conflict(conflict, appraisal) for conflict in known.conflicts)
    yield from _record_candidates(known.records, appraisal)


def evidence_candidates(known: Known, records: Iterable[Candidate], appraisal: Appraisal) -> Iterator[Candidate]:
    """Yield the latest event that supports each of *records*, with the relevance of the record; each event once.

    Skips events that say little about the question ("positive feedback"), because they prove nothing, and the
    events behind artifacts, because an artifact's text already says how often it was seen.
    """
    by_id = {record.source_id: record for record in records}
    seen: set[str] = set()
    for evidence in known.evidence:
        record = by_id.get(evidence.record_id)
        if record is None or record.source_type == "artifact" or not _is_eligible(record):
            continue
        if appraisal.share(search_text(evidence.text)) < _LEAST_MEMORY:
            continue
        if evidence.event_id not in seen:
            seen.add(evidence.event_id)
            yield _evidence(evidence, record, appraisal)


def _is_eligible(record: Candidate) -> bool:
    return not record.verdict and (record.exempt or record.score >= THRESHOLD)


def _artifact(artifact: KnownArtifact, appraisal: Appraisal) -> Candidate:
    remedy = appraisal.guidance.answers(artifact)
    components = appraisal.components(
        appraisal.guidance.relevance(artifact, _share(artifact, appraisal)),
        # A playbook for the current failure does not age.
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
    """Return the share of the question in *artifact*; for a playbook, without words common to all playbooks."""
    if artifact.artifact_type == "failure_playbook":
        return appraisal.share_of_failure(artifact.words)
    if appraisal.question.works:
        return appraisal.share(artifact.words)
    # The words of past requests help to find a procedure for work, not for a question. A question must share a word
    # with the title: "Can this cabin be changed?" is not answered by how to book, even if booking takes a cabin.
    subject = set(search_text(artifact.title).split())
    if artifact.artifact_type in PROCEDURES and subject.isdisjoint(appraisal.question.terms):
        return 0.0
    return appraisal.share(search_text(artifact.text))


def remedies(question: Question, artifacts: Iterable[KnownArtifact], failure: str) -> frozenset[str]:
    """Return the ids of the playbooks for the *failure* of the running session and for the one the question reports.

    A question reports a failure if it contains enough of the failure's words; of several failures, the one with the
    most words in common, then one whose action the question names. A failure of few words needs a question that speaks
    of trouble or names its action.

    >>> from hmxgraph.recall.question import understood
    >>> def playbook(name, key):
    ...     return KnownArtifact(name, "failure_playbook", "", "", 0, "", "active", 0.5, 0, failures=(key,))
    >>> known = [playbook("p1", "branch upstream"), playbook("p2", "disk full"), playbook("p3", "branch protect push")]
    >>> sorted(remedies(understood("git push failed: the branch has no upstream", 0), known, "disk full"))
    ['p1', 'p2']

    """
    playbooks = [artifact for artifact in artifacts if artifact.failures]
    message_terms = _terms_without_actions(question, {action for each in playbooks for action in each.actions})
    best = max(
        ((_reported(each, question, message_terms), each.artifact_id) for each in playbooks), default=((0, 0), "")
    )
    matching_ids = {artifact.artifact_id for artifact in playbooks if failure and failure in artifact.failures}
    return frozenset(matching_ids | ({best[1]} if best[0][0] else set()))


def actions_named(question: Question, artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the actions of procedures that the question names; a program's subcommand is enough.

    >>> from hmxgraph.recall.question import understood
    >>> schema = KnownArtifact("s", "task_schema", "", "", 0, "", "active", 0.5, 0, actions=("git commit", "git add"))
    >>> sorted(actions_named(understood("How do I commit here?", 0), [schema]))
    ['git commit']

    """
    names = {action: search_text(action.split(" ", 1)[-1]) for action in _actions_of_procedures(artifacts)}
    return frozenset(action for action, name in names.items() if name and question.mentions(name))


def actions_asked(question: Question, artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the actions of procedures, and the changes covered by policies, whose verb is a word of the question.

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
    return frozenset(chain.from_iterable(each.actions for each in artifacts if each.artifact_type in PROCEDURES))


def changes_of_policies(artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the changes covered by policies about requests for a change."""
    policies = [each for each in artifacts if each.artifact_type == "decision_policy"]
    asking = [each for each in policies if str(each.content.get("condition", "")).startswith(ASKED_TO)]
    return frozenset(action for each in asking for action in each.actions[-1:])


def actions_in_trouble(question: Question, artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the actions whose whole name a question about trouble contains."""
    known = {action for artifact in artifacts for action in artifact.actions} if question.troubled else set[str]()
    return frozenset(action for action in known if question.mentions(search_text(action)))


def actions_suspected(question: Question, artifacts: Iterable[KnownArtifact]) -> frozenset[str]:
    """Return the actions of playbooks that a question about trouble names by at least half of their words.

    The name of a program does not count: it does not say what the action does.

    >>> from hmxgraph.recall.question import understood
    >>> playbook = KnownArtifact("p", "failure_playbook", "", "", 0, "", "active", 0.5, 0, failures=("full",))
    >>> playbook = replace(playbook, actions=("book_seat",))
    >>> sorted(actions_suspected(understood("Booking is rejected", 0), [playbook]))
    ['book_seat']

    """
    if not question.troubled:
        return frozenset()
    known = {action for artifact in artifacts if artifact.failures for action in artifact.actions}
    return frozenset(action for action in known if _calls_for(question, action.split(" ", 1)[-1]))


def warning(question: Question, artifacts: Iterable[KnownArtifact], guidance: Guidance) -> str:
    """Return the id of the playbook to show before anything has failed, or "".

    It warns of a failure of an expected step whose action has at least half of its words in the question.
    One warning is enough; the failure seen most often comes first.
    """
    ahead = [each for each in artifacts if guidance.lies_ahead(each) and _calls_for(question, each.actions[0])]
    return min(ahead, key=lambda each: (-each.observed_count, each.artifact_id)).artifact_id if ahead else ""


def repeated(artifacts: Collection[KnownArtifact], candidates: Iterable[Candidate], lead: str | None) -> frozenset[str]:
    """Return the ids of artifacts that repeat an eligible procedure.

    These are procedures with only some of the actions of the *lead*; procedures whose title only adds words to the
    title of a procedure at least as relevant; policies about the first step, which any procedure shows; and policies
    about a lookup result that a procedure states as a condition.
    """
    procedures = {artifact.artifact_id: artifact for artifact in artifacts if artifact.artifact_type in PROCEDURES}
    eligible = [each for each in candidates if each.source_id in procedures and _is_eligible(each)]
    shown = [procedures[each.source_id] for each in eligible]
    begins = (each.artifact_id for each in artifacts if shown and each.content.get("condition") == WORK_BEGINS)
    within, wider = _within(shown, lead), _wider(eligible, procedures, lead)
    return frozenset(chain(begins, _conditions(artifacts, shown), within, wider))


def _conditions(artifacts: Iterable[KnownArtifact], procedures: Sequence[KnownArtifact]) -> Iterator[str]:
    """Yield the ids of the policies about lookup results whose statement one of *procedures* quotes."""
    for artifact in artifacts:
        if str(artifact.content.get("condition")).endswith(AFTER_LOOKUP):
            statements = set(_QUOTATION.findall(artifact.text))
            if any(statement in procedure.text for procedure in procedures for statement in statements):
                yield artifact.artifact_id


def _within(procedures: Sequence[KnownArtifact], lead: str | None) -> Iterator[str]:
    """Yield the ids of *procedures* with some of the actions of the *lead*, and no others."""
    lead_actions = {action for each in procedures if each.artifact_id == lead for action in each.actions}
    for each in procedures:
        if 0 < len(each.actions) < len(lead_actions) and lead_actions.issuperset(each.actions):
            yield each.artifact_id


def _wider(eligible: Sequence[Candidate], procedures: Mapping[str, KnownArtifact], lead: str | None) -> Iterator[str]:
    """Yield the ids of procedures, except the *lead*, whose title only adds words to one that is no less relevant."""
    titles = {each.source_id: set(search_text(procedures[each.source_id].title).split()) for each in eligible}
    for wide, narrow in product(eligible, repeat=2):
        more_words = titles[narrow.source_id] < titles[wide.source_id]
        if wide.source_id != lead and more_words and narrow.components.relevance >= wide.components.relevance:
            yield wide.source_id


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
    """Return the terms of the question without the names of actions and the verb before a quoted error message.

    Neither is part of the message: in ``get_order returned "Error: gone"``, nothing was returned to a shop.
    """
    text = without_reporting_verb(question.text[:LONGEST_QUESTION])
    for action in sorted(actions, key=lambda name: (-len(name), name)):
        text = text.replace(action, " ", 1)
    return frozenset(terms(text))


def _reported(artifact: KnownArtifact, question: Question, message_terms: frozenset[str]) -> tuple[int, int]:
    """Return how many words of the failure the question contains, 0 if too few, and whether it names the action.

    A question about trouble also contains enough of them if it describes nothing else.
    """
    named = any(map(question.mentions, map(search_text, artifact.actions)))
    least = _least_share(named=named, troubled=question.troubled)
    described = message_terms - ANY_FAILURE - set(search_text(" ".join(artifact.actions)).split())
    keys = [set(key.split()) for key in artifact.failures]
    matched = [
        len(message_terms.intersection(key))
        for key in keys
        if (
            len(message_terms.intersection(key)) >= max(least * len(key), min(2, len(key)))
            and (named or question.troubled or len(key) >= _TELLING_WORDS)
        )
        or (question.troubled and len(described) > 1 and described <= key)
    ]
    return max(matched, default=0), int(named)


def _least_share(*, named: bool, troubled: bool) -> float:
    """Return the share of a failure's words that a question must contain to report it."""
    if not named:
        return _REPORTED
    return _QUOTED_WITH_ACTION if troubled else _REPORTED_WITH_ACTION


def _least(artifact_type: str, appraisal: Appraisal) -> float:
    """Return the minimum relevance of an artifact: higher if no work is asked for, or if procedures compete."""
    rivals = bool(appraisal.guidance.expected) and artifact_type in PROCEDURES
    if rivals or not appraisal.question.works:
        return _ASKED_FOR
    return _LEAST_MEMORY if artifact_type == "failure_playbook" else _LEAST_SHARE


def _standing_rules(memories: Iterable[KnownMemory]) -> frozenset[str]:
    """Return the ids of the best-supported soft rules, which apply to any work; those about things at hand do not."""
    likely = (memory for memory in memories if memory.confidence > _AT_HAND)
    rules = [memory for memory in likely if memory.kind == "policy" and memory.held and not memory.hard]
    best = sorted(rules, key=lambda rule: (-rule.confidence, -rule.observations, -rule.last_us, rule.memory_id))
    return frozenset(rule.memory_id for rule in best[:_MOST_STANDING])


def _memory(memory: KnownMemory, appraisal: Appraisal, *, stands: bool) -> Candidate:
    rule = memory.kind == "policy" and memory.hard
    own = memory.kind == "goal" and memory.here
    # The first request of another session is a goal here only if the question is much like it.
    least = _ASKED_FOR if memory.method == FIRST_REQUEST else _LEAST_MEMORY
    relevance = 1.0 if own else max(appraisal.match(memory), _STANDING if stands else 0.0)
    components = appraisal.components(
        relevance,
        memory.last_us,
        _trust(memory),
        _MEMORY_SALIENCE.get(memory.kind, _ENTITY_SALIENCE),
        least=0.0 if rule or memory.pinned else least,
    )
    return Candidate(
        section="core" if rule else _SECTIONS.get(memory.kind, "facts"),
        source_type="policy" if memory.kind == "policy" else "memory",
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


def _trust(memory: KnownMemory) -> float:
    """Return the trust in a memory; explicit statements need no second observation."""
    return memory.confidence if memory.method == REMEMBERED else support(memory.confidence, memory.observations)


def _has_expired(memory: KnownMemory, now_us: int) -> bool:
    """Whether a request is no longer a goal: its session has ended or been silent for days."""
    if memory.method != FIRST_REQUEST or memory.here:
        return False
    return not memory.open or now_us - memory.last_us > _OPEN_DAYS * DAY_US


def _verdict(*, held: bool, sound: bool) -> str:
    if not sound:
        return "provenance_failed"
    return "" if held else "deprecated"


def _is_informative(entity: KnownEntity, appraisal: Appraisal) -> bool:
    """Whether the question names the entity and asks how often it was mentioned."""
    asked = _COUNTS.search(appraisal.question.text) is not None
    return asked and entity.type not in _MERE_NAMES and appraisal.names(entity.name)


def _entity(entity: KnownEntity, appraisal: Appraisal) -> Candidate:
    times = "once" if entity.mentions == 1 else f"{entity.mentions} times"
    # Fully relevant: the count is what the question asks for.
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
    """Return a relation that is a side of a conflict as a candidate of its own."""
    content = f"{relation.source} {relation.relation_type.replace('_', ' ')} {relation.target}"
    both = appraisal.names(relation.source) and appraisal.names(relation.target)
    named = both or appraisal.names(relation.source) or appraisal.names(relation.target)
    relevance = appraisal.share(search_text(content)) * (1.0 if both else _PARTLY_NAMED) if named else 0.0
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


def _evidence(evidence: Evidence, record: Candidate, appraisal: Appraisal) -> Candidate:
    components = appraisal.components(record.components.relevance, evidence.time_us, 1.0, evidence.salience)
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
