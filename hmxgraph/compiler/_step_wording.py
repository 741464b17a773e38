"""The wording of steps in procedures and playbooks: the command line, the inputs and their origins."""

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

# Shares of sessions or uses.
_HALF, _MOSTLY, _USUALLY, _NEARLY_ALL = 0.5, 0.7, 0.75, 0.8
# Minimum share of sessions in which each of several alternative origins is the only one.
_LEAST_ALONE = 0.15
_MOST_INPUTS = 12
# If more inputs than this have no known origin, they are all omitted: the description of the tool lists them anyway.
_MOST_LOOSE = 3
# Splits a command line into words and the separators between them.
_PIECES = re.compile(r"([\s/=:,'\"]+)")
_NAME = "<name>"
# The change to another folder before a command.
_FOLDER = re.compile(r"cd \S+ && ")
# Names of tools for files that are plain verbs. The values of their inputs differ with every use.
_FILE_VERBS = frozenset(("edit", "read", "view", "write"))
# Stands for a person who is named as having approved something.
APPROVER = "<approver>"


def describe(action: str, uses: Sequence[Sequence[Step]], before: Sequence[str]) -> str:
    """The instruction for one step: what to do, the inputs and their origins, and how often.

    *uses* holds the steps of each session. Origins are the user, lookups, and the steps *before*. A command line shared
    by most uses is quoted instead, and work on files has no inputs: "Edit the files".
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
    """*instruction_text*, reworded as "Have the user ..." if the user took most of these *steps*."""
    return f"Have the user {small(instruction_text)}" if done_by_user(steps) else instruction_text


def done_by_user(steps: Sequence[Step]) -> bool:
    """Whether the user took most of these steps."""
    return sum(step.by_user for step in steps) > _HALF * len(steps)


def usual_line(uses: Sequence[Step]) -> str:
    """The command line that most *uses* share except for names; "" if there is none. No approver is named in it.

    If only some ran in another folder, the line is given without it.
    """
    commands = _with_parameters([step for step in uses if step.command])
    if len(commands) <= _HALF * len(uses):
        return ""
    return _shared_line(commands) or _shared_line([_FOLDER.sub("", command) for command in commands])


def _with_parameters(uses: Sequence[Step]) -> list[str]:
    """The command lines of *uses*, without approvers, and with ``<name>`` for the words that users chose.

    These are words of the last user message that not all lines contain: "staging" after "Deploy to staging", if other
    lines deploy to production.
    """
    lines = [_PIECES.split(_without_approvers(step.command)) for step in uses]
    asked = {word for step in uses for word in step.asked}
    varying = {word for word in asked if not all(word in line for line in lines)}
    return ["".join(_NAME if piece in varying else piece for piece in line) for line in lines]


def origins(uses: Sequence[Step]) -> dict[str, str]:
    """For each argument the usual origin of its value: an action, "user", or "" if it varies or is unknown."""
    return usual_origins([[step] for step in uses], _MOSTLY)


def usual_origins(uses: Sequence[Sequence[Step]], least: float = _NEARLY_ALL) -> dict[str, str]:
    """For each argument the origin of its value in at least the share *least* of its sessions; "" if there is none."""
    usual = {}
    for argument, (sessions, counts) in _origins_by_argument(uses).items():
        # Ties go to the action called first.
        origin, with_origin = max(counts.items(), key=lambda item: len(item[1]), default=("", set()))
        usual[argument] = origin if len(with_origin) >= least * len(sessions) else ""
    return usual


def _origins_by_argument(uses: Sequence[Sequence[Step]]) -> dict[str, tuple[set[int], dict[str, set[int]]]]:
    """For each usual argument: the sessions that pass it, and those with each origin of its value.

    Approvals are left out: they are no values that a call fills in.
    """
    sessions_by_argument: defaultdict[str, set[int]] = defaultdict(set)
    sessions_by_origin: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for session, steps in enumerate(uses):
        for argument, argument_origins in _shared_origins(steps).items():
            sessions_by_argument[argument].add(session)
            for origin in argument_origins:
                sessions_by_origin[argument][origin].add(session)
    return {
        name: (sessions_by_argument[name], sessions_by_origin[name])
        for name in _usual_arguments(uses)
        if not states_approval(name)
    }


def stated_approvals(uses: Sequence[Sequence[Step]]) -> list[str]:
    """The usual arguments that state an approval."""
    return [name for name in _usual_arguments(uses) if states_approval(name)]


def _usual_arguments(uses: Sequence[Sequence[Step]]) -> list[str]:
    """The arguments that most sessions pass.

    If some sessions did without an argument, those that only added it after a failure do not count: it is no input of
    every call.
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
    """The groups of alternative origins of an argument, such as "the user or get_order".

    The origins of a group together cover nearly all sessions, and each is often the only one. Groups of three are
    preferred; if the user is an origin, groups of two. In each group the user comes first, then the more frequent
    origins. A pair of lookups gets a third origin if that is more frequent than one of the pair.
    """
    ranked = sorted(sessions_by_origin, key=lambda name: (name != FROM_USER, -len(sessions_by_origin[name]), name))
    for number in (2, 3) if FROM_USER in sessions_by_origin else (3, 2):
        fitting = [group for group in combinations(ranked, number) if _covers(group, sessions, sessions_by_origin)]
        if fitting:
            return [_with_more_frequent(group, ranked, sessions_by_origin) for group in fitting]
    return []


