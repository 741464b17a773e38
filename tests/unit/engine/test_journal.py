from hmxgraph.engine._process import rotate, tail


def test_tail_gives_the_last_lines(tmp_path):
    """The last lines are returned in order."""
    log = tmp_path / "console.log"
    log.write_text("one\ntwo\nthree\n")
    assert tail(log, 2) == "two\nthree"
    assert tail(log, 0) == ""
    assert tail(log, 9) == "one\ntwo\nthree"


def test_tail_since_a_start(tmp_path):
    """Lines of earlier starts can be left out."""
    log = tmp_path / "console.log"
    log.write_text("old\n")
    since = rotate(log)
    with log.open("a") as file:
        file.write("new\n")
    assert tail(log, 9, since) == "new"


def test_no_log_no_words(tmp_path):
    """Without a log the tail is empty."""
    assert tail(tmp_path / "console.log", 9) == ""
    assert rotate(tmp_path / "console.log") == 0


def test_long_log_makes_room(tmp_path):
    """A log of more than 4 MiB is rotated at the next start, so that it never fills the disk."""
    log = tmp_path / "console.log"
    log.write_bytes(b"x" * (4 << 20))
    assert rotate(log) == 0
    assert not log.exists()
    assert (tmp_path / "console.1.log").exists()


def test_foreign_bytes_are_shown_somehow(tmp_path):
    """Invalid UTF-8 does not hide the other lines."""
    log = tmp_path / "console.log"
    log.write_bytes(b"\xff broken\nfine\n")
    assert tail(log, 2).endswith("broken\nfine")
