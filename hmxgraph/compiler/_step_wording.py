"""The wording of steps in procedures and playbooks: the command line, or the inputs and their origins.

In this module, *uses* are the steps that took one action, as a list for each session.
"""

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from itertools import combinations, islice

from hmxgraph.compiler._amendments import GIVEN
from hmxgraph.compiler._shell import command_name
from hmxgraph.compiler._verbs import instruction, is_action, kind_of, line_instruction
from hmxgraph.compiler._vocabulary import BROWSER, identifies, names_approver, states_approval
from hmxgraph.compiler._wording import listed, small
from hmxgraph.compiler.actions import PATH_FIELDS, TARGET_FIELDS
from hmxgraph.compiler.summary import FROM_USER, Step
from hmxgraph.text.terms import most_first

# Shares of sessions or steps.
_HALF, _MOSTLY, _USUALLY, _NEARLY_ALL = 0.5, 0.7, 0.75, 0.8
# Minimum share of sessions in which each of several alternative origins is the only one.
_LEAST_ALONE = 0.15
_MOST_INPUTS = 12
# If more inputs than this have no known origin, all of these are omitted: the description of the tool lists them
# anyway.
_MOST_WITHOUT_ORIGIN = 3
# Splits a command line into words and the separators between them.
_SEPARATORS = re.compile(r"([\s/=:,'\"]+)")
_NAME = "<name>"
# The change to another folder before a command.
_FOLDER = re.compile(r"cd \S+ && ")
# Names of tools for files that are plain verbs. The values of their inputs differ with every use.
_FILE_VERBS = frozenset(("edit", "read", "view", "write"))
# Stands for a person who is named as having approved something.
APPROVER = "<approver>"


def describe(action: str, uses: Sequence[Sequence[Step]], before: Sequence[str]) -> str:
    """The instruction for one step: what to do, with the inputs and their origins, and how often.

    If most uses share a command line, it is quoted instead of the inputs, and work on files has no inputs: "Edit the
    files". Origins are the user, lookups, and the actions of the steps *before* this one.
    """
    all_steps = [step for steps in uses for step in steps]
    if line := usual_line(all_steps):
        return line_instruction(action, line) + (
            _inputs_with_origins(uses, before, TARGET_FIELDS) if action.startswith(BROWSER) else ""
        )
    if action.lower() in _FILE_VERBS and any(name in PATH_FIELDS for step in all_steps for name, _ in step.inputs):
        return f"{action.capitalize()} the files"
    instruction_text = with_actor(instruction(action), all_steps)
    return instruction_text + _inputs_with_origins(uses, before, free=not is_action(action)) + _repeated(action, uses)


def with_actor(instruction_text: str, steps: Sequence[Step]) -> str:
    """*instruction_text*, reworded as "Have the user ..." if it was the user who took most of these *steps*."""
    return f"Have the user {small(instruction_text)}" if done_by_user(steps) else instruction_text


def done_by_user(steps: Sequence[Step]) -> bool:
    """Whether the user took most of these steps."""
    return sum(step.by_user for step in steps) > _HALF * len(steps)


def usual_line(steps: Sequence[Step]) -> str:
    """The command line that most of these steps share except for names; "" if there is none. It names no approver.

    If only some ran in another folder, the line is given without it.
    """
    commands = _with_parameters([step for step in steps if step.command])
    if len(commands) <= _HALF * len(steps):
        return ""
    return _shared_line(commands) or _shared_line([_FOLDER.sub("", command) for command in commands])


def _with_parameters(steps: Sequence[Step]) -> list[str]:
    """The command lines of *steps*, without approvers, and with ``<name>`` for the words that users chose.

    These are words of the last user message that not all lines contain: "staging" after "Deploy to staging", if other
    lines deploy to production.
    """
    lines = [_SEPARATORS.split(_without_approvers(step.command)) for step in steps]
    asked = {word for step in steps for word in step.asked}
    varying = {word for word in asked if not all(word in line for line in lines)}
    return ["".join(_NAME if piece in varying else piece for piece in line) for line in lines]