def _with_more_frequent(
    group: tuple[str, ...], ranked: Sequence[str], sessions_by_origin: Mapping[str, set[int]]
) -> tuple[str, ...]:
    """*group*; a pair of lookups gets the most frequent third origin, if it is more frequent than one of the pair."""
    if len(group) > 2 or FROM_USER in group:
        return group
    rarer = min(len(sessions_by_origin[origin]) for origin in group)
    others = (origin for origin in ranked if origin not in group and len(sessions_by_origin[origin]) > rarer)
    joined = {*group, *islice(others, 1)}
    return tuple(origin for origin in ranked if origin in joined)


def _covers(group: Sequence[str], sessions: set[int], sessions_by_origin: Mapping[str, set[int]]) -> bool:
    """Whether nearly all *sessions* have an origin of *group*, and each of these is often the only one."""
    number = Counter(session for origin in group for session in sessions_by_origin[origin])
    alone = (sum(number[session] == 1 for session in sessions_by_origin[origin]) for origin in group)
    return min(alone) >= _LEAST_ALONE * len(sessions) and len(number) >= _NEARLY_ALL * len(sessions)


def _shared_origins(steps: Sequence[Step]) -> dict[str, list[str]]:
    """For each argument of a session's *steps*, the origins that its values share, in order of first call."""
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
    """The inputs and their origins: "using user_id from find_user_id_by_email; and note and priority "high"".

    Inputs already *stated* are omitted. *free* is False for a change: then an origin other than the user is given only
    for identifiers, and for objects that contain identifiers. Other inputs of a change are the user's choice, even if a
    result happens to show the same value.
    """
    sources: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    objects = _objects_with_identifiers(uses)
    for argument, named_origins in _named_origins(uses, before).items():
        states_origin = named_origins and (
            free or FROM_USER in named_origins or identifies(argument) or argument in objects
        )
        if argument not in stated:
            sources[named_origins if states_origin else ()].append(argument)
    settings = _usual_settings(uses)
    without_origin = [f'{name} "{settings[name]}"' if name in settings else name for name in sources.pop((), [])]
    parts = [f"{listed(sources[group], most=_MOST_INPUTS)} from {_sources(group)}" for group in sorted(sources)]
    if len(without_origin) > _MOST_LOOSE:
        without_origin = [name for name in without_origin if name.endswith('"')]
    without_origin_listed = listed(without_origin)
    parts += [f"and {without_origin_listed}" if parts else without_origin_listed] if without_origin_listed else []
    return f", using {'; '.join(parts)}" if parts else ""


def _usual_settings(uses: Sequence[Sequence[Step]]) -> dict[str, str]:
    """The value of each argument that nearly all calls of several sessions set to the same word."""
    calls = [dict(step.settings) for steps in uses for step in steps]
    values = Counter(pair for call in calls for pair in call.items())
    several = sum(map(bool, uses)) > 1
    return {name: value for (name, value), count in values.items() if several and count >= _NEARLY_ALL * len(calls)}


