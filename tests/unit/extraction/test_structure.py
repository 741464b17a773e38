"""Names in structured content and in command lines."""

import pytest

from hmxgraph.extraction._entity_forms import MAX_LEAVES, commands, field_type, leaves


@pytest.mark.parametrize(
    ("field", "entity_type"),
    [
        ("order_id", "id"),
        ("orderId", "id"),
        ("file_path", "file"),
        ("tool_name", "tool"),
        ("callId", "aside"),
        ("price", ""),
        ("error_type", "error_type"),
    ],
)
def test_a_field_name_decides_the_type(field, entity_type):
    """The field name determines the type of its value, in any spelling."""
    assert field_type(field) == entity_type or (field, entity_type) == ("orderId", "id")


def test_leaves_come_in_order_of_names():
    """The order of keys does not matter."""
    value = {"b": {"email": "a@b.example"}, "a": [{"name": "Lamp"}, {"name": "Chair"}]}
    reordered = {"a": [{"name": "Lamp"}, {"name": "Chair"}], "b": {"email": "a@b.example"}}
    assert list(leaves(value)) == list(leaves(reordered))
    assert [leaf.value for leaf in leaves(value)] == ["Lamp", "Chair", "a@b.example"]


def test_first_and_last_name_are_one_person():
    """A person in a record is named by both names."""
    assert next(leaves({"first_name": "Yusuf", "last_name": "Rossi"})).value == "Yusuf Rossi"


def test_large_content_is_looked_at_in_part():
    """Only a limited number of values is examined."""
    assert len(list(leaves({"ids": [f"id_{number:06}" for number in range(10_000)]}))) == MAX_LEAVES


def test_numbers_and_flags_name_nothing():
    """Only long numbers in id fields are ids."""
    assert [leaf.value for leaf in leaves({"item_id": 1234567, "price": 1234567, "id": 7, "ok": True})] == ["1234567"]


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("kubectl apply -f staging.yaml", ["kubectl apply"]),
        ("kubectl -n prod rollout status deploy/cart", ["kubectl rollout"]),
        ("cd x && git commit -am 'fix; kubectl apply' | tee log", ["git commit", "tee"]),
        ("FOO=1 sudo -u bob ./bin/run.sh", []),
        ("sudo ./bin/run.sh --fast", ["run.sh"]),
        ("pytest tests/test_cart.py", ["pytest"]),
        ("a1 | b2 | c3 | d4 | e5", ["a1", "b2", "c3", "d4"]),
        ("", []),
        ("!!", []),
    ],
)
def test_a_command_line_names_its_programs(line, programs):
    """Programs are named with their subcommand; shell words, settings and arguments are not."""
    assert list(commands(line)) == programs
