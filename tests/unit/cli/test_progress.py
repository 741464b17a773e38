"""Progress that the command line shows."""

import re
from itertools import count

from rich.progress import Progress

from hmxgraph.cli.ingest import Rate


def test_a_rate_is_a_whole_number_or_nothing():
    """The rate is empty until it is known; then it is a whole number with thousands separators."""
    clock = count(step=0.7)
    progress = Progress(get_time=lambda: next(clock))
    number = progress.add_task("ingest", total=None)
    assert str(Rate().render(progress.tasks[0])) == ""
    for completed in (10, 2000, 5000):
        progress.update(number, completed=completed)
    assert re.fullmatch(r"\d,\d{3} /s", str(Rate().render(progress.tasks[0])))
