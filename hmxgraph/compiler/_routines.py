"""task_schema of a routine: the commands usually run before the command that ends a piece of work.

A long session contains several pieces of work. Its request does not separate them, but the commands that end them do.
For example, a session that commits repeatedly, and runs the same checks before each commit, has a routine.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from statistics import fmean, median, pstdev

from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags
from hmxgraph.compiler._schemas import complexity
from hmxgraph.compiler._step_wording import describe
from hmxgraph.compiler._verbs import is_action, is_check, names_its_object, names_program, noun_words
from hmxgraph.compiler._wording import listed, title
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Step
from hmxgraph.text.lines import plain_quotes

# The value of ``origin`` in the metadata of these artifacts.
ROUTINE = "routine"
# A session with more steps than this is taken to contain several pieces of work.
_MOST_STEPS_OF_ONE_PIECE = 64
# Minimum pieces of work in a session, and minimum distinct actions in each.
_LEAST_PIECES, _LEAST_ACTIONS = 2, 3
# A command belongs to a routine if it occurs in at least this share of the pieces of work, at a similar position
# (maximum standard deviation of the relative position), and shortly before the end (maximum median distance in steps).
_USUAL, _MOST_SPREAD, _MOST_STEPS = 0.7, 0.2, 12
# Minimum commands before the closing one, and how many of them the title names.
_LEAST_COMMANDS, _MOST_NAMED = 3, 3


@dataclass(frozen=True)
class _Piece:
    """The steps of one piece of work; the last one is the closing command."""

    session: SessionSummary
    steps: tuple[Step, ...]

    @cached_property
    def last_uses(self) -> dict[str, int]:
        """The index of the last use of each command, without failed steps and the closing command."""
        return {
            step.action: index
            for index, step in enumerate(self.steps[:-1])
            if step.ok is not False and _is_command(step) and step.action != self.steps[-1].action
        }


@dataclass(frozen=True)
class _Routine:
    """The command that closes pieces of work, and the pieces that it closed in all sessions."""

    closing: str
    pieces: tuple[_Piece, ...]

    @cached_property
    def commands_before(self) -> list[str]:
        """The commands of the routine in order: the usual ones shortly before the closing one, and demanded ones."""
        names = {*filter(self._shortly_precedes, self.usual_commands), *self.demanded_commands}
        return sorted(
            names, key=lambda name: (self._predecessor_count(name, names), fmean(self._relative_positions(name)), name)
        )

    def _predecessor_count(self, name: str, names: Collection[str]) -> int:
        """How many of the other *names* come before *name* in most pieces that have both commands.

        This orders commands better than mean positions, because different pieces contain different commands.
        """
        return sum(self._follows(name, other) for other in names if other != name)

    def _follows(self, name: str, other: str) -> bool:
        with_both = [piece.last_uses for piece in self.pieces if {name, other} <= piece.last_uses.keys()]
        return sum(last_uses[name] > last_uses[other] for last_uses in with_both) > len(with_both) / 2

    @cached_property
    def demanded_commands(self) -> dict[str, str]:
        """The commands named in errors of the closing one, each with the message.

        For example, a hook that runs before a commit may fail and name the formatter to run.
        """
        known = sorted(set(chain.from_iterable(piece.last_uses for piece in self.pieces)))
        messages = [
            failure.message
            for session in self.sessions
            for failure in session.failures
            if failure.step >= 0 and session.steps[failure.step].action == self.closing
        ]
        return {name: message for message in messages for name in known if names_program(message, name)}

    @cached_property
    def usual_commands(self) -> list[str]:
        """The commands that occur in most pieces."""
        counts = Counter(chain.from_iterable(piece.last_uses for piece in self.pieces))
        return [name for name, count in counts.items() if count >= _USUAL * len(self.pieces)]

    def _shortly_precedes(self, name: str) -> bool:
        """Whether *name* usually comes shortly before the closing command, at a similar position each time."""
        distances = [len(piece.steps) - 1 - piece.last_uses[name] for piece in self.pieces if name in piece.last_uses]
        return median(distances) <= _MOST_STEPS and pstdev(self._relative_positions(name)) <= _MOST_SPREAD

    def _relative_positions(self, name: str) -> list[float]:
        """The relative position of *name* in each piece, from 0 to 1."""
        return [piece.last_uses[name] / len(piece.steps) for piece in self.pieces if name in piece.last_uses]

    @property
    def sessions(self) -> list[SessionSummary]:
        """The sessions with this routine."""
        return list(dict.fromkeys(piece.session for piece in self.pieces))

    def uses(self, action: str) -> list[list[Step]]:
        """The steps that take *action* without failing, as a list for each piece that has any."""
        steps_by_piece = (
            [step for step in piece.steps if step.action == action and step.ok is not False] for piece in self.pieces
        )
        return [steps for steps in steps_by_piece if steps]


def routines(sessions: Sequence[SessionSummary], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """Yield the routines of long sessions that feedback did not reject.

    A routine is left out if its closing command is a usual command of a longer routine.
    """
    pieces: defaultdict[str, list[_Piece]] = defaultdict(list)
    for session in sorted(sessions, key=lambda session: session.session_id):
        if len(session.steps) > _MOST_STEPS_OF_ONE_PIECE and not session.rejected:
            for name in _closing_commands(session):
                pieces[name] += _pieces_of(session, name)
    candidates = (_Routine(name, tuple(pieces[name])) for name in sorted(pieces))
    supported = [
        routine for routine in candidates if len(routine.sessions) >= profile.min_support and _is_routine(routine)
    ]
    inner_commands: set[str] = set()
    for routine in sorted(
        supported, key=lambda candidate: (-len(candidate.commands_before), -len(candidate.pieces), candidate.closing)
    ):
        if routine.closing not in inner_commands:
            inner_commands |= set(routine.usual_commands)
            yield _draft(routine, profile)


def _is_routine(routine: _Routine) -> bool:
    """Whether enough commands precede the closing one, and one of them is a check."""
    return len(routine.commands_before) >= _LEAST_COMMANDS and any(map(is_check, routine.commands_before))


def _closing_commands(session: SessionSummary) -> list[str]:
    """The commands that may close pieces of work of a session: changes that it made repeatedly without failing."""
    counts = Counter(step.action for step in session.steps if step.ok is not False and _is_command(step))
    return sorted(
        name for name, count in counts.items() if count >= _LEAST_PIECES and is_action(name) and not is_check(name)
    )


def _pieces_of(session: SessionSummary, closing: str) -> list[_Piece]:
    """The pieces of work of a session that the command *closing* closes; none if there are fewer than two.

    Pieces with too few actions are left out. If no check came before the first success of *closing*, there are no
    pieces: the command then begins work instead of closing it.
    """
    pieces, start = list[_Piece](), 0
    for index, step in enumerate(session.steps):
        if step.action == closing and step.ok is not False:
            piece_steps = session.steps[start : index + 1]
            if not start and not any(is_check(piece_step.action) for piece_step in piece_steps):
                return []
            if len({piece_step.action for piece_step in piece_steps}) >= _LEAST_ACTIONS:
                pieces.append(_Piece(session, piece_steps))
            start = index + 1
    return pieces if len(pieces) >= _LEAST_PIECES else []


def _is_command(step: Step) -> bool:
    """Whether the step is a command line that runs a check, or a change whose name says what it acts on."""
    is_named_change = names_its_object(step.action) and is_action(step.action)
    return bool(step.command) and (is_named_change or is_check(step.action))


def _draft(routine: _Routine, profile: CompilerProfile) -> ArtifactDraft:
    names = [*routine.commands_before, routine.closing]
    count = len(routine.pieces)
    steps = [
        {
            "order": order,
            "description": describe(name, routine.uses(name), names[: order - 1]) + _failure_reason(name, routine),
            "tools_used": [name],
            "optional": False,
        }
        for order, name in enumerate(names, start=1)
    ]
    content = {
        "steps": steps,
        "preconditions": [],
        "postconditions": [f"{routine.closing} has reported success"],
        "tools_used": sorted(names),
        "estimated_complexity": complexity(len(names), routine.sessions, profile),
    }
    events = ([step.event_id for name in names for step in _last_success(piece, name)] for piece in routine.pieces)
    return ArtifactDraft(
        artifact_type="task_schema",
        lineage_key=f"routine:{routine.closing}",
        title=title(f"Run {routine.closing} after {listed(routine.commands_before[:_MOST_NAMED])}"),
        summary=f"Before {routine.closing}: {listed(routine.commands_before)}.",
        content=content,
        seen=Observations(len(routine.sessions), count, count),
        source_events=evidence(events, profile.max_evidence),
        tags=tags(word for name in names for word in noun_words(name)),
        metadata={"goal_actions": sorted(names), "origin": ROUTINE},
    )


def _failure_reason(name: str, routine: _Routine) -> str:
    """The phrase with the error of the closing command that demands *name*; "" if none does, or if *name* is usual."""
    message = "" if name in routine.usual_commands else routine.demanded_commands.get(name, "")
    return f": {routine.closing} has failed with “{plain_quotes(message)}”" if message else ""


def _last_success(piece: _Piece, name: str) -> list[Step]:
    """The last step of the piece that takes this action without failing, if any."""
    return [step for step in piece.steps if step.action == name and step.ok is not False][-1:]
