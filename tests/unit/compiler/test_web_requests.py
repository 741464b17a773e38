"""Web requests go by method and address, and by nothing that belongs to one run or to somebody."""

import pytest

from hmxgraph.compiler.actions import request_name


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://api.example/orders/4711/items", "GET api.example/orders/<id>/items"),
        ("https://api.example/v2/orders?page=2", "GET api.example/v2/orders"),
        ("/orders/4711#top", "GET /orders/<id>"),
        ("https://ann:geheim@api.example/orders", "GET api.example/orders"),
        ("https://api.example/users/ann@mail.example", "GET api.example/users/[email]"),
        ("https://api.example/keys/sk-aaaaaaaaaaaaaaaaaaaaaaaa/use", "GET api.example/keys/[api key]/use"),
    ],
)
def test_a_request_is_named_without_what_is_somebodys(address, name):
    """Ids, queries, logins and secrets stand in no name."""
    assert request_name({"method": "get", "url": address}) == name