def origins(steps: Sequence[Step]) -> dict[str, str]:
    """For each argument the usual origin of its value: an action, "user", or "" if it varies or is unknown."""
    return usual_origins([[step] for step in steps], _MOSTLY)


def usual_origins(uses: Sequence[Sequence[Step]], least: float = _NEARLY_ALL) -> dict[str, str]:
    """For each usual argument, the origin of its value; "" if no origin has the share *least* of its sessions."""
    usual = {}
    for argument, (sessions, sessions_by_origin) in _origins_by_argument(uses).items():
        # Of equally frequent origins, the action that was called first wins.
        origin, with_origin = max(sessions_by_origin.items(), key=lambda item: len(item[1]), default=("", set()))
        usual[argument] = origin if len(with_origin) >= least * len(sessions) else ""
    return usual


def _origins_by_argument(uses: Sequence[Sequence[Step]]) -> dict[str, tuple[set[int], dict[str, set[int]]]]:
    """For each usual argument, the sessions that pass it and the sessions with each origin of its value, by index.

    Arguments that state an approval are left out, because they must be obtained each time, not filled in.
    """
    sessions_by_argument: defaultdict[str, set[int]] = defaultdict(set)
    sessions_by_origin: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for index, steps in enumerate(uses):
        for argument, argument_origins in _shared_origins(steps).items():
            sessions_by_argument[argument].add(index)
            for origin in argument_origins:
                sessions_by_origin[argument][origin].add(index)
    return {
        name: (sessions_by_argument[name], sessions_by_origin[name])
        for name in _usual_arguments(uses)
        if not states_approval(name)
    }


def stated_approvals(uses: Sequence[Sequence[Step]]) -> list[str]:
    """The usual arguments that state an approval."""
    return [name for name in _usual_arguments(uses) if states_approval(name)]


def _usual_arguments(uses: Sequence[Sequence[Step]]) -> list[str]:
    """The arguments that all sessions pass, or that at least half of them pass from the start.

    A session that added an argument only after a failure does not pass it from the start. Not every call needs such an
    argument.
    """
    passed, from_the_start = Counter[str](), Counter[str]()
    for steps in filter(None, uses):
        names = {name for step in steps for name, _ in step.inputs}
        added = {change.input for step in steps for change in step.amendments if change.how == GIVEN}
        passed.update(names)
        from_the_start.update(names - added)
    sessions = sum(map(bool, uses))
    return [name for name in sorted(passed) if passed[name] == sessions or from_the_start[name] >= _HALF * sessions]


def _alternatives(sessions: set[int], sessions_by_origin: Mapping[str, set[int]]) -> list[tuple[str, ...]]:
    """The groups of alternative origins of an argument, such as the user and get_order: "from the user or get_order".

    The origins of a group together cover nearly all sessions, and each is often the only one. Groups of three are
    preferred; if the user is an origin, groups of two. In each group the user comes first, then the more frequent
    origins. A pair of lookups gets a third origin if that is more frequent than one of the pair.
    """
    ranked = sorted(sessions_by_origin, key=lambda name: (name != FROM_USER, -len(sessions_by_origin[name]), name))
    for number in (2, 3) if FROM_USER in sessions_by_origin else (3, 2):
        covering = [group for group in combinations(ranked, number) if _covers(group, sessions, sessions_by_origin)]
        if covering:
            return [_with_more_frequent(group, ranked, sessions_by_origin) for group in covering]
    return []


def _with_more_frequent(
    group: tuple[str, ...], ranked: Sequence[str], sessions_by_origin: Mapping[str, set[int]]
) -> tuple[str, ...]:
    """*group*; a pair of lookups gets the most frequent third origin, if it is more frequent than one of the pair."""
    if len(group) > 2 or FROM_USER in group:
        return group
    fewest_sessions = min(len(sessions_by_origin[origin]) for origin in group)
    more_frequent = (
        origin for origin in ranked if origin not in group and len(sessions_by_origin[origin]) > fewest_sessions
    )
    extended = {*group, *islice(more_frequent, 1)}
    return tuple(origin for origin in ranked if origin in extended)


