"""Grounding: find out which task records speak for or against a claim (memd: Trust Boundary).

Evidence, the ends of runs and tasks, decisions, reviews, verifications and revisions can ground a claim; starts and
checkpoints cannot. In these records, questions and guesses do not count, and plans count only in decisions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from hmxgraph.protocol.record_results import RecordView
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.records.search import means_failure, record_text
from hmxgraph.records.statements import Side, Statement, claims, failure, side, statements
from hmxgraph.records.trust import COUNTERSIGNING, agent_key, countersigns, rejects

Relation: TypeAlias = Literal["supporting", "conflicting", "hint", "unrelated"]
# Kinds of records that can ground a claim.
GROUNDING = frozenset({"evidence", "run_finish", "task_finish", *COUNTERSIGNING})
_RELATIONS: Mapping[Side | None, Relation] = {"for": "supporting", "against": "conflicting", None: "unrelated"}
_OPPOSITE: Mapping[Side, Side] = {"for": "against", "against": "for"}


class Grounds(NamedTuple):
    """A record's relation to a claim, and its trust."""

    relation: Relation
    trust_tier: str


def grounding_status(grounds: Sequence[Grounds]) -> str:
    """How well a claim is grounded, by its supporting and conflicting records and their trust.

    >>> grounding_status([Grounds("supporting", "verified_record")])
    'verified'
    >>> grounding_status([Grounds("hint", "compiled_digest_hint")])
    'hint_only'
    """
    relations = {ground.relation for ground in grounds}
    if {"supporting", "conflicting"} <= relations:
        return "contested"
    if "conflicting" in relations:
        return "contradicted"
    if "supporting" in relations:
        verified = any(ground.relation == "supporting" and ground.trust_tier == "verified_record" for ground in grounds)
        return "verified" if verified else "grounded"
    return "hint_only" if "hint" in relations else "ungrounded"


@dataclass(frozen=True)
class Case:
    """A claim (a text or a record's id), the records about it, the records they reply to, and the replies to them."""

    claim: str
    records: Mapping[str, RecordView]

    def relation(self, view: RecordView) -> Relation:
        """How *view* relates to the claim.

        Records of kinds that cannot ground a claim, hidden records (superseded, erased) and rejected ones are
        unrelated. A digest or an unsigned record is at most a hint.
        """
        if view.artifact_kind == "digest":
            return "hint" if self._side_of(statements(record_text(view.record))) else "unrelated"
        if view.artifact_kind not in GROUNDING or view.hidden_reason or view.rejected_by:
            return "unrelated"
        judged = self._judged(view)
        signed = agent_key(view.record.agent_id) is not None
        return _RELATIONS[judged] if signed or judged is None else "hint"

    @cached_property
    def _clauses(self) -> tuple[Statement, ...]:
        """The clauses of the claim; if the claim is a record's id, the statements of that record."""
        claim_view = self.records.get(self.claim)
        if claim_view is None:
            return claims(self.claim)
        return tuple(_statements(claim_view.record, None))

    @cached_property
    def _hypotheses(self) -> Mapping[str, tuple[Statement, ...]]:
        """The clauses of each task's hypothesis, by task id."""
        starts = (view.record for view in self.records.values() if view.artifact_kind == "task_start")
        return {start.task_id: claims(start.hypothesis) for start in starts if start.hypothesis}

    def _judged(self, view: RecordView) -> Side | None:
        """The side that a record takes on the claim; None if it takes none."""
        record = view.record
        parent = self.records.get(record.reply_to_artifact_id or "")
        stated = self._side_of(_statements(record, parent))
        if record.artifact_kind in COUNTERSIGNING and parent is not None and record.relation_kind != "supersedes":
            return self._verdict(view, parent, stated)
        if record.artifact_kind == "evidence" and record.supports_claim is not None:
            return self._evidence(record, parent, stated)
        return stated

    def _verdict(self, view: RecordView, parent: RecordView, stated: Side | None) -> Side | None:
        """The side of a reply, from its text (*stated*) and the side of *parent*, which it supports or opposes.

        A verdict that does not count, or is about a hidden record, takes no side. There is one exception: if authors
        support their own visible record, the text of their reply still counts.
        """
        record = view.record
        fields = (record.artifact_kind, record.supports_claim, record.verification_status)
        counts = view.artifact_id in parent.verified_by or view.artifact_id in parent.rejected_by
        if (countersigns(*fields) or rejects(*fields)) and (not counts or parent.hidden_reason):
            by_author = agent_key(record.agent_id) == agent_key(parent.record.agent_id)
            return stated if by_author and not rejects(*fields) and not parent.hidden_reason else None
        grandparent = self.records.get(parent.record.reply_to_artifact_id or "")
        parent_side = self._side_of(_statements(parent.record, grandparent))
        if record.supports_claim is False:
            # A reply that opposes a record against the claim does not thereby support the claim.
            return "against" if parent_side == "for" else None if parent_side else stated
        return stated or (parent_side if record.supports_claim else None)

    def _evidence(self, record: TaskRecord, parent: RecordView | None, stated: Side | None) -> Side | None:
        """The side of evidence, which tested its parent or, without one, the hypothesis of its task."""
        tested = tuple(_statements(parent.record, None)) if parent else self._hypotheses.get(record.task_id, ())
        if stated is None:
            tested_side = self._side_of(tested)
            return tested_side if tested_side is None or record.supports_claim else _OPPOSITE[tested_side]
        if record.supports_claim:
            return stated
        own_statements = tuple(_statements(record, None))
        if tested:
            repeats = any(
                side(statement, own_statement) == "for" for statement in tested for own_statement in own_statements
            )
            return _OPPOSITE[stated] if repeats else stated
        # Without a hypothesis, the text of opposing evidence is the claim that it tested, unless the text is a denial.
        return stated if any(statement.denied for statement in own_statements) else _OPPOSITE[stated]

    def _side_of(self, parts: Iterable[Statement]) -> Side | None:
        """Against if *parts* oppose a clause of the claim; for if they state all its clauses.

        If the claim is a record, it is enough that they state one.
        """
        stated = tuple(parts)
        sides = [{side(clause, part) for part in stated} for clause in self._clauses]
        if any("against" in clause_sides for clause_sides in sides):
            return "against"
        needed = any if self.claim in self.records else all
        return "for" if sides and needed("for" in clause_sides for clause_sides in sides) else None


