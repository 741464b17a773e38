"""What the command line tells while it works."""

import re
from itertools import count

from rich.progress import Progress

from hmxgraph.cli.ingest import Rate


def test_a_rate_is_a_whole_number_or_nothing():
    """Before it is known nothing is said; then it has marked thousands and no fraction."""
    clock = count(step=0.7)
    progress = Progress(get_time=lambda: next(clock))
    number = progress.add_task("ingest", total=None)
    assert str(Rate().render(progress.tasks[0])) == ""
    for completed in (10, 2000, 5000):
        progress.update(number, completed=completed)
    assert re.fullmatch(r"\d,\d{3} /s", str(Rate().render(progress.tasks[0])))
