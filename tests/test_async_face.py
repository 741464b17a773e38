"""The asynchronous API is generated from the synchronous one."""

from tools.generate_async import OUTPUT, generated


def test_the_generated_face_is_in_step():
    """``api/_async.py`` is what ``make async`` writes from its sources."""
    assert OUTPUT.read_text(encoding="utf-8") == generated()
