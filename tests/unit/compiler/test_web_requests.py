"""Web requests are named by method and address, without run-specific or personal parts."""

import pytest

from hmxgraph.compiler.actions import request_name


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://api.example/orders/4711/items", "GET api.example/orders/<id>/items"),
        ("https://api.example/v2/orders?page=2", "GET api.example/v2/orders"),
        ("/orders/4711#top", "GET /orders/<id>"),
        ("api.example/orders/4711", "GET api.example/orders/<id>"),
        ("localhost:8000/orders", "GET localhost:8000/orders"),
        ("orders/list", "GET /orders/list"),
        ("4711/items", "GET /<id>/items"),
        ("https://ann:geheim@api.example/orders", "GET api.example/orders"),
        ("https://api.example/users/ann@mail.example", "GET api.example/users/[email]"),
        ("https://api.example/keys/sk-aaaaaaaaaaaaaaaaaaaaaaaa/use", "GET api.example/keys/[api key]/use"),
    ],
)
def test_a_request_is_named_without_what_is_somebodys(address, name):
    """Names contain no ids, queries, logins or secrets."""
    assert request_name({"method": "get", "url": address}) == name
