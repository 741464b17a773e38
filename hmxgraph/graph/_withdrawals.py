"""Withdrawals that do not repeat the rule: "the 10:00 rule no longer applies" names a rule by some of its words.

A withdrawal that repeats a rule replaces it at once. Otherwise, if exactly one earlier rule of the same owner and
scopes contains every word of the withdrawal, a conflict between the two is opened. A user's withdrawal of a rule that
the user gave decides it at once; otherwise somebody can decide.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from hmxgraph.extraction._directives import Withdrawal, withdrawal_in
from hmxgraph.extraction.language import BY_HAND, pattern
from hmxgraph.graph._conflict_rows import Side, conflict_row
from hmxgraph.graph.plan import Row, Tenancy
from hmxgraph.text.comparison import stance
from hmxgraph.text.terms import TokenCounter

_RULES = frozenset({"demands", "forbids"})
# A rule with an exception or condition may stand beside a permission: "never push without a review", "you may push".
_LIMITED = pattern(r"\b(?:without|unless|until|except|before|after|if|when|while|over|above|more than)\b")
# Minimum number of words by which a withdrawal identifies a rule: one word may occur in many rules. One is enough if
# the withdrawal only drops a rule ("forget the rule about X") or is about the speaker ("you can call me again").
_LEAST_WORDS = 2


class WithdrawnRule(NamedTuple):
    """The conflict between a rule and its withdrawal; ``winner`` is the withdrawal's id if nobody needs to decide."""

    conflict: Row
    winner: str | None


def withdrawn_rules(tenancy: Tenancy, policies: Sequence[Row], count_tokens: TokenCounter) -> Iterator[WithdrawnRule]:
    """The rules among the stated *policies* in force that another one of them withdraws."""
    proven = [policy for policy in policies if not policy.get("unproven")]
    ended = set[str]()
    words = cache(lambda text: stance(text).subject)
    for policy in proven:
        withdrawal = None if policy.get("predicate") in _RULES else withdrawal_in(policy["text"])
        if withdrawal and not policy.get("supersedes_key"):
            about = words(withdrawal.matter)
            enough = len(about) >= (1 if withdrawal.forgotten or withdrawal.about_speaker else _LEAST_WORDS)
            earlier = (rule for rule in proven if enough and _may_be_withdrawn(rule, policy, withdrawal))
            rules = [rule for rule in earlier if about <= words(rule["text"])]
            if len(rules) == 1 and rules[0]["key"] not in ended:
                sides = [
                    Side("memory", memory["memory_id"], memory["text"], memory["key"]) for memory in (*rules, policy)
                ]
                reason = f"{policy['text']!r} seems to withdraw the rule {rules[0]['text']!r}"
                conflict = conflict_row(tenancy, "withdrawn_rule", sides, reason, policy["first_us"], count_tokens)
                decided = _ends(rules[0], policy, withdrawal)
                ended.update([rules[0]["key"]] if decided else ())
                yield WithdrawnRule(conflict, policy["memory_id"] if decided else None)


def _ends(rule: Row, policy: Row, withdrawal: Withdrawal) -> bool:
    """Whether *policy*, which states *withdrawal*, ends *rule* without anybody's decision.

    Both were said by one user, and the whole rule is meant. A rule recorded by hand ends only by hand.
    """
    said = bool(rule.get("owner")) and BY_HAND not in {rule.get("extraction_method"), policy.get("extraction_method")}
    return said and (withdrawal.forgotten or withdrawal.need_not or not _LIMITED.search(rule["text"]))


def _may_be_withdrawn(rule: Row, policy: Row, withdrawal: Withdrawal) -> bool:
    """Whether *policy*, which states *withdrawal*, may be about *rule*.

    The rule must be older, have the same owner and scopes, and be of the kind that the withdrawal lifts.
    """
    kinds = _RULES if withdrawal.forgotten else {"demands" if withdrawal.need_not else "forbids"}
    same_place = all((rule.get(name) or "") == (policy.get(name) or "") for name in ("owner", "scopes"))
    return same_place and rule.get("predicate") in kinds and bool(rule["last_us"] < policy["first_us"])
