"""The instruction to retry a failed call, made from how the inputs changed in retries that worked."""

from collections.abc import Sequence

from hmxgraph.compiler._amendments import (
    ADDS_UP,
    AFFIXED,
    AS_MANY,
    ASKED,
    CHOSEN,
    EQUALS,
    FROM,
    GIVEN,
    LEFT,
    NAMED,
    SET,
    SPLIT,
    STRIPPED,
    UNLIKE,
    WRITTEN,
)
from hmxgraph.compiler._vocabulary import states_approval
from hmxgraph.compiler._wording import approval_for, capital, listed
from hmxgraph.compiler.summary import FROM_USER, Amendment

# For each kind of change, the phrase that describes it after "call ... again with".
_TEMPLATES = {
    GIVEN: "{input} {detail}",
    FROM: "{changed_part} from {detail}",
    SET: "{input} set to {detail}",
    NAMED: "{changed_part} as the error names it",
    ADDS_UP: "{changed_part} adding up to {number}",
    EQUALS: "{changed_part} equal to {number}",
    SPLIT: "the same {part} in total, shared out over more {input}",
    AS_MANY: "as many {input} as {detail}",
    AFFIXED: "“{detail}” {part} the {input}",
    WRITTEN: "{input} {detail}",
}


def call_again(action: str, changes: Sequence[Amendment], *, settled: bool, wrong: bool = True) -> str:
    """The instruction to call *action* again with these changes; "" if they do not say what to do.

    *settled* is set if the user spoke before the retry, *wrong* if the error says that the old values are wrong. The
    value of an input that states an approval is never repeated, because the approval must be obtained each time.

    >>> call_again("find_user", [Amendment("zip", "asked")], settled=True)
    'Ask the user for the right zip, then call find_user again'
    >>> call_again("pay", [Amendment("parts", "adds up", "amount", "total price")], settled=False)
    'Call pay again with amount in parts adding up to the total price that the error names'
    >>> call_again("refund", [Amendment("approved_by", "given", "", "set to ann")], settled=True)
    'Get the approval that approved_by stands for from whoever may give it, then call refund again with approved_by'
    >>> call_again("book_flight", [Amendment("flights", "corrected")], settled=False)
    ''
    """
    approvals = list(dict.fromkeys(change.input for change in changes if needs_approval(change)))
    changes = [change for change in changes if change.input not in approvals]
    phrases = [*dict.fromkeys(filter(None, map(_phrase, changes))), *approvals]
    omissions = list(dict.fromkeys(filter(None, map(_omission, changes))))
    endings = [
        *([f"with {listed(phrases)}"] if phrases else []),
        *([f"without {listed(omissions)}"] if omissions else []),
    ]
    preparations = [
        *([obtain_approval(approvals)] if approvals else []),
        *_questions(changes, wrong=wrong),
        *_choices(changes),
    ]
    if not (endings or preparations):
        return ""
    if settled and not preparations:
        preparations = ["settle the change with the user"]
    return capital(", then ".join([*preparations, " ".join([f"call {action} again", *endings])]))


def needs_approval(change: Amendment) -> bool:
    """Whether the retry states an approval that the failed call did not state."""
    withdrawn = change.how == LEFT or change.detail.removeprefix("set to ") == "false"
    return states_approval(change.input) and not withdrawn


def obtain_approval(names: Sequence[str]) -> str:
    """The instruction to obtain the approval that the inputs called *names* state."""
    return f"get the {approval_for(names)} from whoever may give it"


def _questions(changes: Sequence[Amendment], *, wrong: bool) -> list[str]:
    """The instruction to ask for the values that the user must give; empty if there are none."""
    from_user = [change for change in changes if _is_from_user(change)]
    names = [change.input for change in from_user]
    if not names:
        return []
    if all(change.how == GIVEN for change in from_user):
        return [f"ask the user for the {listed(names)}"]
    return [f"ask the user for the right {listed(names)}" if wrong else f"ask the user for {_another(names)}"]


def _choices(changes: Sequence[Amendment]) -> list[str]:
    """The instruction to let the user choose values from what lookups returned; empty if there is nothing to choose."""
    chosen = [change for change in changes if change.how == CHOSEN]
    lookups = sorted({change.detail for change in chosen if change.detail})
    origin = f" from what {listed(lookups)} returned" if lookups else ""
    return [f"let the user choose {_another(sorted({change.input for change in chosen}))}{origin}"] if chosen else []


def _another(inputs: Sequence[str]) -> str:
    """The names of *inputs* after "another", or after "other" if they are plural."""
    several = len(inputs) > 1 or (inputs[0].endswith("s") and not inputs[0].endswith(("ss", "us")))
    return f"{'other' if several else 'another'} {listed(inputs)}"


def _phrase(change: Amendment) -> str:
    """The phrase for what the retry adds or changes; "" if that is unknown, comes from the user, or is an omission."""
    if change.how == GIVEN and not change.detail:
        return f"{change.input} given"
    if _is_from_user(change):
        return ""
    number = f"the {change.detail} that the error names" if change.detail else "the number in the error"
    return _TEMPLATES.get(change.how, "").format(
        changed_part=_changed_part(change), input=change.input, part=change.part, detail=change.detail, number=number
    )


def _is_from_user(change: Amendment) -> bool:
    return change.how == ASKED or (change.how == GIVEN and change.detail == FROM_USER)


def _omission(change: Amendment) -> str:
    """The phrase for what the retry omits; "" if it omits nothing."""
    if change.how == UNLIKE:
        return f"the pairs of {listed(sorted((change.input, change.detail)))} that are equal"
    return {LEFT: change.input, STRIPPED: f"“{change.detail}” {change.part} the {change.input}"}.get(change.how, "")


def _changed_part(change: Amendment) -> str:
    """The name of the input, after the part of it that changed: "amount in payments"."""
    return f"{change.part} in {change.input}" if change.part not in {"", change.input} else change.input
