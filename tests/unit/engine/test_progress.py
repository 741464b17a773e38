"""Progress messages while a server is downloaded and started."""

from hmxgraph.engine.server import Step, listening


def test_where_no_bar_can_be_drawn_each_kind_of_work_is_told_once(capsys):
    """Agents read pipes, where a minute of silence looks like a hang. stdout is untouched."""
    with listening(progress=True) as listen:
        for done in range(3):
            listen(Step("fetching Neo4j", done, 3))
        listen(Step("starting Neo4j"))
    told = capsys.readouterr()
    assert told.err == "fetching Neo4j ...\nstarting Neo4j ...\n"
    assert told.out == ""


def test_who_asks_for_no_progress_is_told_nothing(capsys):
    """Without progress nothing is printed."""
    with listening(progress=None) as listen:
        listen(Step("starting Neo4j"))
    assert capsys.readouterr().err == ""