def _named_origins(uses: Sequence[Sequence[Step]], before: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each argument its usual origin, or up to three alternatives; () if there are none.

    Origins are the user, lookups, and the steps *before*; other actions are ignored.

    If several alternatives fit, those that fit most arguments are used: parts of an address come from one source.
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
    fits = Counter(frozenset(group) for fitting in groups.values() for group in fitting)
    alternatives = {
        name: max(fitting, key=lambda group: (fits[frozenset(group)], sorted(group)))
        for name, fitting in groups.items()
        if fitting
    }
    return {name: alternatives.get(name, (origin,) if origin in known else ()) for name, origin in usual.items()}


def _objects_with_identifiers(uses: Sequence[Sequence[Step]]) -> set[str]:
    """The arguments that hold objects with identifiers from a result: "flights", if each has its number."""
    fields = {field for steps in uses for step in steps for field, *_ in step.chosen}
    return {argument for key, _, argument in (field.partition(" in ") for field in fields) if identifies(key)} - {""}


def _sources(origins: Sequence[str]) -> str:
    return listed(["the user" if origin == FROM_USER else origin for origin in origins], "or")


def _repeated(action: str, uses: Sequence[Sequence[Step]]) -> str:
    """How often to repeat the step, if most sessions take it several times; failed steps do not count."""
    times = [sum(step.ok is not False for step in steps) for steps in uses if steps]
    if not times or statistics.median(times) < 2:
        return ""
    changing = Counter(name for steps in uses for step in steps for name in step.changed)
    repetitions = sum(len(steps) - 1 for steps in uses if steps)
    # An input named in the plural is a list: one call takes several of its values.
    names_one = (name for name in most_first(changing) if identifies(name) and not name.endswith("s"))
    usual = [name for name in names_one if changing[name] > _HALF * repetitions]
    if usual:
        return f"; once for each {usual[0]}"
    return "" if is_action(action) else "; as often as needed"


def _without_approvers(line: str) -> str:
    """*line* with ``<approver>`` for each person who is named as having approved something.

    >>> _without_approvers("refund 17 --approved-by 'Ann Lee' --note paid"), _without_approvers('{"approver":"ann"}')
    ("refund 17 --approved-by '<approver>' --note paid", '{"approver":"<approver>"}')
    """
    pieces = _PIECES.split(line)
    for place in range(0, len(pieces) - 2, 2):
        name, link, value = pieces[place : place + 3]
        if name != APPROVER and names_approver(name) and not value.startswith("-"):
            # A quoted value may have several words.
            quote = link[-1] if link[-1] in "'\"" else ""
            end = next((at for at in range(place + 3, len(pieces), 2) if quote in pieces[at]), place + 3)
            pieces[place + 2 : end] = [APPROVER, *[""] * (end - place - 3)]
    return "".join(pieces)


def _shared_line(lines: Sequence[str]) -> str:
    """The common form of most of *lines*, with ``<name>`` where they differ; "" if there is none.

    >>> _shared_line(["kubectl logs -n shop web-1", "kubectl logs -n pay web-2"])
    'kubectl logs -n <name> <name>'
    >>> _shared_line(["git push", "git push", "git push origin"]), _shared_line(["git add a", "git push"])
    ('git push', '')
    """
    forms: defaultdict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for line in lines:
        pieces = _PIECES.split(line)
        forms[_fixed_pieces(pieces)].append(pieces)
    alike = max(forms.values(), key=lambda group: (len(group), group), default=[])
    if not alike or len(alike) <= _HALF * len(lines):
        return ""
    usual = [_common_piece(column) for column in zip(*alike, strict=True)]
    name_words = len(command_name("".join(usual)).split())
    fixed = sum(piece != _NAME and not _PIECES.fullmatch(piece) for piece in usual) - name_words
    # A line that is mostly "<name>" says nothing.
    if usual.count(_NAME) <= fixed + 1:
        return "".join(usual)
    most = Counter(map("".join, alike)).most_common(1)
    return next((line for line, count in most if count > _HALF * len(lines)), "")


def _fixed_pieces(pieces: Sequence[str]) -> tuple[str, ...]:
    """The parts shared by command lines that differ only in names: separators and flags."""
    return tuple(piece if place % 2 or piece.startswith("-") else "" for place, piece in enumerate(pieces))


def _common_piece(column: Sequence[str]) -> str:
    piece, count = max(Counter(column).items(), key=lambda pair: (pair[1], pair[0]))
    return piece if count >= _USUALLY * len(column) else _NAME
