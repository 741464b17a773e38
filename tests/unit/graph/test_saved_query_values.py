"""The values of a saved query's parameters are checked before anything is sent."""

from datetime import UTC, datetime

import pytest

from hmxgraph.errors import InvalidRequest
from hmxgraph.graph.exploring import FORMS, picture, saved_query
from hmxgraph.graph.plan import Tenancy, query, query_names

TENANCY = Tenancy.of("acme")
QUERY_OF = {
    "artifact_id": "evidence",
    "days": "stale_knowledge",
    "embedding": "similar_events",
    "name": "neighbourhood",
    "since": "changed_since",
    "session_id": "session_picture",
    "source_ids": "pack_trail",
}
INVALID = [
    ("days", "abc", "a whole number of days, 0 or more; for example days=30"),
    ("days", "-1", "a whole number"),
    ("days", "1.5", "a whole number"),
    ("days", True, "a whole number"),
    pytest.param("days", 10**5000, "a whole number", id="days-huge"),
    ("days", "9" * 5000, "a whole number"),
    ("since", "lastweek", "a time with a time zone .*; for example since=2026-03-14T03:00:00Z"),
    ("since", "2026-03-14", "a time with a time zone"),
    ("since", datetime(2026, 3, 14), "a time with a time zone"),  # noqa: DTZ001 - refused because it is naive
    ("since", 5, "a time with a time zone"),
    ("source_ids", "a1", "a list of ids; for example"),
    ("source_ids", ["a1", 2], "text"),
    ("embedding", "0.1", "a list of numbers; from Python, for example"),
    ("embedding", [], "a list of numbers"),
    ("embedding", ["0.1"], "a list of numbers"),
    ("session_id", 7, "text"),
    ("artifact_id", None, "text"),
    ("name", "\ud800", "valid Unicode"),
]
VALID = [
    ("days", "30", 30),
    ("days", 0, 0),
    ("since", "2026-03-14T03:00Z", "2026-03-14T03:00:00+00:00"),
    ("since", datetime(2026, 3, 14, tzinfo=UTC), "2026-03-14T00:00:00+00:00"),
    ("source_ids", ("a1",), ["a1"]),
    ("embedding", range(2), [0.0, 1.0]),
    ("session_id", "", ""),
]


@pytest.mark.parametrize("procedure", [saved_query, picture])
@pytest.mark.parametrize(("parameter", "value", "expected"), INVALID)
def test_a_wrong_value_is_refused(procedure, parameter, value, expected):
    """The error names the parameter and what was expected, whether the result is wanted as rows or as a picture."""
    with pytest.raises(InvalidRequest, match=f"invalid {parameter} .*: expected {expected}"):
        next(procedure(TENANCY, f"explore/{QUERY_OF[parameter]}", {parameter: value}))


@pytest.mark.parametrize(("parameter", "value", "sent"), VALID)
def test_a_right_value_is_sent_in_one_form(parameter, value, sent):
    """The statement gets a value of the type that it expects."""
    work = next(saved_query(TENANCY, f"explore/{QUERY_OF[parameter]}", {parameter: value}))
    assert next(work.factory()).parameters[parameter] == sent


def test_every_parameter_of_a_saved_query_is_checked():
    """No saved query has a parameter whose values are not checked."""
    parameters = set().union(*(query(name).parameters for name in query_names("explore")))
    assert parameters - {"tenant_id", "tenant_key", "scope"} == FORMS.keys()