def _covers(group: Sequence[str], sessions: set[int], sessions_by_origin: Mapping[str, set[int]]) -> bool:
    """Whether nearly all *sessions* have an origin of *group*, and each origin of it is often the only one."""
    origin_counts = Counter(session for origin in group for session in sessions_by_origin[origin])
    alone = (sum(origin_counts[session] == 1 for session in sessions_by_origin[origin]) for origin in group)
    return min(alone) >= _LEAST_ALONE * len(sessions) and len(origin_counts) >= _NEARLY_ALL * len(sessions)


def _shared_origins(steps: Sequence[Step]) -> dict[str, list[str]]:
    """For each argument of a session's *steps*, the origins that all its values share, in order of first use."""
    shared: dict[str, list[str]] = {}
    for step in steps:
        step_origins: dict[str, list[str]] = {}
        for argument, origin in step.inputs:
            step_origins.setdefault(argument, []).append(origin)
        for argument, argument_origins in step_origins.items():
            shared[argument] = [
                origin for origin in shared.get(argument, argument_origins) if origin in argument_origins
            ]
    return shared


def _inputs_with_origins(
    uses: Sequence[Sequence[Step]], before: Sequence[str], stated: Container[str] = (), *, free: bool = True
) -> str:
    """The phrase with the inputs and their origins: ", using user_id (from find_user), note and priority "high"".

    Inputs already *stated* are omitted. *free* is False for a change: then an origin other than the user is named only
    for identifiers, and for objects that contain identifiers. Other inputs of a change are the user's choice, even if a
    result happens to contain the same value.
    """
    arguments_by_origins: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    objects = _objects_with_identifiers(uses)
    for argument, named_origins in _named_origins(uses, before).items():
        states_origin = named_origins and (
            free or FROM_USER in named_origins or identifies(argument) or argument in objects
        )
        if argument not in stated:
            arguments_by_origins[named_origins if states_origin else ()].append(argument)
    settings, without_origin = _usual_settings(uses), arguments_by_origins.pop((), [])
    if len(without_origin) > _MOST_WITHOUT_ORIGIN:
        without_origin = [name for name in without_origin if name in settings]
    parts = [
        f"{listed(arguments_by_origins[group], most=_MOST_INPUTS)} (from {_either_of(group)})"
        for group in sorted(arguments_by_origins)
    ]
    parts += [f'{name} "{settings[name]}"' if name in settings else name for name in without_origin]
    return f", using {listed(parts)}" if parts else ""


def _usual_settings(uses: Sequence[Sequence[Step]]) -> dict[str, str]:
    """The value of each argument that nearly all calls of several sessions set to the same word."""
    calls = [dict(step.settings) for steps in uses for step in steps]
    values = Counter(pair for call in calls for pair in call.items())
    several = sum(map(bool, uses)) > 1
    return {name: value for (name, value), count in values.items() if several and count >= _NEARLY_ALL * len(calls)}


