"""Common kinds of secrets: a generator for each, and a text that contains it."""

import base64
import re
import string

ALNUM, LOWER, DIGITS, HEX = (
    string.ascii_letters + string.digits,
    string.ascii_lowercase,
    string.digits,
    "0123456789abcdef",
)
# Numbers of artifacts have none of these.
HIGH = "6789"
CAPITALS = string.ascii_uppercase + string.digits


def word(rng, alphabet, length):
    """A random word."""
    return "".join(rng.choice(alphabet) for _ in range(length))


def mixed(rng):
    """A password of letters and digits."""
    return word(rng, string.ascii_letters, 5) + word(rng, DIGITS, 3) + word(rng, ALNUM, 4)


def with_signs(rng):
    """A password of letters, digits and symbols."""
    letters, digits, more = word(rng, string.ascii_letters, 4), word(rng, DIGITS, 2), word(rng, ALNUM, 4)
    return letters + rng.choice("!$%*?") + digits + more + rng.choice("!#*?")


def two_words(rng):
    """A password that could be a word."""
    return f"{word(rng, LOWER, 7)}-{word(rng, LOWER, 6)}"


def encoded(size):
    """A generator of *size* bytes in base64."""
    return lambda rng: base64.b64encode(rng.randbytes(size)).decode()


def url_safe(rng):
    """32 bytes in base64 for URLs."""
    return base64.urlsafe_b64encode(rng.randbytes(32)).decode()


def prefixed(prefix, alphabet, length):
    """A generator of keys with a vendor prefix."""
    return lambda rng: prefix + word(rng, alphabet, length)


def card(rng, first, more):
    """A card number with a valid check digit (ISO/IEC 7812)."""
    digits = [*first, *(rng.randrange(10) for _ in range(more))]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[::-2]]
    return "".join(map(str, [*digits, -(sum(doubled) + sum(digits[-2::-2])) % 10]))


def iban(account):
    """A German account number with valid check digits (ISO 13616)."""
    return f"DE{98 - int(account + '131400') % 97:02}{account}"


