"""Questions that cannot be answered as asked: unknown names and choices, no times, impossible budgets and steps."""

from hmxgraph.errors.base import HmxGraphError


class NotFound(HmxGraphError, LookupError):
    """Nothing of this kind with this id in this tenant."""

    def __init__(self, kind: str, name: str, tenant_id: str = "", hint: str = "") -> None:
        super().__init__(kind, name, tenant_id, hint)
        self.kind = kind
        self.name = name
        self.tenant_id = tenant_id
        self.hint = hint

    def __str__(self) -> str:
        where = f" in tenant {self.tenant_id!r}" if self.tenant_id else ""
        return f"no {self.kind} {self.name!r}{where}" + (f"; {self.hint}" if self.hint else "")


class InvalidTime(HmxGraphError, ValueError):
    """A time that is no ISO 8601 date-time with an offset, or none that the calendar has."""

    def __init__(self, found: str, reason: str) -> None:
        super().__init__(found, reason)
        self.found = found
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.found!r} {self.reason}; write a time like 2026-03-14T03:00:00.000Z or 2026-03-14T04:00:00+01:00"


class InvalidTenant(HmxGraphError, ValueError):
    """A tenant id that no event can name: none at all, another type, with a NUL, or no Unicode."""

    def __init__(self, found: object, reason: str) -> None:
        super().__init__(found, reason)
        self.found = found
        self.reason = reason

    def __str__(self) -> str:
        return f"tenant_id {self.found!r:.60} names no tenant ({self.reason}); give text that UTF-8 can write"


class PackError(HmxGraphError, ValueError):
    """A context pack that cannot be made as asked."""


class BudgetTooSmall(PackError):
    """No entry fits the budget, not even cut."""

    def __init__(self, budget: int, smallest: int) -> None:
        super().__init__(budget, smallest)
        self.budget = budget
        self.smallest = smallest

    def __str__(self) -> str:
        return f"budget of {self.budget} tokens is too small; ask for at least {self.smallest}"


class UnknownChoice(PackError):
    """A value outside a closed list."""

    def __init__(self, name: str, found: str, choices: tuple[str, ...]) -> None:
        super().__init__(name, found, choices)
        self.name = name
        self.found = found
        self.choices = choices

    def __str__(self) -> str:
        return f"unknown {self.name} {self.found!r}; choose one of {', '.join(self.choices)}"


class InvalidRequest(PackError):
    """An argument of another type, form or size than can be asked with."""

    def __init__(self, name: str, found: str, rule: str, way_out: str) -> None:
        super().__init__(name, found, rule, way_out)
        self.name = name
        self.found = found
        self.rule = rule
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.name} {self.found} is no {self.rule}; {self.way_out}"


class TaskError(HmxGraphError, ValueError):
    """A step that the task's record so far makes impossible."""

    def __init__(self, step: str, reason: str, way_out: str) -> None:
        super().__init__(step, reason, way_out)
        self.step = step
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.step}: {self.reason}; {self.way_out}"
