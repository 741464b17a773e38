"""Secrets of many kinds, drawn by a seed, and a learned state with one of them in every text."""

import base64
import json
import random
import string

from hmxgraph.fingerprint.behaviour import Behaviour
from hmxgraph.fingerprint.depth import Depth
from hmxgraph.fingerprint.measures import digest_of
from hmxgraph.fingerprint.state import ServedPack
from tests.unit.fingerprint.secret_formats import FORMATS
from tests.unit.fingerprint.states import artifact, cause_content, known, playbook_content, policy_content, task_content

ALNUM = string.ascii_letters + string.digits


def drawn(rng, alphabet, length):
    """A random word."""
    return "".join(rng.choice(alphabet) for _ in range(length))


def password(rng):
    """A password that mixes letters and digits."""
    return drawn(rng, string.ascii_letters, 5) + drawn(rng, string.digits, 3) + drawn(rng, ALNUM, 4)


def card(rng):
    """A card number with a valid check digit (ISO/IEC 7812)."""
    digits = [4, *(rng.randrange(10) for _ in range(14))]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[::-2]]
    check = -(sum(doubled) + sum(digits[-2::-2])) % 10
    return "".join(map(str, [*digits, check]))


def jwt(rng):
    """A JSON web token."""
    part = base64.urlsafe_b64encode(json.dumps({"sub": drawn(rng, ALNUM, 12)}).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{part}.{drawn(rng, ALNUM, 43)}"


# Each kind: how the secret is drawn, and the sentence it stands in.
KINDS = (
    (password, "export DB_PASSWORD={}"),
    (password, "psql postgres://app:{}@db.example.com/shop"),
    (password, "mysql --password {} -u root"),
    (password, 'config {{"password": "{}"}} loaded'),
    (password, "the password is {}"),
    (lambda rng: drawn(rng, ALNUM, 32), "curl -H 'Authorization: Bearer {}' https://api.example.com"),
    (lambda rng: "sk-" + drawn(rng, ALNUM, 40), "use key {} for the model"),
    (lambda rng: "AKIA" + drawn(rng, string.ascii_uppercase + string.digits, 16), "aws configure with {}"),
    (lambda rng: "ghp_" + drawn(rng, ALNUM, 36), "git push with {}"),
    (lambda rng: "glpat-" + drawn(rng, ALNUM, 20), "clone by {}"),
    (lambda rng: "xoxb-" + drawn(rng, string.digits, 24), "slack bot {}"),
    (lambda rng: "AIza" + drawn(rng, ALNUM, 35), "maps key {}"),
    (jwt, "session {} expired"),
    (card, "charge card {} twice"),
    (lambda rng: drawn(rng, ALNUM, 24), "client_secret={} in the form"),
    (lambda rng: drawn(rng, ALNUM, 24), "api_key: {}"),
    (lambda rng: drawn(rng, ALNUM, 64), "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----"),
    (lambda rng: f"{drawn(rng, string.ascii_lowercase, 9)}@{drawn(rng, string.ascii_lowercase, 7)}.com", "mail {}"),
    (lambda rng: f"+49 170 {rng.randrange(1_000_000, 9_999_999)}", "call {} first"),
    (lambda rng: f"{rng.randrange(100, 665)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}", "ssn {} on file"),
)
ALL_KINDS = (*KINDS, *FORMATS.values())


def secrets(count=1_000, seed=5):
    """Pairs of a secret and a sentence with it."""
    rng = random.Random(seed)
    kinds = rng.sample(ALL_KINDS, len(ALL_KINDS))
    pairs = []
    for number in range(count):
        make, sentence = kinds[number % len(kinds)]
        secret = make(rng)
        pairs.append((secret, sentence.format(secret)))
    return pairs


def state(sentences, tier):
    """A state with one of the sentences in every text field, of heavy and light artifacts."""
    left = iter(sentences)
    artifacts = []
    for number in range(40):
        contents = (
            ("decision_policy", policy_content(next(left), next(left), [next(left)])),
            ("task_schema", task_content([next(left), next(left)])),
            ("failure_playbook", playbook_content(next(left), [next(left)])),
            ("causal_pattern", cause_content(next(left), next(left))),
        )
        for place, (kind, content) in enumerate(contents):
            artifacts.append(artifact(4 * number + place, kind, next(left), content, tags=("ops", f"tag {number % 4}")))
    remaining = list(left)
    tagged = artifact(999, "task_schema", "Tagged", task_content(), tags=tuple(remaining[:60]), observed_count=900)
    return known([*artifacts, tagged], tier, **elsewhere(remaining[60:]))


def elsewhere(sentences):
    """The sentences in names of tools, errors, domains, entities and tags."""
    names = [sentences[start::5] for start in range(5)]
    hubs = [{"name": name, "type": "tool", "connection_count": 4} for name in names[3][:10]]
    return {
        "behaviour": Behaviour(
            tool_calls=9,
            tools=dict.fromkeys(names[0], 2),
            error_types=dict.fromkeys(names[1], 2),
            decision_domains=dict.fromkeys(names[2], 2),
        ),
        "digest": digest_of([], [], hubs, Depth(1, exact=True)),
        "served": (
            ServedPack("p", "positive", 100, {"facts": 5}, (), tuple(names[4])),
            ServedPack("q", "negative", 100, {"facts": 5}, (), tuple(names[3])),
        ),
    }
