"""What the command line tells while it works."""

import pytest
from rich.progress import Progress

from hmxgraph.cli.ingest import Rate


@pytest.mark.parametrize(("completed", "told"), [(0, ""), (1_028_488, "1,028,488 /s")])
def test_a_rate_is_a_whole_number_or_nothing(completed, told):
    """Thousands are marked; before it is known nothing is said."""
    moments = iter(range(100))
    progress = Progress(get_time=lambda: next(moments))
    task = progress.tasks[progress.add_task("ingest", total=None)]
    if completed:
        task.finished_speed = float(completed) + 0.4881725690848
    assert str(Rate().render(task)) == told
