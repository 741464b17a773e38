"""Conflicts: detected, listed, resolved, and closed when fewer than two sides are left in force."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hmxgraph.errors import ConflictClosed, NotFound, UnknownChoice
from hmxgraph.graph._conflict_rows import (
    RelationKeys,
    Side,
    conflict_place,
    conflict_row,
    contested_relations,
    relation_id,
    stored_conflict,
)
from hmxgraph.graph._paging import check_limit
from hmxgraph.graph._withdrawals import withdrawn_rules
from hmxgraph.graph.artifacts import ALWAYS, deprecate
from hmxgraph.graph.memories import CONTRADICTION, redraw
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, read, state, write
from hmxgraph.protocol.canonical import MAX_INTEGER, content_hash
from hmxgraph.protocol.lifecycle import Conflict
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.text.artifacts import Validity, overlap
from hmxgraph.text.comparison import OPPOSED_RELATIONS, differs, opposed
from hmxgraph.text.terms import TokenCounter, counter

# Contradictions between artifacts and policies: rules over their contents.


def opposing_artifacts(tenancy: Tenancy, claims: Iterable[Row], count_tokens: TokenCounter) -> Iterator[Row]:
    """The conflicts between each claim and its rivals: same condition or cause, overlapping validity, other answers.

    A decision policy gives the only decision for its condition, so any other decision opposes it. A cause may have many
    effects, so two effects oppose each other only if one is the opposite of the other.
    """
    for row in claims:
        for rival in row["rivals"]:
            if reason := _disagreement(row["claim"], rival):
                kind = "opposing_recommendations" if rival["artifact_type"] == "decision_policy" else "opposing_effects"
                sides = [_artifact_side(row["claim"]), _artifact_side(rival)]
                at_us = max(row["claim"]["status_times"][-1], rival["status_times"][-1])
                yield conflict_row(tenancy, kind, sides, reason, at_us, count_tokens)


def opposing_policies(
    tenancy: Tenancy, claims: Iterable[Row], policies: Sequence[Row], count_tokens: TokenCounter
) -> Iterator[Row]:
    """The conflicts between decision policies and stated policies where one forbids the other."""
    for claim in (row["claim"] for row in claims if row["claim"]["artifact_type"] == "decision_policy"):
        answer = _answer(claim)
        for policy in policies:
            if opposed(answer, policy["text"]):
                sides = [_artifact_side(claim), Side("memory", policy["memory_id"], policy["text"], policy["key"])]
                reason = f"the policy {policy['text']!r} forbids the recommendation {answer!r}"
                at_us = max(claim["status_times"][-1], policy["first_us"])
                yield conflict_row(tenancy, "policy_against_recommendation", sides, reason, at_us, count_tokens)


def _disagreement(artifact: Row, other: Row) -> str | None:
    """Why two artifacts about the same condition or cause exclude each other; None if they do not."""
    if not overlap(_validity(artifact), _validity(other)):
        return None
    left, right = sorted((artifact, other), key=lambda row: str(row["artifact_id"]))
    first, second = _answer(left), _answer(right)
    contradicts = differs if artifact["artifact_type"] == "decision_policy" else opposed
    if not (first and second and contradicts(first, second)):
        return None
    question = _field(parse_json(left["content"]), "condition") or _field(parse_json(left["content"]), "cause")
    return f"for {question!r} one says {first!r}, the other {second!r}"


def _answer(row: Row) -> str:
    """The recommendation of a decision policy, or the effect of a causal pattern."""
    name = "recommendation" if row["artifact_type"] == "decision_policy" else "effect"
    return _field(parse_json(row["content"]), name)


def _artifact_side(row: Row) -> Side:
    return Side("artifact", row["artifact_id"], f"{row['title']}: {_answer(row)}", row["key"])


def _validity(row: Row) -> Validity:
    return Validity(
        _tuple(row.get("valid_tenants")),
        _tuple(row.get("valid_agents")),
        _tuple(row.get("valid_tags")),
        row.get("valid_from_us"),
        row.get("valid_to_us"),
    )


def _tuple(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _field(content: Any, name: str) -> str:
    return str(content.get(name) or "")


# Conflicts: detected, listed, resolved, closed; never by deleting a side.

_STATES = ("open", "resolved")
# Artifacts to compare per transaction: opening 18,000 conflicts in a single one took the server over ten minutes.
_ARTIFACTS_AT_ONCE = 500


def conflicts(
    tenancy: Tenancy,
    *,
    status: str | None = "open",
    as_of_us: int | None = None,
    limit: int | None = None,
    after: str | None = None,
) -> Procedure[tuple[Conflict, ...]]:
    """The tenant's conflicts as of a time, newest first; of one state, or of both (None).

    With *limit*, at most that many; with *after*, those that come after the conflict with this id.

    Raises:
        UnknownChoice: there is no such state.
        InvalidRequest: *limit* is not a valid page size.
        NotFound: there is no conflict *after*.

    """
    if status is not None and status not in _STATES:
        raise UnknownChoice("status", status, _STATES)
    if limit is not None:
        check_limit(limit)
    return (yield from read(lambda: _conflicts(tenancy, status, as_of_us, limit or MAX_INTEGER, after)))


def resolve(
    tenancy: Tenancy, conflict_id: str, *, keep: str | None, reason: str = "", at_us: int | None = None
) -> Procedure[Conflict]:
    """Resolve a conflict and return it; *keep* names the winning side, None means that all sides are true after all.

    Losing artifacts and relations become deprecated, losing memories contradicted; nothing is deleted. A later answer
    to the same question still replaces a winning memory. The resolution takes effect at *at_us*, else at the tenant's
    logical time, and no earlier than the conflict was detected.

    Raises:
        NotFound: there is no such conflict, or no such side.
        ConflictClosed: it is already resolved with another outcome or reason.

    """
    return (yield from write(lambda: _resolve(tenancy, conflict_id, keep, reason, at_us)))


def detect(tenancy: Tenancy) -> Procedure[tuple[str, ...]]:
    """The ids of conflicts newly opened among the tenant's active artifacts, stated policies and relations.

    Only artifacts that no compilation has compared yet are compared; all of them, if the stated policies changed.
    """
    compared, policies = yield from read(partial(_policies, tenancy))
    stated = _hash_of(policies)
    if stated != compared:
        yield from write(partial(_mark_all_uncompared, tenancy, stated))
    keys = yield from read(partial(_uncompared, tenancy))
    conflict_ids: tuple[str, ...] = ()
    for first in range(0, len(keys), _ARTIFACTS_AT_ONCE):
        batch = keys[first : first + _ARTIFACTS_AT_ONCE]
        conflict_ids += yield from detect_among(tenancy, batch)
        yield from write(partial(_mark_compared, tenancy, batch))
    contradictions = yield from read(lambda: _opposed_relations(tenancy))
    withdrawn = list(withdrawn_rules(tenancy, policies, counter()))
    contradictions += [each.conflict for each in withdrawn]
    winners = {each.conflict["properties"]["conflict_id"]: each.winner for each in withdrawn if each.winner}
    return conflict_ids + (yield from _open_missing(tenancy, contradictions, winners))


def _policies(tenancy: Tenancy) -> Plan[tuple[str, list[Row]]]:
    """The hash of the policies with which artifacts were last compared, and the policies that are stated now."""
    tenant = yield from state(tenancy)
    rows = yield bind("conflicts/policies", tenant_id=tenancy.tenant_id)
    return tenant["compared_policies"] or "", [row["policy"] for row in rows]


def _hash_of(policies: Sequence[Row]) -> str:
    return content_hash([[policy["memory_id"], policy["text"]] for policy in policies]) if policies else ""


def _mark_all_uncompared(tenancy: Tenancy, stated: str) -> Plan[None]:
    """Have all artifacts compared again, and store *stated*, the hash of the policies to compare them with."""
    yield bind("conflicts/compare_again", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, policies=stated)


def _uncompared(tenancy: Tenancy) -> Plan[list[str]]:
    rows = yield bind("conflicts/uncompared", tenant_id=tenancy.tenant_id)
    return [row["key"] for row in rows]


def _mark_compared(tenancy: Tenancy, keys: Sequence[str]) -> Plan[None]:
    yield bind("conflicts/compared", tenant_id=tenancy.tenant_id, keys=list(keys))


def detect_among(tenancy: Tenancy, keys: Sequence[str]) -> Procedure[tuple[str, ...]]:
    """The ids of newly opened conflicts between the artifacts with these keys and all artifacts and policies in force.

    To be run after the transaction that wrote the artifacts: if two writers contradict each other at the same time, the
    one that looks last sees both.
    """
    contradictions = yield from read(lambda: _contradictions(tenancy, keys))
    return (yield from _open_missing(tenancy, contradictions))


def settle(tenancy: Tenancy, keys: Sequence[str], at_us: int) -> Plan[None]:
    """Close the open conflicts of these artifacts and memories in which fewer than two sides are still in force."""
    yield bind("conflicts/settle", tenant_id=tenancy.tenant_id, keys=list(keys), at_us=at_us)


def by_keys(tenancy: Tenancy, keys: Sequence[str], as_of_us: int = ALWAYS) -> Plan[tuple[Conflict, ...]]:
    """The conflicts with these keys, newest first, as they were at *as_of_us*."""
    rows = yield bind("conflicts/sides", tenant_id=tenancy.tenant_id, keys=list(keys))
    return tuple(stored_conflict(row["conflict"], row["sides"], as_of_us) for row in rows)


def _conflicts(
    tenancy: Tenancy, status: str | None, as_of_us: int | None, limit: int, after: str | None
) -> Plan[tuple[Conflict, ...]]:
    moment_us = ALWAYS if as_of_us is None else as_of_us
    [page] = yield bind(
        "conflicts/list",
        tenant_id=tenancy.tenant_id,
        status=status,
        standing=[status] if status and as_of_us is None else list(_STATES),
        as_of_us=moment_us,
        newest="" if as_of_us is None else conflict_place(as_of_us),
        limit=limit,
        after_key="" if after is None else tenancy.node_key(after),
    )
    if after is not None and not page["known"]:
        raise NotFound("conflict", after, tenancy.tenant_id)
    return (yield from by_keys(tenancy, page["keys"], moment_us))


def _contradictions(tenancy: Tenancy, keys: Sequence[str]) -> Plan[list[Row]]:
    claims = yield bind("conflicts/claims", tenant_id=tenancy.tenant_id, keys=list(keys))
    conflicts = list(opposing_artifacts(tenancy, claims, counter()))
    if any(row["claim"]["artifact_type"] == "decision_policy" for row in claims):
        policies = yield bind("conflicts/policies", tenant_id=tenancy.tenant_id)
        stated = [row["policy"] for row in policies]
        conflicts += opposing_policies(tenancy, claims, stated, counter())
    return conflicts


def _opposed_relations(tenancy: Tenancy) -> Plan[list[Row]]:
    rows = yield bind("conflicts/opposed_relations", tenant_id=tenancy.tenant_id, pairs=OPPOSED_RELATIONS)
    return [_relation_conflict(tenancy, row) for row in rows]


def _relation_conflict(tenancy: Tenancy, row: Row) -> Row:
    source, target = row["source"], row["target"]
    kinds = (row["first_type"], row["second_type"])
    texts = [f"{source['name']} {kind} {target['name']}" for kind in kinds]
    relations = [RelationKeys(source["key"], kind, target["key"]) for kind in kinds]
    sides = [
        Side("relation", relation_id(*relation), text, relation=relation)
        for relation, text in zip(relations, texts, strict=True)
    ]
    reason = f"relations of {source['name']!r} exclude each other: {texts[0]}, {texts[1]}"
    return conflict_row(tenancy, "opposed_relations", sides, reason, row["detected_us"], counter())


# The reason of a resolution that nobody made.
_WITHDRAWN_BY_SPEAKER = "the user who gave the rule withdrew it"


def _open_missing(
    tenancy: Tenancy, contradictions: Sequence[Row], winners: Mapping[str, str] | None = None
) -> Procedure[tuple[str, ...]]:
    """Open the conflicts that are not stored yet, and return their ids.

    Those with a side in *winners*, by conflict id, are resolved in the same transaction.
    """
    distinct = {row["key"]: row for row in contradictions}
    if not distinct:
        return ()
    return (yield from write(partial(_open, tenancy, [distinct[key] for key in sorted(distinct)], winners or {})))


def _open(tenancy: Tenancy, rows: list[Row], winners: Mapping[str, str]) -> Plan[tuple[str, ...]]:
    keys = sorted({key for row in rows for key in row["artifact_keys"]})
    yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=keys)
    opened_rows = yield bind("conflicts/open", tenant_id=tenancy.tenant_id, batch={"conflicts": rows})
    if opened_rows:
        yield from bump(tenancy, max(row["properties"]["detected_us"] for row in rows))
    opened = tuple(row["conflict_id"] for row in opened_rows)
    for conflict_id in opened:
        if winner := winners.get(conflict_id):
            yield from _resolve(tenancy, conflict_id, winner, _WITHDRAWN_BY_SPEAKER, 0)
    return opened


def _resolve(tenancy: Tenancy, conflict_id: str, keep: str | None, reason: str, at_us: int | None) -> Plan[Conflict]:
    key = tenancy.node_key(conflict_id)
    locked = yield bind("conflicts/lock", tenant_id=tenancy.tenant_id, key=key)
    if not locked:
        raise NotFound("conflict", conflict_id, tenancy.tenant_id)
    rows = yield bind("conflicts/sides", tenant_id=tenancy.tenant_id, keys=[key])
    conflict = stored_conflict(rows[0]["conflict"], rows[0]["sides"], ALWAYS)
    if conflict.status == "resolved":
        return _as_before(conflict, keep, reason)
    names = [side.side_id for side in conflict.sides]
    if keep is not None and keep not in names:
        raise NotFound("side of the conflict", keep, hint=f"its sides are {', '.join(names)}")
    tenant = yield from state(tenancy)
    now_us = tenant["logical_us"] if at_us is None else at_us
    closed = yield bind(
        "conflicts/close", tenant_id=tenancy.tenant_id, key=key, kept_id=keep, resolution=reason, at_us=now_us
    )
    if keep is not None:
        yield from _retire(tenancy, rows[0], keep, closed[0]["at_us"], reason)
    yield from bump(tenancy, closed[0]["at_us"])
    return (yield from by_keys(tenancy, [key]))[0]


def _replace_answer(tenancy: Tenancy, kept_key: str, losing: Sequence[str], at_us: int) -> Plan[None]:
    """Put the winner in the loser's place in its chain of answers, so that a later answer replaces the winner, too.

    A winner that is in a chain already keeps its place. Otherwise, conflicts are opened between the winner and the
    other memories that contradicted the loser.
    """
    slots = yield bind("conflicts/replace_answer", tenant_id=tenancy.tenant_id, kept_key=kept_key, keys=list(losing))
    for slot in slots:
        yield from redraw(tenancy, [slot["slot_key"]])
        contradictions = [_contradiction(tenancy, slot["kept"], rival, at_us) for rival in slot["rivals"]]
        if contradictions:
            yield bind("conflicts/open", tenant_id=tenancy.tenant_id, batch={"conflicts": contradictions})


def _contradiction(tenancy: Tenancy, winner: Row, rival: Row, at_us: int) -> Row:
    sides = [Side("memory", side["memory_id"], side["text"], side["key"]) for side in (winner, rival)]
    return conflict_row(tenancy, CONTRADICTION, sides, rival["reason"], at_us, counter())


def _as_before(conflict: Conflict, keep: str | None, reason: str) -> Conflict:
    """*conflict*, if an identical call has already resolved it, such as an attempt whose answer was lost.

    Raises:
        ConflictClosed: it was resolved in another way.

    """
    if (conflict.kept_id, conflict.resolution) != (keep, reason):
        raise ConflictClosed(conflict.conflict_id, conflict.kept_id)
    return conflict


def _retire(tenancy: Tenancy, row: Row, keep: str, at_us: int, reason: str) -> Plan[None]:
    """Deprecate the losing artifacts and relations, and mark the losing memories as contradicted."""
    losing = [side for side in row["sides"] if side["side_id"] != keep]
    artifacts = sorted(side["key"] for side in losing if side["label"] == "Artifact")
    memories = sorted(side["key"] for side in losing if side["label"] == "Memory")
    relations = [relation for relation in contested_relations(row["conflict"]) if relation_id(*relation) != keep]
    yield from deprecate(tenancy, artifacts, reason, at_us)
    if memories:
        yield bind("conflicts/retire_memories", tenant_id=tenancy.tenant_id, keys=memories, at_us=at_us)
        yield from _replace_answer(tenancy, tenancy.node_key(keep), memories, at_us)
    yield from settle(tenancy, artifacts + memories, at_us)
    if relations:
        lines = [relation._asdict() for relation in relations]
        yield bind("conflicts/retire_relations", tenant_id=tenancy.tenant_id, relations=lines)
