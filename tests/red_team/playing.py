"""Plays the steps of an attack, or of honest work, on the tenant of an open graph."""

from typing import Any

from tests.task_makers import records_of, tasks_of
from tests.unit.fingerprint import states
from tests.unit.ingest.making import document


class Stage:
    """One tenant, with the results of the calls made so far."""

    def __init__(self, graph) -> None:
        self.graph = graph
        self.uttered = 0
        self._results: list[Any] = []

    def play(self, steps) -> None:
        """Do all *steps*, then compile."""
        for step in steps:
            if "events" in step:
                self.graph.ingest(list(self._events(step)))
            elif "fingerprint" in step:
                self.graph.import_fingerprint(poisoned(step["fingerprint"]))
            else:
                self._results.append(self._call(step))
            self.uttered += 1
        self.graph.compile()

    def packs(self, case):
        """The packs for an unspecified reader and for one user."""
        user_id = case.get("user_id", "zoe")
        return [self.graph.pack(case["ask"]), self.graph.pack(case["ask"], user_id=user_id)]

    def _events(self, step):
        for session in range(step["sessions"]):
            for number, fields in enumerate(step["events"]):
                name = f"{self.uttered}-{session}"
                yield document(
                    **{
                        "tenant_id": self.graph.tenant_id,
                        "event_id": f"e{name}-{number}",
                        "session_id": f"s{name}",
                        "sequence": number,
                        "timestamp": f"2026-03-{1 + session % 28:02}T{self.uttered:02}:{session:02}:{number:02}Z",
                        **_numbered(fields, session),
                    }
                )

    def _call(self, step):
        names = step["call"].split(".")
        face = {"tasks": tasks_of, "records": records_of}.get(names[0], lambda graph: graph)(self.graph)
        arguments = dict(step["args"])
        if names[0] == "remember":
            return self.graph.remember(arguments.pop("text"), **arguments)
        given = []
        if "of" in step:
            earlier = self._results[step["of"]]
            by_task = names[0] == "tasks" or names[1] == "decision"
            given = [earlier.task_id if by_task else earlier.artifact_id]
        return getattr(face, names[1])(*given, **arguments)


def poisoned(parts):
    """A fingerprint envelope with hostile knowledge."""
    made = []
    if "policy" in parts:
        condition, recommendation = parts["policy"]
        content = states.policy_content(condition, recommendation, ("passwords",))
        made.append(states.artifact(1, "decision_policy", "Customer passwords", content, tags=("passwords",)))
    if "task" in parts:
        content = states.task_content(parts["task"])
        made.append(states.artifact(2, "task_schema", "Handle customer passwords", content, tags=("passwords",)))
    if "playbook" in parts:
        pattern, recovery = parts["playbook"]
        content = states.playbook_content(pattern, (recovery,))
        made.append(states.artifact(3, "failure_playbook", "Customer passwords", content, tags=("passwords",)))
    return states.generate(states.known(made), states.ExportOptions())


def _numbered(fields, number):
    """*fields* with ``{n}`` replaced by the session's number."""
    return {
        name: value.replace("{n}", str(number)) if isinstance(value, str) else value for name, value in fields.items()
    }