def _named_origins(uses: Sequence[Sequence[Step]], before: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each argument its usual origin, or up to three alternative origins; () if there are none.

    Origins are the user, lookups, and the actions *before*; other actions are ignored. If several groups of
    alternatives fit an argument, the group that fits the most arguments is used, because related arguments, such as the
    parts of an address, come from one source.
    """
    by_argument, usual = _origins_by_argument(uses), usual_origins(uses)
    all_origins = {origin for _, sessions_by_origin in by_argument.values() for origin in sessions_by_origin}
    known = {FROM_USER, *before, *(origin for origin in all_origins if kind_of(origin) == "lookup")}
    groups = {
        argument: _alternatives(
            sessions, {origin: sessions_by_origin[origin] for origin in sessions_by_origin.keys() & known}
        )
        for argument, (sessions, sessions_by_origin) in by_argument.items()
        if not usual[argument]
    }
    group_counts = Counter(frozenset(group) for argument_groups in groups.values() for group in argument_groups)
    alternatives = {
        name: max(argument_groups, key=lambda group: (group_counts[frozenset(group)], sorted(group)))
        for name, argument_groups in groups.items()
        if argument_groups
    }
    return {name: alternatives.get(name, (origin,) if origin in known else ()) for name, origin in usual.items()}


def _objects_with_identifiers(uses: Sequence[Sequence[Step]]) -> set[str]:
    """The arguments that hold objects with identifiers from a result, such as "flights", if each has its number."""
    fields = {field for steps in uses for step in steps for field, *_ in step.chosen}
    return {argument for key, _, argument in (field.partition(" in ") for field in fields) if identifies(key)} - {""}


def _either_of(origins: Sequence[str]) -> str:
    """The origins as text: "the user or get_order"."""
    return listed(["the user" if origin == FROM_USER else origin for origin in origins], "or")


def _repeated(action: str, uses: Sequence[Sequence[Step]]) -> str:
    """The phrase that says how often to repeat the step, if most sessions take it several times; else "".

    Failed steps do not count.
    """
    use_counts = [sum(step.ok is not False for step in steps) for steps in uses if steps]
    if not use_counts or statistics.median(use_counts) < 2:
        return ""
    change_counts = Counter(name for steps in uses for step in steps for name in step.changed)
    repetitions = sum(len(steps) - 1 for steps in uses if steps)
    # An argument with a plural name is a list: one call takes several of its values.
    single_ids = (name for name in most_first(change_counts) if identifies(name) and not name.endswith("s"))
    varying = [name for name in single_ids if change_counts[name] > _HALF * repetitions]
    if varying:
        return f"; once for each {varying[0]}"
    return "" if is_action(action) else "; as often as needed"


def _without_approvers(line: str) -> str:
    """*line* with ``<approver>`` in place of each person who is named as having approved something.

    >>> _without_approvers("refund 17 --approved-by 'Ann Lee' --note paid"), _without_approvers('{"approver":"ann"}')
    ("refund 17 --approved-by '<approver>' --note paid", '{"approver":"<approver>"}')
    """
    pieces = _SEPARATORS.split(line)
    for index in range(0, len(pieces) - 2, 2):
        name, separator, value = pieces[index : index + 3]
        if name != APPROVER and names_approver(name) and not value.startswith("-"):
            # A quoted value may have several words.
            quote = separator[-1] if separator[-1] in "'\"" else ""
            end = next((later for later in range(index + 3, len(pieces), 2) if quote in pieces[later]), index + 3)
            pieces[index + 2 : end] = [APPROVER, *[""] * (end - index - 3)]
    return "".join(pieces)


def _shared_line(lines: Sequence[str]) -> str:
    """The common form of most of *lines*, with ``<name>`` where they differ; "" if there is none.

    >>> _shared_line(["kubectl logs -n shop web-1", "kubectl logs -n pay web-2"])
    'kubectl logs -n <name> <name>'
    >>> _shared_line(["git push", "git push", "git push origin"]), _shared_line(["git add a", "git push"])
    ('git push', '')
    """
    lines_by_form: defaultdict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for line in lines:
        pieces = _SEPARATORS.split(line)
        lines_by_form[_fixed_pieces(pieces)].append(pieces)
    similar_lines = max(lines_by_form.values(), key=lambda group: (len(group), group), default=[])
    if not similar_lines or len(similar_lines) <= _HALF * len(lines):
        return ""
    usual = [_common_piece(column) for column in zip(*similar_lines, strict=True)]
    command_words = len(command_name("".join(usual)).split())
    fixed_words = sum(piece != _NAME and not _SEPARATORS.fullmatch(piece) for piece in usual) - command_words
    # A line that is mostly "<name>" says nothing.
    if usual.count(_NAME) <= fixed_words + 1:
        return "".join(usual)
    most_frequent = Counter(map("".join, similar_lines)).most_common(1)
    return next((line for line, count in most_frequent if count > _HALF * len(lines)), "")


def _fixed_pieces(pieces: Sequence[str]) -> tuple[str, ...]:
    """The separators and flags of a command line; lines that differ only in names have the same."""
    return tuple(piece if index % 2 or piece.startswith("-") else "" for index, piece in enumerate(pieces))


def _common_piece(column: Sequence[str]) -> str:
    """The piece that most lines have in this column, else ``<name>``."""
    piece, count = max(Counter(column).items(), key=lambda pair: (pair[1], pair[0]))
    return piece if count >= _USUALLY * len(column) else _NAME
