"""Private data is not exported."""

from time import process_time

import pytest

from hmxgraph.fingerprint._masking import ALL, mask_for_export
from hmxgraph.fingerprint._texts import Disclosure
from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.state import TIERS, ExportOptions
from hmxgraph.text.masking import mask_secrets, masked
from tests.unit.fingerprint.planted import ALL_KINDS, secrets, state

HARMLESS = (
    "Verify the rollout of deployment/web in namespace staging-2 (404 on first try)",
    "kubectl apply -f manifests/staging/web.yaml --namespace staging && kubectl rollout status deployment/web",
    "The password was reset because the token is expired",
    "ConnectionResetError104 in /var/log/app-2024/base64Encoded.txt of python3.11 on x86_64",
    "uses: actions/checkout@v4 and node_modules/@types, port 5432, table over 1 GB, 95% of 2026-03-14",
    "max_tokens=4096 with exit code 137, status code 404; password_file: /run/secrets/database",
    "The password of an account that was locked is reset by its owner, who is asked to choose a new one",
    "Log in with the company account, then check that the login page is shown; sign in is required",
    "mkdir -p build-2/web && docker build -t web:v1.2 . && pytest -k test_a1 && grep -P 'a b'",
    "Rotate API keys in us-east-1 before deploying v2.3.1, then log in with SSO and sign in with e-mail",
    "Password must be 8-64 characters; the passphrase is asked at the start; Wi-Fi password is asked at the desk",
    "steps:\npassword\nrun the tests\nSecrets\nRead docs; credentials\n1. open Vault",
    "Order 4821 is the one with error code E42; promo code 20245; adduser deploy sudo; echo y | sudo apt install jq",
    "diff <(echo abc) <(echo abd); name the field: {'name': 'password', 'required': true}",
    "Das Passwort wurde ge\u00e4ndert; la contrase\u00f1a es incorrecta; le mot de passe est requis",
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
    """Masking masked text changes nothing, so that a summary survives a round trip."""
    once = [mask_for_export(sentence) for _, sentence in secrets(3 * len(ALL_KINDS))]
    assert [mask_for_export(text) for text in once] == once


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    """Words, paths, versions, names of tools and errors, and sentences about passwords are exported unchanged."""
    assert mask_for_export(text) == text


@pytest.mark.parametrize("sentence", sorted(sentence for _, sentence in secrets(2 * len(ALL_KINDS))))
def test_no_rule_is_left_out_that_finds_something(sentence):
    """The rules selected for a text mask as much as all rules."""
    assert masked(mask_secrets(masked(sentence, ALL.before)), ALL.after) == mask_for_export(sentence)


def test_a_secret_in_a_list_of_arguments_is_masked():
    """The list entry after an option that takes a secret is masked."""
    assert Disclosure([]).value(["mysql", "--password", "swordfish"]) == ["mysql", "--password", "[password]"]


def test_a_private_key_in_a_table_is_masked_to_its_end():
    """A rule about tables does not cut off the first line of a key and leave the rest."""
    key = "-----BEGIN RSA PRIVATE KEY-----\ntulip rose\n-----END RSA PRIVATE KEY-----"
    assert mask_for_export(f"user,secret\nann,{key}\ndone") == "user,secret\n[password]\ndone"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        *("-" * 60_000, "a.b+c" * 12_000, "x:y@" * 15_000, '"name": "' * 6_000, "http://" * 8_000),
        *("password a b c " * 4_000, "<password " * 6_000, "password|\n" * 6_000, "login a / " * 6_000),
        *("passwordcontrase\u00f1a (" * 3_000, "password - " * 5_000, "backup codes: ." + r"a:1:a:a:\Ab" * 5_000),
        *("Ab-" * 20_000, "WIFI:" * 12_000, "password(" * 6_000, "a;password b;c " * 4_000),
    ],
)
def test_no_text_takes_long(text):
    """Masking time grows linearly with the length of a text, whatever it repeats."""
    began = process_time()
    mask_for_export(text)
    assert process_time() - began < 10


def test_the_test_can_fail():
    """An unmasked word of the same texts is found."""
    planted = secrets()
    made = generate(state([sentence for _, sentence in planted], "full"), ExportOptions()).to_json()
    assert "export DB_PASSWORD=[password]" in made
