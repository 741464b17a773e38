"""Times as callers give them."""

from datetime import UTC, date, datetime

import pytest

from hmxgraph.api._base import as_us
from hmxgraph.errors import HmxGraphError, InvalidTime


@pytest.mark.parametrize(
    "moment",
    [
        "yesterday",
        "2026-03-14T03:00:00",
        "0000-06-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        20260314,
        date(2026, 3, 14),
        b"2026-03-14T03:00:00Z",
        [],
        datetime(2026, 3, 14),  # noqa: DTZ001 - without an offset on purpose
    ],
)
def test_no_time_is_one_clear_error(moment):
    """A value that is not a time, or that results cannot represent, is refused; the error shows the valid form."""
    with pytest.raises(HmxGraphError, match="write a time like 2026") as refused:
        as_us(moment)
    assert isinstance(refused.value, ValueError)
    shown = moment.isoformat() if type(moment) is datetime else str(moment)
    assert shown in str(refused.value)


def test_a_text_and_a_datetime_name_the_same_time():
    """An aware datetime and its ISO text give the same instant; None stays None."""
    assert as_us(datetime(2026, 3, 14, tzinfo=UTC)) == as_us("2026-03-14T01:00:00+01:00")
    assert as_us(None) is None


def test_a_datetime_without_a_time_zone_is_refused_with_advice():
    """The zone of the machine is never assumed; the advice uses Python's own API."""
    with pytest.raises(InvalidTime, match="give the datetime a time zone"):
        as_us(datetime(2026, 3, 14))  # noqa: DTZ001 - without an offset on purpose
