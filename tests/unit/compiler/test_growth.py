"""The cost of a compilation grows linearly with the number of sessions."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from hmxgraph.compiler._models import BinaryMatrix, learn_goals
from hmxgraph.compiler._playbooks import failure_playbooks
from hmxgraph.compiler.failures import failure_groups
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.sessions import summarise
from tests.session_makers import Script, repaired_deployment


class Counted(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def compared(sessions):
    """The number of comparisons of session ids for the playbook of a failure in *sessions* sessions."""
    once = summarise(repaired_deployment("r"))
    groups = failure_groups([replace(once, session_id=Counted(f"r{number}")) for number in range(sessions)])
    Counted.compared = 0
    assert len(list(failure_playbooks(groups, (), (), (), DEFAULT_PROFILE, {}, {}))) == 1
    return Counted.compared


def test_a_failure_in_many_sessions_is_gone_through_once():
    """The evidence of a playbook is gathered in one pass, not in one for each session."""
    assert compared(400) <= 5 * compared(100)


def requests(count):
    """*count* sessions, each with a request that one other session shares."""
    scripts = (
        Script(f"s{number}").user(f"Please find the {number // 2:b} lot".translate({48: "ba", 49: "ne"})).call("find")
        for number in range(count)
    )
    return [summarise(script.events) for script in scripts]


@pytest.mark.slow
def test_words_that_few_requests_share_cost_no_matrix():
    """The matrix of requests and words is stored sparsely: memory grows linearly with sessions."""

    def peak(sessions):
        tracemalloc.start()
        goals = learn_goals(sessions, DEFAULT_PROFILE)
        most_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most_bytes, len(goals.words)

    few, many = peak(requests(400)), peak(requests(1600))
    assert many[1] > 3 * few[1]
    assert many[0] < 6 * few[0]


@pytest.mark.parametrize("observations", [4, 200])
@pytest.mark.parametrize("turned", [False, True])
def test_a_binary_matrix_gives_the_same_products_as_the_dense_one(turned, observations):
    """Both products equal those of the dense matrix, also for empty rows and columns."""
    random = np.random.default_rng(observations)
    whole = (random.random((observations, 90)) < 0.1).astype(float)
    whole[[0, -1]] = whole[:, [1, -1]] = 0
    right = random.integers(-8, 8, (observations if turned else 90, 3)) / 8
    matrix = BinaryMatrix.of_columns([np.flatnonzero(row).tolist() for row in whole], 90)
    product = matrix.transposed_product(right) if turned else matrix.product(right)
    assert np.array_equal(product, (whole.T if turned else whole) @ right)


def test_a_binary_matrix_without_features_gives_zeros():
    """Without features (no texts, for instance), the product is all zeros."""
    matrix = BinaryMatrix.of_columns([[], []], 0)
    assert np.array_equal(matrix.product(np.zeros((0, 2))), np.zeros((2, 2)))
    assert matrix.transposed_product(np.ones((2, 2))).shape == (0, 2)
