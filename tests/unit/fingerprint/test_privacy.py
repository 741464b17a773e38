"""What must not travel does not."""

from time import process_time

import pytest

from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.options import TIERS, ExportOptions
from hmxgraph.fingerprint.privacy import travelling
from hmxgraph.fingerprint.texts import Disclosure
from tests.unit.fingerprint.planted import ALL_KINDS, secrets, state

HARMLESS = (
    "Verify the rollout of deployment/web in namespace staging-2 (404 on first try)",
    "kubectl apply -f manifests/staging/web.yaml --namespace staging && kubectl rollout status deployment/web",
    "The password was reset because the token is expired",
    "ConnectionResetError104 in /var/log/app-2024/base64Encoded.txt of python3.11 on x86_64",
    "uses: actions/checkout@v4 and node_modules/@types, port 5432, table over 1 GB, 95% of 2026-03-14",
    "get_reservation_details, then update_reservation_flights; cabin: business, passengers: 2",
)


@pytest.mark.parametrize("tier", TIERS)
def test_of_a_thousand_planted_secrets_none_travels(tier):
    """Secrets in titles, steps, conditions, tags, names of tools, errors, entities and domains are all masked."""
    planted = secrets()
    made = generate(state([sentence for _, sentence in planted], tier), ExportOptions(tier=tier)).to_json()
    assert len(planted) == 1_000
    assert [secret for secret, _ in planted if secret in made] == []


def test_masked_text_stays_as_it_is():
    """Masking what is masked changes nothing, so that a summary says the same after a round trip."""
    once = [travelling(sentence) for _, sentence in secrets(3 * len(ALL_KINDS))]
    assert [travelling(text) for text in once] == once


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    """Words, paths, versions, names of tools and errors, and talk about passwords travel as they are."""
    assert travelling(text) == text


def test_a_secret_in_a_list_of_arguments_is_masked():
    """What follows an option that asks for a secret is one, though it stands in an entry of its own."""
    assert Disclosure([]).value(["mysql", "--password", "swordfish"]) == ["mysql", "--password", "[password]"]


@pytest.mark.parametrize(
    "text", ["-" * 60_000, "a.b+c" * 12_000, "x:y@" * 15_000, '"name": "' * 6_000, "http://" * 8_000]
)
def test_no_text_takes_long(text):
    """Whatever a text repeats, the time to mask it grows with its length only."""
    began = process_time()
    travelling(text)
    assert process_time() - began < 10


def test_the_test_can_fail():
    """An unmasked word of the same texts is found."""
    planted = secrets()
    made = generate(state([sentence for _, sentence in planted], "full"), ExportOptions()).to_json()
    assert "export DB_PASSWORD=[password]" in made
