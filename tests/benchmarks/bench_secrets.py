"""How many published secret formats are masked, and what is masked by mistake.

The formats are those that services document for their keys and tokens. Ten secrets of each are put into log lines,
environment variables and JSON values. False positives are counted in the shared logs, which contain no secrets except
passwords made up by their authors. Run with `python tests/benchmarks/bench_secrets.py`.
"""

import gzip
import json
import random
import string
import sys
from collections import Counter
from pathlib import Path

from hmxgraph.text import masking
from tests.shared_data import shared

HEX, LOWER, UPPER, DIGITS = "0123456789abcdef", string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM, URL = LOWER + UPPER + DIGITS, LOWER + UPPER + DIGITS + "-_"
# The prefix of each service's key, and the alphabet and length of the rest.
PREFIXED = """
age AGE-SECRET-KEY-1 U 58|airtable pat N 14|alibaba LTAI N 20|anthropic sk-ant-api03- W 93
atlassian ATATT3 W 186|authress sc_ W 40|aws AKIA U 16|aws-session ASIA U 16|beamer b_ W 44
clojars CLOJARS_ L 60|databricks dapi H 32|digitalocean dop_v1_ H 64|digitalocean-oauth doo_v1_ H 64
digitalocean-refresh dor_v1_ H 64|docker dckr_pat_ W 27|doppler dp.pt. N 43|duffel duffel_test_ W 43
dynatrace dt0c01. U 88|easypost EZAK N 54|easypost-test EZTK N 54|flutterwave FLWSECK_TEST- H 32
frameio fio-u- W 64|gcp AIza W 35|github ghp_ N 36|github-oauth gho_ N 36|github-app ghu_ N 36
github-fine github_pat_ N 82|gitlab glpat- W 20|gitlab-runner glrt- W 20|gitlab-trigger glptt- H 40
gitlab-deploy gldt- W 20|gitlab-feed glft- W 20|grafana-cloud glc_ N 40|grafana-service glsa_ N 41
groq gsk_ N 52|heroku HRKU- W 58|huggingface hf_ N 34|huggingface-org api_org_ N 34|infracost ico- N 32
linear lin_api_ N 40|mailgun key- H 32|mailgun-public pubkey- H 32|notion ntn_ N 46|npm npm_ N 36
nytimes NRAK- U 27|newrelic-browser NRJS- H 19|openai sk- N 48|openai-project sk-proj- W 74
openshift sha256~ W 43|perplexity pplx- N 48|planetscale pscale_tkn_ W 43|planetscale-password pscale_pw_ W 43
planetscale-oauth pscale_oauth_ W 43|postman PMAK- H 59|prefect pnu_ N 36|pulumi pul- H 40
pypi pypi-AgEIcHlwaS5vcmc W 80|readme rdme_ N 70|replicate r8_ N 37|rubygems rubygems_ H 48|scalingo tk-us- W 48
sendinblue xkeysib- H 64|sentry-user sntryu_ H 64|sentry-org sntrys_ N 60|settlemint sm_aat_ N 16
shippo shippo_live_ H 40|shopify shpat_ H 32|shopify-custom shpca_ H 32|shopify-private shppa_ H 32
shopify-shared shpss_ H 32|slack-bot xoxb- D 50|slack-user xoxp- D 50|slack-app xapp-1- N 60|sonar sqp_ H 40
sonar-user squ_ H 40|square EAAA W 60|square-oauth sq0csp- W 43|stripe sk_live_ N 24|stripe-test sk_test_ N 24
stripe-restricted rk_live_ N 24|supabase sbp_ H 40|tailscale tskey-auth- N 34|telegram 1234567890:AA W 33
terraform-vault hvs. W 90|terraform-batch hvb. W 138|twilio SK H 32|twilio-account AC H 32|typeform tfp_ W 59
vault-old s. N 24|webhook whsec_ N 32|yandex AQVN W 38
"""
# Services whose keys have no prefix, with common names for them.
NAMED = """
adobe_client_secret H 32|algolia_api_key H 32|asana_client_secret N 32|auth0_client_secret W 64
bitbucket_client_secret W 64|cloudflare_api_key H 37|codecov_token N 32|coinbase_access_token W 64
confluent_secret_key N 64|datadog_access_token N 40|discord_client_secret W 32|dropbox_api_token N 15
etsy_access_token N 24|facebook_app_secret H 32|fastly_api_token W 32|finicity_api_token H 32
freshbooks_access_token N 64|gitter_access_token W 40|intercom_api_key W 60|kraken_secret_key W 80
kucoin_secret_key H 36|launchdarkly_access_token W 40|linkedin_client_secret N 16|lob_api_key H 40
looker_client_secret N 24|mailchimp_api_key H 36|mattermost_access_token N 26|messagebird_api_token N 25
netlify_access_token W 43|okta_api_token W 42|plaid_secret_key N 30|sidekiq_secret H 16|snyk_token H 36
sumologic_access_token N 64|travisci_access_token N 22|twitch_api_token N 30|twitter_api_secret N 50
zendesk_secret_key N 40|DB_PASSWORD N 14|smtp_password N 12|JWT_SECRET W 48
"""
SHAPES = ("loaded {name} {secret} from the vault", "export {name}={secret}", '{{"{name}": "{secret}"}}')
ALPHABETS = {"H": HEX, "L": LOWER + DIGITS, "U": UPPER + DIGITS, "D": DIGITS + "-", "N": ALNUM, "W": URL}


def entries(text):
    """The formats of a table."""
    return [entry.split() for line in text.strip().splitlines() for entry in line.split("|")]


def drawn(chance):
    """Ten secrets of each format, each within a text."""
    for number in range(10):
        for name, prefix, alphabet, length in entries(PREFIXED):
            secret = prefix + "".join(chance.choice(ALPHABETS[alphabet]) for _ in range(int(length)))
            yield name, secret, SHAPES[number % 3].format(name=name.upper(), secret=secret)
        for name, alphabet, length in entries(NAMED):
            secret = "".join(chance.choice(ALPHABETS[alphabet]) for _ in range(int(length)))
            yield name, secret, SHAPES[1 + number % 2].format(name=name, secret=secret)


def recall(mask):
    """The number of masked secrets, their total, and the formats that were mostly missed."""
    missed, total = Counter(), 0
    for name, secret, text in drawn(random.Random(7)):
        total += 1
        missed[name] += secret[-8:] in mask(text)
    return total - sum(missed.values()), total, [name for name, count in missed.items() if count > 4]


def texts(most):
    """A sample of values from the shared logs."""
    contents = []
    for path in sorted(Path(shared("data")).rglob("*.ndjson*"))[:40]:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            for number, line in enumerate(lines):
                if number > most // 20:
                    break
                contents.append(json.dumps(json.loads(line).get("content"), ensure_ascii=False))
    return contents


def main():
    """Print recall, and what is masked in logs without secrets."""
    hit, total, missed = recall(lambda text: masking.masked(text, masking.SECRETS))
    logs = texts(20_000)
    changed = [(text, masked) for text in logs if (masked := masking.masked(text, masking.SECRETS)) != text]
    print(f"{hit} of {total} secrets masked; {len(changed)} of {len(logs)} log values changed")
    print("missed:", ", ".join(missed))
    if "-v" in sys.argv:
        for text, masked in changed[:40]:
            at = next(
                place
                for place, (plain, masked_part) in enumerate(zip(text, masked, strict=False))
                if plain != masked_part
            )
            print("   ", text[max(0, at - 40) : at + 60].replace("\n", " "))


if __name__ == "__main__":
    main()
