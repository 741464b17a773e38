"""What is masked, and what stays."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hmxgraph.text.masking import SECRETS as RULES
from hmxgraph.text.masking import linked_secrets, mask_ids, mask_secrets, masked

SECRETS = [
    ("key sk-abcdefghijklmnop1234", "key [api key]"),
    ("AKIAIOSFODNN7EXAMPLE", "[api key]"),
    ("ghp_" + "a1" * 18, "[api key]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_1", "[token]"),
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [token]"),
    ("postgres://app:s3cr3t@db:5432/x", "postgres://app:[password]@db:5432/x"),
    ("postgres://app:a@b!c@db:5432/x", "postgres://app:[password]@db:5432/x"),
    ('"amqp://app:s3cr3t@mq","to":"x@ann"', '"amqp://app:[password]@mq","to":"x@ann"'),
    ("http://app:s3cr3t@web?to=x@ann", "http://app:[password]@web?to=x@ann"),
    ('{"db_password": "hunter2", "port": 5}', '{"db_password": [password], "port": 5}'),
    ("API_KEY=abc123 run", "API_KEY=[password] run"),
    ("password=${DB_PASSWORD} run", "password=[password] run"),
    ("login --password hunter2 -v", "login --password [password] -v"),
    ("my password is hunter22", "my password is [password]"),
    ("user shop pw Kurbel!Tretlager77, can you try?", "user shop pw [password], can you try?"),
    ("pwd Kurbel77. It is new", "pwd [password]. It is new"),
    ("passwd kurbel$rad and password Kurbel77", "passwd [password] and password [password]"),
    ("user: shop, pass Kurbel77!", "user: shop, pass [password]"),
    ("pw: hunter22, user: shop pass: Kurbel77", "pw: [password], user: shop pass: [password]"),
    ('{"pw": "hunter", "user": "shop"}', '{"pw": [password], "user": "shop"}'),
    ("login(user=shop, password=Kurbel!77)", "login(user=shop, password=[password])"),
    ("(password: hunter2)", "(password: [password])"),
    ("password=a)b(c)d", "password=[password]"),
    ("pay with 4111 1111 1111 1111 now", "pay with [card number] now"),
    ("4111-1111-1111-1111 12/27", "[card number] 12/27"),
    ("4111 1111 1111 1111 123", "[card number] 123"),
    ("3782 822463 10005 and 3056 930902 5904", "[card number] and [card number]"),
    ("card 6304 0000 0000 0000 000 of Bo", "card [card number] of Bo"),
    ("to DE89 3704 0044 0532 0130 00", "to [account number]"),
    ("to BE68 5390 0754 7034 EUR 50", "to [account number] EUR 50"),
    ("ES91 2100 0418 4502 0005 1332 PAID NOW", "[account number] PAID NOW"),
    ("password=my_token_8f3a9c1b2d", "password=[password]"),
    ("export GITHUB_TOKEN=gt_93hfkjsdh2983aa make", "export GITHUB_TOKEN=[token] make"),
    ("deploy --token tk_9384hfkjsdh29 -v", "deploy --token [token] -v"),
    ('{"X-Vault-Token": "s.9384hfkjsdh29=="}', '{"X-Vault-Token": "[token]"}'),
    ("https://x.org/y?token=k3j4h5k3j4h5&page=2", "https://x.org/y?token=[token]&page=2"),
    ("the token is tk_9384hfkjsdh29.", "the token is [token]."),
    ("https://x.org/y?token=abc123%2Fdef456ghi789%3D&page=2", "https://x.org/y?token=[token]&page=2"),
    ('token: "abc:123:def456", port: 5', 'token: "[token]", port: 5'),
    ("token: abc123def456: it expired", "token: [token]: it expired"),
    ("DB_PASS='s3cr3t!x' psql", "DB_PASS=[password] psql"),
    ("DB_PASS=changeme psql", "DB_PASS=[password] psql"),
    ("user=ann pass=hunter2 smtp_pass: hunter2", "user=ann pass=[password] smtp_pass: [password]"),
    ("connect --db-pass hunter2", "connect --db-pass [password]"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- after", "[private key] after"),
    ("-----BEGIN PRIVATE KEY-----\ncut short", "[private key]"),
    ("write to ann.lee+x@mail.example.org.", "write to [email]."),
    ("call 555-123-2002 or (555) 123-2002", "call [phone] or [phone]"),
    ("call +49 30 1234567", "call [phone]"),
    ("ssn 123-45-6789", "ssn [national id]"),
    ("ship to 281 Spruce Street, Suite 942", "ship to [address]"),
    ("wohnt Hauptstraße 12", "wohnt [address]"),
]
HARMLESS = [
    "the password is incorrect",
    "password: null",
    "password reset for user77",
    "the password sha256 hash, password v1.4.2",
    "pass item_id2 to it, a boarding pass ABC123",
    "PASS: test_login2",
    "cd app77 && pwd && ls",
    "wrong password again!",
    "the pw input77(x) of password/reset77",
    "pw = stats.shapiro77(x1) and pw: Optional[str]",
    "order 1234 5678 9012 3456",
    "2024-05-21T10:00:00Z",
    "response times: 25 40 12 33 61 20 14 18 22",
    "2026040201 7200 3600 1209600 300",
    "1700000000000000",
    "version 1.4.2 of sk-learn",
    "took 5 seconds on the street",
    "reservation JG7FMM on flight HAT028",
]
IDS = [
    ("call call_MY94XAcnfHzfAZcVHqt5FRRQ", "call <id>"),
    ("pod web-7d9f8b6c5-x2x9q", "pod <id>"),
    ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit <hex>"),
    ("at 0x7ffde2", "at <hex>"),
    ("019e5a3b-7c4d-7000-8000-000000000001 lost", "<uuid> lost"),
    ("since 2026-03-14T03:00:01.500Z and 2026-03-14", "since <time> and <time>"),
    ("paid 1859 and 54.04", "paid <number> and <number>"),
    ("order #W2378156 failed", "order <id> failed"),
    ("orders 12345s and 123456d and 5000x", "orders <id> and <id> and <id>"),
    ("mail omar.davis7857@example.com", "mail <email>"),
]
STAYS = ["exit code 137", "HTTP 404", "python3 k8s s3 gpt-4o utf8 sha256", "v1.4.2", "3 seats left", "no digits here"]
STAYS += ["gave up after 5000ms", "a limit of 2048Mi or 4096k", "2500rpm", "the x509 certificate"]


@pytest.mark.parametrize(("text", "expected"), SECRETS)
def test_secrets_are_masked(text, expected):
    """Secrets recognised by their form are replaced by a mark."""
    assert mask_secrets(text) == expected


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text):
    """Dates, versions, sentences about passwords and numbers without a valid check digit stay."""
    assert mask_secrets(text) == text


def test_personal_data_can_stay():
    """Masking only secrets keeps addresses and phone numbers."""
    assert mask_secrets("ann@example.com password=x1", personal=False) == "ann@example.com password=[password]"


@pytest.mark.parametrize(("text", "expected"), IDS)
def test_ids_are_masked(text, expected):
    """Values that differ between runs become a stable mark."""
    assert mask_ids(text) == expected


@pytest.mark.parametrize("text", STAYS)
def test_names_with_digits_stay(text):
    """Status codes, versions, small counts and well-known names are not ids."""
    assert mask_ids(text) == text


@given(st.text())
def test_masking_twice_changes_nothing(text):
    """Masking is idempotent."""
    assert mask_ids(mask_ids(text)) == mask_ids(text)
    assert mask_secrets(mask_secrets(text)) == mask_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "password = request.form['password']",
        "password = input()",
        "const apiKey = process.env.OPENWEATHER_API_KEY;",
        "API_KEY=your_api_key_here",
        "token = base64.b64encode(user)",
        "first_token = tokens2026[0]",
        "token = localStorage.getItem('token1')",
        "THREAD_SET_TOKEN = 0x00000080",
        "GITHUB_TOKEN=$GH_TOKEN_123",
        "user_pass = get_password2(user)",
        "user_pass = base64.b64decode(basic)",
        "if X_PASS==abc12345",
    ],
)
def test_code_that_looks_a_secret_up_stays(text):
    """Such code contains no secret and is useful in a pack."""
    assert linked_secrets(text, "k") == text


def test_the_same_secret_has_the_same_mark():
    """Its mark is the same under one key and differs under another."""
    login, again = (linked_secrets(f"{words} password=hunter2", "k") for words in ("log in with", "again:"))
    assert login.split()[-2:] == again.split()[-2:]
    assert "hunter2" not in login
    assert linked_secrets("password=hunter2", "k") != linked_secrets("password=hunter2", "other")


@pytest.mark.parametrize(
    "secret",
    [
        "pat" + "aB3dE5fG7hJ9kL" + "." + "0a1b" * 16,
        "glrt-" + "aB1-" * 6,
        "sntryu_" + "0a" * 32,
        "xkeysib-" + "0f" * 32,
        "doo_v1_" + "9c" * 32,
        "NRJS-" + "0a1b2c3d4e5f6a7b8c9",
        "whsec_" + "a1" * 16,
        "hvs." + "a1b2" * 8,
        "dapi" + "0a" * 16,
        "gsk_" + "x1" * 20,
        "123456789:AA" + "b2" * 18,
    ],
)
def test_documented_formats_are_masked(secret):
    """Keys of services are recognised by their documented prefix or shape."""
    assert secret not in linked_secrets(f"use {secret} here", "k")


@pytest.mark.parametrize(
    "text",
    [
        "commit 4f2a9c1d7e8b3a6f5c0d9e8b7a6f5c4d3e2f1a0b on patch-17",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "session 019e5a3b-7fff-7000-8000-000000000001 of pod web-7d4b9c6f5-x2x9z",
        "order pat12 and pul-request ico-logo.svg sc_result tk-us r8_output",
        "next_token is set, tokens: 4096, tokenizer=cl100k_base",
        "next_token: abc123def456, nextPageToken=CAUQAA1234, PublicKeyToken=b77a5c561934e089",
        "SyntaxError: Unexpected token: u32abc1234; price per token: 0.0015usd; token: v1.4.2-rc1; token: #ddd0c0",
        "the token is base64-encoded, --token /run/secrets/tok2026, token: OAuth2Token",
        "--- PASS: TestLogin2, PASS: check-login-123.sh, tests_pass=12, TESTS_PASS=12/15, compass: N45W12",
    ],
)
def test_ids_and_hashes_of_logs_stay(text):
    """They are not secrets, and a log would be useless without them."""
    assert linked_secrets(text, "k") == text


PARTS = """
pass|PASSWORD|pa\u017f\u017fword|pwd|Secret_|credent\u0131als|API_\u212aEY|access-token|--|-u ann:|token|--token |_PASS
|eyJ|Bearer |author\u0130zation:|authorization: basic |sshpass -p | is |=|: |hunter22|abcdefgh.ijklmnop.q| """


@example("credent\u0131als=hunter22")
@example("API_\u212aEY: hunter22")
@example("pa\u017f\u017fword is hunter22")
@given(st.lists(st.sampled_from(PARTS.split("|")), max_size=8).map("".join))
def test_looking_for_parts_first_misses_no_secret(text):
    """A rule that the prefilter skips would not have matched."""
    everywhere = [replace(rule, needs=()) for rule in RULES]
    assert mask_secrets(text) == masked(text, everywhere)