FORMATS = {
    "stripe-whsec": (prefixed("whsec_", ALNUM, 32), "stripe listen --secret {}"),
    "stripe-rk": (prefixed("rk_live_", ALNUM, 24), "charge with {}"),
    "twilio": (prefixed("SK", HEX, 32), "twilio key {}"),
    "mailgun": (prefixed("key-", HEX, 32), "mailgun uses {} to send"),
    "mailchimp": (lambda rng: word(rng, HEX, 32) + "-us12", "mailchimp {}"),
    "azure-account": (
        encoded(64),
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
    ),
    "azure-sas": (
        lambda rng: word(rng, ALNUM, 40) + "%3D",
        "GET https://shop.blob.core.windows.net/c?sv=2022-11-02&sig={}&se=2026",
    ),
    "azure-bus": (
        encoded(32),
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={}",
    ),
    "gcp-json": (
        encoded(120),
        '{{"private_key_id": "x", "private_key": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n"}}',
    ),
    "aws-secret": (encoded(30), "aws_secret_access_key = {}"),
    "aws-secret-bare": (encoded(30), "use the key pair with {} in eu-west-1"),
    "aws-session": (encoded(90), "export AWS_SESSION_TOKEN={}"),
    "discord-bot": (
        lambda rng: word(rng, ALNUM, 24) + "." + word(rng, ALNUM, 6) + "." + word(rng, ALNUM, 27),
        "login as {}",
    ),
    "telegram": (
        lambda rng: word(rng, DIGITS, 10) + ":AA" + word(rng, ALNUM, 33),
        "curl https://api.telegram.org/bot{}/getMe",
    ),
    "slack-hook": (
        lambda rng: "T" + word(rng, CAPITALS, 8) + "/B" + word(rng, CAPITALS, 8) + "/" + word(rng, ALNUM, 24),
        "post to https://hooks.slack.com/services/{}",
    ),
    "shopify": (prefixed("shpat_", HEX, 32), "shop token {}"),
    "databricks": (prefixed("dapi", HEX, 32), "databricks configure {}"),
    "vault": (prefixed("hvs.", ALNUM, 24), "vault login {}"),
    "docker": (prefixed("dckr_pat_", ALNUM, 27), "docker login with {}"),
    "linear": (prefixed("lin_api_", ALNUM, 40), "linear {}"),
    "openai-proj": (lambda rng: "sk-proj-" + word(rng, ALNUM, 20) + "_" + word(rng, ALNUM, 20), "OPENAI {}"),
    "groq": (prefixed("gsk_", ALNUM, 52), "groq {}"),
    "grafana": (lambda rng: "glsa_" + word(rng, ALNUM, 32) + "_" + word(rng, HEX, 8), "grafana {}"),
    "newrelic": (prefixed("NRAK-", CAPITALS, 27), "newrelic {}"),
    "rubygems": (prefixed("rubygems_", HEX, 48), "gem push {}"),
    "age": (prefixed("AGE-SECRET-KEY-1", CAPITALS, 58), "age {}"),
    "pgp": (encoded(90), "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----"),
    "ssh": (encoded(90), "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----"),
    "x-api-key": (prefixed("", ALNUM, 32), "curl -H 'X-Api-Key: {}'"),
    "x-auth-token": (prefixed("", ALNUM, 32), "X-Auth-Token: {}"),
    "cookie": (prefixed("", ALNUM, 26), "Set-Cookie: sessionid={}; HttpOnly"),
    "curl-u": (mixed, "curl -u admin:{} https://ci.example.com"),
    "sshpass": (mixed, "sshpass -p {} ssh root@host"),
    "mysql-p": (mixed, "mysql -u root -p{} shop"),
    "redis-a": (mixed, "redis-cli -a {} ping"),
    "redis-url": (mixed, "redis://:{}@cache:6379/0"),
    "token-url": (prefixed("", ALNUM, 40), "git clone https://{}@github.com/acme/shop"),
    "pw-word-url": (two_words, "postgres://app:{}@db/shop"),
    "pw-at-url": (lambda rng: mixed(rng) + "%40" + mixed(rng), "amqp://guest:{}@mq:5672"),
    "mongo": (with_signs, "mongodb+srv://app:{}@cluster0.mongodb.net"),
    "jdbc": (mixed, "jdbc:postgresql://db/shop?user=app&password={}&ssl=true"),
    "ado": (with_signs, "Server=db;User Id=sa;Password={};Encrypt=yes"),
    "k8s-env": (two_words, '{{"env": [{{"name": "DB_PASSWORD", "value": "{}"}}]}}'),
    "argv": (two_words, '["mysql", "--password", "{}", "-u", "root"]'),
    "yaml": (two_words, "database:\n  password: {}\n  user: app"),
    "german": (two_words, "Passwort: {}"),
    "pw-abbr": (two_words, "PW: {}"),
    "passphrase-words": (lambda rng: " ".join(word(rng, LOWER, 6) for _ in range(4)), 'passphrase: "{}"'),
    "seed": (lambda rng: " ".join(word(rng, LOWER, 6) for _ in range(12)), "seed phrase: {}"),
    "basic": (
        lambda rng: base64.b64encode(("ann:" + mixed(rng)).encode()).decode(),
        'headers {{"Authorization": "Basic {}"}}',
    ),
    "token-json": (prefixed("", HEX, 40), '{{"token": "{}"}}'),
    "id-token": (prefixed("", ALNUM, 60), "id_token={}&state=1"),
    "code": (lambda rng: word(rng, DIGITS, 6), "your one-time code is {}"),
    "otp": (lambda rng: word(rng, DIGITS, 6), "otp={}"),
    "pin": (lambda rng: word(rng, DIGITS, 4) + word(rng, DIGITS, 1), "PIN: {}"),
    "cvv": (lambda rng: word(rng, HIGH, 4), "cvv: {}"),
    "uuid-key": (
        lambda rng: (
            f"{word(rng, HEX, 8)}-{word(rng, HEX, 4)}-4{word(rng, HEX, 3)}-a{word(rng, HEX, 3)}-{word(rng, HEX, 12)}"
        ),
        "heroku key {}",
    ),
    "hex64": (prefixed("", HEX, 64), "wallet {} was used"),
    "generic": (prefixed("", ALNUM, 40), "credential {} was rotated"),
    "hmac": (encoded(32), "signing with {} failed"),
    "wifi": (mixed, "wifi psk={}"),
    "email-plus": (
        lambda rng: word(rng, LOWER, 6) + "+" + word(rng, LOWER, 4) + "@" + word(rng, LOWER, 7) + ".co.uk",
        "ask {} for help",
    ),
    "email-unicode": (
        lambda rng: "j\u00fcrgen." + word(rng, LOWER, 6) + "@" + word(rng, LOWER, 7) + ".de",
        "ask {} for help",
    ),
    "phone-us": (
        lambda rng: f"({rng.randrange(200, 999)}) {rng.randrange(200, 999)}-{rng.randrange(1000, 9999)}",
        "call {} now",
    ),
    "phone-1": (
        lambda rng: f"1-{rng.randrange(200, 999)}-{rng.randrange(200, 999)}-{rng.randrange(1000, 9999)}",
        "call {} now",
    ),
    "phone-de": (lambda rng: f"0{rng.randrange(150, 179)} {rng.randrange(1000000, 9999999)}", "call {} now"),
    "phone-fr": (lambda rng: "06 " + " ".join(f"{rng.randrange(10, 99)}" for _ in range(4)), "call {} now"),
    "phone-uk": (lambda rng: f"020 7{rng.randrange(100, 999)} {rng.randrange(1000, 9999)}", "call {} now"),
    "phone-bare": (lambda rng: f"+1{rng.randrange(2000000000, 9999999999)}", "call {} now"),
    "iban": (lambda rng: iban(word(rng, DIGITS, 18)), "pay to {} today"),
    "card-spaced": (lambda rng: " ".join(re.findall("....", card(rng, [4], 14))), "card {}"),
    "ssn": (lambda rng: f"{rng.randrange(100, 665)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}", "ssn {}"),
    "pass-is": (two_words, "the password is {} now"),
    "her-password": (mixed, "login as admin with password {} please"),
    "secret-quoted": (two_words, "secret '{}' expired"),
    "equals-spaces": (with_signs, "SMTP_PASS = '{}'"),
    "npmrc": (prefixed("", ALNUM, 36), "//registry.npmjs.org/:_authToken={}"),
    "netrc": (two_words, "machine git.example.com login ann password {}"),
    "pgpass": (mixed, "db.example.com:5432:shop:app:{}"),
    "htpasswd": (lambda rng: "$apr1$" + word(rng, ALNUM, 8) + "$" + word(rng, ALNUM, 22), "ann:{}"),
    "bcrypt": (lambda rng: "$2b$12$" + word(rng, ALNUM, 53), "hash {} stored"),
    "laravel": (encoded(32), "APP_KEY=base64:{}"),
    "django": (with_signs, "SECRET_KEY = '{}'"),
    "fernet": (url_safe, "fernet {}"),
    "private-escaped": (encoded(60), "-----BEGIN RSA PRIVATE KEY-----\\n{}\\n"),
    "ec-cut": (encoded(60), "-----BEGIN EC PRIVATE KEY----- {}"),
    "asana": (lambda rng: "1/" + word(rng, DIGITS, 16) + ":" + word(rng, HEX, 32), "asana {}"),
    "atlassian": (lambda rng: "ATATT3xFfGF0" + word(rng, ALNUM, 100) + "=" + word(rng, CAPITALS, 8), "jira {}"),
    "square": (lambda rng: "EAAA" + word(rng, ALNUM + "-_", 60), "square {}"),
    "figma": (lambda rng: "figd_" + word(rng, ALNUM + "-_", 40), "figma {}"),
    "notion": (prefixed("ntn_", ALNUM, 46), "notion {}"),
    "planetscale": (prefixed("pscale_tkn_", ALNUM, 43), "db {}"),
    "sentry": (lambda rng: "https://" + word(rng, HEX, 32) + "@o1.ingest.sentry.io/2", "dsn {}"),
    "terraform": (lambda rng: word(rng, ALNUM, 14) + ".atlasv1." + word(rng, ALNUM, 60), "tf {}"),
    "pulumi": (prefixed("pul-", HEX, 40), "pulumi {}"),
    "fly": (lambda rng: "fo1_" + word(rng, ALNUM + "-_", 43), "fly {}"),
    "okta": (lambda rng: "00" + word(rng, ALNUM + "-_", 40), "SSWS {}"),
    "teams-hook": (
        lambda rng: f"{word(rng, HEX, 32)}/IncomingWebhook/{word(rng, HEX, 32)}",
        "https://acme.webhook.office.com/webhookb2/{}",
    ),
    "ftp": (with_signs, "ftp://ann:{}@files.example.com/pub"),
    "smb": (mixed, "net use Z: \\\\srv\\share /user:ann {} password"),
    "ldap": (mixed, "ldapsearch -D cn=admin -w {} -b dc=x"),
    "psql-env": (two_words, "PGPASSWORD={} psql -h db"),
    "docker-login": (two_words, "docker login -u ann --password {} ghcr.io"),
    "json-pwd": (with_signs, '{{"user":"ann","pwd":"{}"}}'),
    "ini": (two_words, "[db]\npasswd = {}"),
    "xml": (two_words, "<password>{}</password>"),
    "clientSecret": (two_words, '{{"clientSecret": "{}"}}'),
    "camel-key": (prefixed("", ALNUM, 30), '{{"accessKey": "{}"}}'),
    "privateKey": (prefixed("0x", HEX, 64), '{{"privateKey": "{}"}}'),
    "token-word": (prefixed("", ALNUM, 22), "token: {}"),
    "refresh": (prefixed("1//0", ALNUM, 60), "refresh_token={}"),
    "session-cookie": (prefixed("s%3A", ALNUM, 40), "Cookie: connect.sid={}"),
    "csrf": (prefixed("", ALNUM, 32), "csrf_token={}"),
    "spanish": (two_words, "contrase\u00f1a: {}"),
    "french": (two_words, "mot de passe : {}"),
    "sudo": (mixed, "echo {} | sudo -S apt update"),
    "snmp": (two_words, "snmpwalk --auth-password {}"),
    "keystore": (two_words, "keytool -storepass {} -list"),
    "openssl": (two_words, "openssl enc -aes-256-cbc -pass pass:{}"),
    "ansible": (two_words, "ansible_ssh_pass={} ansible_user=ops"),
    "gpg": (two_words, "gpg --passphrase {} -d x.gpg"),
    "zip": (mixed, "unzip -P {} archive.zip"),
    "url-query": (prefixed("", ALNUM, 24), "GET /v1/items?api_key={}&page=2"),
    "url-key": (prefixed("", ALNUM, 24), "GET /maps?key={}&q=x"),
    "bearer-lower": (prefixed("", ALNUM, 30), '{{"authorization": "bearer {}"}}'),
    "phone-paren": (lambda rng: f"(0{rng.randrange(20, 99)}) {rng.randrange(1000000, 9999999)}", "call {} now"),
    "phone-dots": (
        lambda rng: f"{rng.randrange(200, 999)}.{rng.randrange(200, 999)}.{rng.randrange(1000, 9999)}",
        "call {} now",
    ),
    "email-sub": (
        lambda rng: word(rng, LOWER, 6) + "_" + word(rng, DIGITS, 3) + "@mail." + word(rng, LOWER, 7) + ".example.org",
        "write to <{}>",
    ),
    "amex": (lambda rng: card(rng, [3, 7], 12), "amex {}"),
    "cf": (prefixed("v1.0-", HEX, 60), "cloudflare {}"),
    "cfapi": (prefixed("", ALNUM + "_-", 40), "CF_API: {}"),
    "hf": (prefixed("hf_", ALNUM, 34), "login {}"),
    "perplexity": (prefixed("pplx-", ALNUM, 48), "ask {}"),
    "vercel": (prefixed("", ALNUM, 24), "vercel --token {}"),
    "netlify": (prefixed("nfp_", ALNUM, 36), "netlify {}"),
    "mysql-dsn": (with_signs, "app:{}@tcp(db:3306)/shop"),
    "oracle": (two_words, "sqlplus scott/{}@orcl"),
    "kerberos": (two_words, "kinit password={}"),
    "win": (with_signs, "ConvertTo-SecureString '{}' -AsPlainText"),
    "envfile": (two_words, "export STRIPE_SECRET={}"),
    "toml": (two_words, 'db_password = "{}"'),
    "py": (two_words, "connect(user='a', password='{}')"),
    "ruby": (two_words, ":password => '{}'"),
    "go": (two_words, 'Password: "{}",'),
    "lines": (two_words, "Password:\n{}"),
    "tab": (mixed, "password\t{}"),
    "url-enc": (two_words, "password%3D{}"),
    "form": (two_words, "username=a&password={}&go=1"),
    "totp": (prefixed("", string.ascii_uppercase + "234567", 32), "otpauth://totp/x?secret={}&issuer=y"),
    "steam": (prefixed("", string.ascii_uppercase + "234567", 26), "authenticator seed {}"),
    "license": (lambda rng: "-".join(word(rng, CAPITALS, 5) for _ in range(5)), "license {}"),
    "gcm": (lambda rng: word(rng, ALNUM, 11) + ":APA91b" + word(rng, ALNUM, 60), "push {}"),
    "pkcs": (encoded(50), "MII{}"),
    "cert-cut": (encoded(80), "key data: {}"),
    "jwk": (lambda rng: url_safe(rng).rstrip("="), '{{"kty":"oct","k":"{}"}}'),
    "ann-said": (two_words, "Ann said her password was {}"),
    "use-pw": (mixed, "use {} as the password"),
    "creds": (mixed, "creds admin/{}"),
    "email-name": (lambda rng: word(rng, LOWER, 6) + "@" + word(rng, LOWER, 5) + ".io", "Ann <{}> wrote"),
    "phone-ext": (lambda rng: f"+44 20 {rng.randrange(1000, 9999)} {rng.randrange(1000, 9999)}", "ring {} ext 5"),
    "phone-in": (lambda rng: f"+91 {rng.randrange(70000, 99999)} {rng.randrange(10000, 99999)}", "ring {}"),
    "phone-dash": (
        lambda rng: f"{rng.randrange(200, 999)}-{rng.randrange(200, 999)}-{rng.randrange(1000, 9999)}",
        "ring {}",
    ),
    "gap-is": (two_words, "The password for the staging box is {}"),
    "gap-will": (with_signs, "The new password for the demo account will be {} from Monday"),
    "gap-colon": (two_words, "app password for the scanner: {}"),
    "reset-to": (mixed, "the admin password was reset to {} after the lockout"),
    "named-s": (lambda rng: word(rng, LOWER, 5) + word(rng, CAPITALS, 1) + word(rng, LOWER, 4), "the password's {}"),
    "german-gap": (mixed, "Das Passwort f\u00fcr den Testserver lautet {}."),
    "german-war": (mixed, "das pw vom alten Rechner war {}"),
    "french-gap": (two_words, "Le mot de passe du serveur est {}"),
    "french-short": (mixed, "mdp wifi = {}"),
    "spanish-gap": (two_words, "La contrase\u00f1a del router es {}"),
    "spanish-key": (mixed, "la clave del wifi es {}"),
    "portuguese-gap": (two_words, "A senha do banco de dados \u00e9 {}"),
    "italian-gap": (two_words, "La password del server \u00e8 {}"),
    "login-slash": (with_signs, "log in with admin / {}"),
    "login-using": (two_words, "The agent logged in as root using {}"),
    "pin-gap": (lambda rng: word(rng, HIGH, 4), "The PIN of the safe is {}, then turn the wheel"),
    "door": (lambda rng: word(rng, DIGITS, 6), "Door code for the server room: {}"),
    "is-your-code": (lambda rng: word(rng, DIGITS, 6), "{} is your verification code"),
    "backup-codes": (lambda rng: f"{word(rng, HEX, 5)}-{word(rng, HEX, 5)}1", "recovery codes:\n12345-abcd1\n{}"),
    "app-words": (lambda rng: " ".join(word(rng, LOWER, 4) for _ in range(4)), "mail app password: {}"),
    "ssh-prompt": (two_words, "Enter passphrase for key '/home/ann/.ssh/id': {}"),
    "sql-by": (two_words, "CREATE USER app IDENTIFIED BY '{}'"),
    "sql-call": (two_words, "SET PASSWORD FOR app = PASSWORD('{}')"),
    "sql-national": (two_words, "ALTER LOGIN etl WITH PASSWORD = N'{}'"),
    "sql-values": (two_words, "INSERT INTO settings VALUES ('smtp_password', '{}')"),
    "php-config": (two_words, "$config['db_pass'] = '{}';"),
    "rust": (two_words, 'let password = String::from("{}");'),
    "go-short": (two_words, 'secret := "{}"'),
    "py-auth": (two_words, 'GraphDatabase.driver(uri, auth=("neo4j", "{}"))'),
    "js-login": (two_words, 'server.login("ann", "{}")'),
    "hcl-default": (two_words, 'variable "db_password" {{\n  default = "{}"\n}}'),
    "browser": (two_words, 'browser.fill(selector="#password", value="{}")'),
    "xml-named": (two_words, '<parameter name="password">{}</parameter>'),
    "markdown": (two_words, "- **Password**: `{}`"),
    "table": (two_words, "| host | password |\n|---|---|\n| nas1 | {} |"),
    "csv": (two_words, "user;password\nann;{}"),
    "wifi-code": (two_words, "WIFI:T:WPA;S:Cafe;P:{};;"),
    "chpasswd": (mixed, "echo 'deploy:{}' | chpasswd"),
    "htpasswd-b": (two_words, "htpasswd -b -c .htpasswd ann {}"),
    "rabbit": (two_words, "rabbitmqctl add_user shipping {}"),
    "requirepass": (two_words, "requirepass {}"),
    "community": (two_words, "snmp-server community {} RW"),
    "smb-user": (two_words, "smbclient //fs01/share -U backup%{}"),
    "rdp": (with_signs, "xfreerdp /v:ts01 /u:ops /p:{}"),
    "openssl-k": (mixed, "openssl enc -aes-256-cbc -k {} -in a -out b"),
    "supabase": (lambda rng: "sb_secret_" + word(rng, ALNUM, 11) + "_" + word(rng, ALNUM, 8), "createClient('{}')"),
    "as-password": (mixed, "enter {} as the password, then submit"),
    "in-prompt": (mixed, "type {} in the password prompt"),
    "shared": (mixed, "so I fell back to the shared admin password, {}, which works"),
    "swedish": (mixed, "L\u00f6senordet till testmilj\u00f6n \u00e4r {}"),
    "dict": (two_words, 'PASSWORDS = {{"stage": "{}"}}'),
    "xml-nested": (two_words, "<Password><Value>{}</Value></Password>"),
    "cypress": (two_words, "cy.get('#pwd').type('{}')"),
    "text-first": (two_words, '{{"text": "{}", "target": "input[type=password]"}}'),
    "pdo": (two_words, "new PDO('mysql:host=db', 'app', '{}')"),
    "imap": (mixed, "a001 LOGIN ann@example.com {}"),
    "ipmi": (two_words, "ipmitool -H bmc -U ADMIN -P {} chassis status"),
    "ssh-keygen": (two_words, "ssh-keygen -t ed25519 -N {} -f id"),
    "redis-acl": (two_words, "ACL SETUSER worker on >{} +@all"),
    "puk": (lambda rng: word(rng, DIGITS, 8), "the SIM has PUK {}"),
    "box-code": (lambda rng: word(rng, DIGITS, 5), "Key box next to the entrance, code {}"),
    "answer": (two_words, '{{"challenge_answer": "{}"}}'),
    "wifi-word": (lambda rng: word(rng, LOWER, 9), "wifi in the Graz office: SSID guest, password {}"),
    "webhook": (prefixed("", ALNUM, 7), "posts to https://hooks.example.com/catch/1182231/{}"),
    "snmp-v3": (two_words, "snmp-server user mon grp v3 auth sha {}"),
    "here-string": (two_words, "kinit svc_hdfs <<< {}"),
    "substitution": (two_words, "rsync --password-file=<(echo {}) -av a b"),
    "tan": (lambda rng: word(rng, DIGITS, 6), "entry 14 for the bank: TAN {}"),
    "mfa-code": (lambda rng: word(rng, DIGITS, 6), "entered 2FA code {} on the portal"),
    "compared": (two_words, 'if pw == "{}": grant()'),
    "unchanged": (mixed, "Root password on the old NAS was never changed from {}"),
}