# What a record states.

# A verb that makes a text a sentence: "the import timed out", "it leaks".
_FINITE_VERB = re.compile(
    r"\b(?:is|was|were|are|has|have|had|did|does|lost|broke|ran|got|went|gave|took|not|no|never)\b|n['\u2019]t\b"
    r"|(?<=\w )\w{3,}ed\b"
    r"|\b(?:fail|crash|tim|abort|block|hang|stopp|corrupt|deadlock|leak|overflow|miss|produc|return)(?:s|ed|es)\b",
    re.IGNORECASE,
)


def _statements(record: TaskRecord, parent: RecordView | None) -> Iterator[Statement]:
    """What *record* states. If it ends a run, *parent* is the start of that run, which holds the command."""
    decides = record.artifact_kind == "decision"
    yield from _statements_in([record.summary, record.why_chosen], decides=decides)
    yield from _statements_in(record.validation or (), decides=False)
    for worked in record.what_worked or ():
        yield from _statements_in([worked, f"{worked} passes"], decides=False)
    for text in record.what_failed or ():
        # "Focal loss" names what failed; "the import timed out" is a sentence, and its subject failed.
        if _FINITE_VERB.search(text):
            yield from _statements_in([text], decides=False)
            yield from failure(text)
        else:
            yield from _denied(f"{text} passes")
    yield from _metrics(record)
    command = parent.record.command if parent and record.artifact_kind == "run_finish" else record.command
    if command and record.status and record.artifact_kind in {"run_finish", "evidence"}:
        passes = statements(f"{command} passes")
        yield from (part.denial() for part in passes) if means_failure(record.status) else passes


def _statements_in(texts: Iterable[str | None], *, decides: bool) -> Iterator[Statement]:
    for text in texts:
        if text:
            yield from statements(text, decides=decides)


def _denied(text: str) -> Iterator[Statement]:
    return (part.denial() for part in statements(text))


def _metrics(record: TaskRecord) -> Iterator[Statement]:
    """Each numeric metric as a statement of its value."""
    if isinstance(record.metrics, Mapping):
        for name, value in record.metrics.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                yield from statements(f"{name.replace('_', ' ')} is {value}")
