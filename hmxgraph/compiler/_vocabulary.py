"""The English vocabulary of the compiler, and functions that reduce texts and names to their informative words."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from hmxgraph.text.masking import mask_secrets
from hmxgraph.text.terms import terms, words

# Built-in word lists. They cover English and well-known programs, but no application domain.


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Verbs with which a request may begin: "cancel my order".
REQUEST_VERBS = _listed("""
    activate add adjust analyse analyze apply approve arrange assign book build buy cancel change check clean close
    compare compile configure connect convert copy create debug delete deploy diagnose disable download downgrade edit
    enable evaluate exchange export extend fix generate implement import improve install investigate launch list merge
    migrate modify monitor move open optimise optimize order pay plan prepare provision publish reboot rebuild refactor
    refresh refund register release remove rename renew repair replace report reproduce reschedule reset resolve restart
    restore resume return review roll rollback rotate run scale schedule search send set setup ship split start stop
    submit swap switch sync test track train transfer translate troubleshoot undo uninstall update upgrade upload verify
    withdraw write
""")

# Further verbs with which tool names begin: "acknowledge_alert".
TOOL_VERBS = _listed("""
    accept accelerate acknowledge acquire align allocate allow amend annotate answer append archive attach authorise
    authorize award backup ban bind block boost broadcast bump call capture cast charge claim classify clear click clone
    collect combine commit complete compose compress confirm construct consume crawl crop deactivate debit decline
    decode decompress decrease decrypt deduct define deliver deny deprovision deregister destroy detach detect disallow
    discard disconnect dismiss dispatch display dispute draft drag draw drop duplicate email embed emit empty encode
    encrypt end enqueue enrich enroll ensure erase execute expire extract fill filter finalise finalize finish flag
    flush fold follow format freeze give grant guess handle halt hide hold ignore increase index inform ingest
    initialise initialize inject insert invalidate invite invoke issue join keep kill label leave link lock lower make
    map mark mint mount mute navigate negotiate normalise normalize notify obtain offer onboard overwrite parse paste
    patch pause perform persist pick pin place play populate post press print process promote prompt propose prune pull
    purchase purge push put quarantine queue raise reactivate reassign rebase recharge reconcile record recover redeem
    redirect reduce refill refuel reindex reinstall reject reload remind reopen reorder reply repeat request require
    reroute reseat reserve resize respond restrict resubmit retire retrain retry revert revise revoke rewrite save score
    scrape scroll seal seed segment serve share shift shut sign skip sleep snooze solve sort spawn stash store stream
    subscribe suggest suspend tag take tap terminate throttle toggle touch transcribe transform trigger trim truncate
    tune turn type unarchive unassign unban unbind unblock undeploy unfollow unfreeze unlink unlock unmount unmute unpin
    unregister unset unshare unsubscribe untag unwind unzip upsert use vacuum void vote wait wake warn wipe wrap zip
    zoom
""")

# Last words that make a tool name a noun, even if its first word can be a verb: "order_api".
INTERFACES = _listed("api cli sdk")

# Words that may precede the verb of a request: "could you please".
VERB_LEADS = _listed("""
    also and but can could first he'll help i'd i'll just kindly let let's lets me might must no not now or please
    quickly rather shall should so then they to us want we we'll will would you
""")

# Words before "to" that describe what somebody else wants, not a request: "she wants to cancel".
OTHERS_VERBS = _listed(
    "are decided decides had has hopes is likes needed needs plans tried tries wants was were wishes"
)

# Finite verbs, which make the word before them a subject: "search is slow".
FINITE_VERBS = _listed("""
    are aren't breaks broke can can't cannot could couldn't crashes did didn't do does doesn't don't fails gets goes got
    had hangs has hasn't have hung is isn't keeps kept looks might must seems should shouldn't still stopped takes took
    was wasn't went were weren't will won't works would
""")

# Nouns for the problem that a user reports.
TROUBLES = _listed("bug crash crashes difficulty error errors failure failures issue issues problem problems trouble")

# Verbs that need an object: titles say "add something to the cart".
OBJECT_VERBS = _listed("add append apply assign attach connect convert copy export import insert map move put send set")

# Words that state a quantity.
COUNT_WORDS = _listed("""
    all another both couple each every few four five many more most one other several single some ten three two
""")

# Pronouns and question words, which never belong to a task name.
PRONOUNS = _listed("he her him i it me she that these they them this those us we what which who you your")

# Words that begin a question about known facts.
QUESTION_WORDS = _listed("what when where which who whose why")

# Prepositions that connect the topic of a request with its verb: "search for flights".
PREPOSITIONS = _listed("about across against at between for from in into of on onto over to with within")

# Polite and filler words around a request.
_POLITE_WORDS = _listed("""
    able afternoon also assist assistance can could day dear evening get good got great hello help hey hi hope hoping id
    im ive just let lets like look looking may might morning need now ok okay please really something sure thank thanks
    there today try trying want wanted wondering would yes
""")

# Names of tools that run a command line.
SHELL_WORDS = _listed("""
    bash cmd command commands console exec execute powershell process run script sh shell terminal zsh
""")

# HTTP methods, and those that change nothing.
WEB_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"))
WEB_LOOKUPS = frozenset(("GET", "HEAD", "OPTIONS"))

# Programs that check results, and programs that only read. A slash separates a program from its subcommand.
CHECKING_PROGRAMS = _listed("""
    eslint flake8 mypy pylint pyright ruff/check shellcheck tsc cargo/check cargo/clippy go/vet terraform/validate
    helm/lint
    pytest jest mocha vitest tox nox rspec phpunit ctest go/test cargo/test npm/test npm/run/test make/test mvn/test
""")
READ_ONLY_PROGRAMS = CHECKING_PROGRAMS | _listed("""
    cat curl date df dig dmesg du env file find free grep head history host id iostat jq less ls lsblk lsof md5sum
    netstat nproc nslookup ping ps pwd rg sha256sum ss stat tail top traceroute tree uname uptime vmstat wc which whoami
    whois openssl/s_client openssl/x509
    kubectl/get kubectl/describe kubectl/logs kubectl/top kubectl/rollout/status kubectl/auth kubectl/config
    kubectl/diff
    git/status git/log git/diff git/show git/blame git/branch docker/ps docker/logs docker/inspect docker/images
    helm/list helm/status helm/template terraform/plan terraform/show systemctl/status
""")

# First words of subcommands that only read, for any program: "describe" in "describe-db-instances".
READ_ONLY_SUBCOMMANDS = _listed("""
    cat check checks describe diff get head help history info inspect lint list logs ls read search show status tail top
    validate version view whoami
""")

# For each program, the number of subcommand words after its name.
SUBCOMMANDS = dict.fromkeys(
    _listed("""
    ansible-galaxy apt apt-get brew bundle cargo composer conda consul dnf docker doctl dotnet flyctl gem git go
    gradle helm heroku istioctl kind kubectl kustomize make mvn nomad npm openssl pip pip3 pnpm podman poetry pulumi
    rails ruff rustup service snap supervisorctl systemctl terraform tofu uv vault yarn yum
    alembic asdf bun deno dart flutter hatch mix nvm pdm pipx prisma pyenv rake swift turbo
"""),
    1,
) | dict.fromkeys(_listed("aws az gcloud gh openstack"), 2)

# Programs that run the command after them, and their flags that take the next word as a value.
WRAPPERS = _listed("sudo time env nohup exec command nice stdbuf xargs doas timeout")
WRAPPER_FLAGS_WITH_VALUE = {
    "sudo": _listed("-u -g -h -p -C -D -R -T -U --user --group --host --chdir"),
    "doas": _listed("-u -C"),
    "env": _listed("-u -C --unset --chdir"),
    "xargs": _listed("-I -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --arg-file"),
    "nice": _listed("-n --adjustment"),
    "timeout": _listed("-s -k --signal --kill-after"),
    "stdbuf": _listed("-i -o -e --input --output --error"),
    "time": _listed("-f -o --format --output"),
    "exec": _listed("-a"),
}
# Commands that only prepare the shell or a directory for other commands.
PREPARATIONS = _listed("cd export source . set pushd popd echo sleep true mkdir unset")
# Programs whose output only feeds the next program of a pipeline.
FEEDERS = _listed("echo printf cat yes")
# Programs whose first argument is an operand even if it is a verb: "rm build".
OPERAND_PROGRAMS = _listed("""
    awk bat chmod chown cmp code cp cut emacs gzip java kill killall ln man mkdir mv mysql nano node open perl php pkill
    psql rm rmdir ruby sed sort sqlite3 tar tee touch tr uniq unzip vi vim zip
""")
# Shells, which run the command line given in an argument.
SHELLS = _listed("bash sh zsh dash ash pwsh powershell cmd")

# Endings of the names of arguments and fields that identify something, and words with such an ending that do not.
_IDENTIFYING = ("id", "number", "name", "email", "path", "key", "selector")
_NOT_IDENTIFYING = _listed("""
    aid bid fluid grid hybrid invalid liquid mid paid prepaid raid rapid said solid unpaid valid void
""")
# The boundary between two words of a name: in "order_id", "orderId".
BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
# Words in argument names that state a person's decision: that somebody approved, or that a rule may be ignored.
# "confirmation" and "authorization" count only at the end, because "confirmation_code" is no decision.
_DECISION = re.compile(
    r"\b(?:(?:pre)?approv\w*|authori[sz]e[drs]?|confirm(?:ed|s)?|consent\w*|agreed|sign(?:ed)? ?off"
    r"|overrid\w*|overrul\w*|bypass\w*|waive\w*|forced?)\b|\b(?:authori[sz]ation|confirmation)\Z"
)
# Words which show that an identifier is that of the person who decided: "approved_by_id".
_DECIDER = re.compile(r"\b(?:by|approvers?|authori[sz]ers?)\b")

# The prefix of browser actions, the verbs of browser actions that only read, and those that open an address.
BROWSER = "browser "
BROWSER_LOOKUPS = _listed("""
    back capture crawl evaluate extract forward get go goto hover navigate observe open read refresh reload scrape
    screenshot scroll snapshot visit wait
""")
BROWSER_NAVIGATION = _listed("go goto navigate open visit")

# Words that report a good or a bad outcome.
GOOD_STATES = _listed("success succeeded successful completed complete done resolved passed ok solved finished closed")
BAD_STATES = _listed("""
    failure failed error aborted cancelled canceled timeout timed_out rejected unresolved crashed
""")

# Words in the output of any program that mean failure.
FAILURE_WORDS = _listed("""
    abort aborted aborting bug cannot can't corrupt couldn't crash crashed declined denied error errors exception fail
    failed fails failure failures fatal fault forbidden illegal invalid killed mismatch mismatched missing panic
    panicked refused rejected severe timeout unable unauthorised unauthorized undefined unexpected unhandled unknown
    unreachable unresolved unsupported
""")
FAILURE_PHRASES = (
    "could not",
    "does not",
    "not found",
    "not allowed",
    "not permitted",
    "no such",
    "timed out",
    "out of",
)

# Words of failure reports that do not say what failed.
REPORT_WORDS = _listed("""
    aborted aborting above been below build called check code command complete completed count detail details due
    elapsed exit exited failing finished following found generated had info last level log log4j ms occurred output
    passed previous problem problems process program recent report result returned run running script seconds sec
    session show skipped stack starts started status step suite suites summary task terminated test tests time took
    total trace traceback warn warning warnings
""")


# Functions that reduce texts and names to their informative words.

# Limits: characters of a term, characters read of a text, nesting depth, and entries read of a list.
_LONGEST_TERM = 24
_LONGEST_TEXT = 4000
_DEEPEST = 6
_MOST_ENTRIES = 50
# What replaces a masked part of a text: "<id>", "[token]".
_MASK = re.compile(r"<[a-z_]+>|\[[a-z ]+\]")


def identifies(name: str) -> bool:
    """Whether the name of an argument or field says that its values identify something.

    >>> [identifies(name) for name in ("order_id", "orderId", "flight_numbers", "amount", "is_paid")]
    [True, True, True, False, False]
    """
    last = BETWEEN_WORDS.split(name)[-1].lower().removesuffix("s")
    return last.endswith(_IDENTIFYING) and last not in _NOT_IDENTIFYING


def states_approval(name: str) -> bool:
    """Whether an argument of this *name* states a decision that only a person may make, such as an approval.

    The identifier of the person who decided counts ("approver_id"); that of the approval does not ("approval_id"),
    because it shows that the approval was requested and recorded elsewhere.

    >>> [states_approval(name) for name in ("approved_by", "userConfirmed", "force", "approver_id", "waive_fee")]
    [True, True, True, True, True]
    >>> [states_approval(name) for name in ("approval_id", "confirmation_number", "workforce", "amount")]
    [False, False, False, False]
    """
    decided = _DECISION.search(_spaced(name)) is not None
    return decided and (not identifies(name) or names_approver(name))


def names_approver(name: str) -> bool:
    """Whether the values of an argument of this *name* are people who approved something.

    >>> names_approver("approved_by"), names_approver("--approver-id"), names_approver("sort_by")
    (True, True, False)
    """
    words = _spaced(name)
    return _DECISION.search(words) is not None and _DECIDER.search(words) is not None


def _spaced(name: str) -> str:
    return BETWEEN_WORDS.sub(" ", name).lower().strip()


def text_terms(text: str, limit: int) -> str:
    """The first *limit* distinct terms of *text*, separated by spaces, without secrets and numbers.

    >>> text_terms("Cancel my order 4711, the order for ann@example.com", 64)
    'cancel order email'
    """
    return " ".join(_distinct(_terms(text[:_LONGEST_TEXT]), limit))


def value_terms(value: Any, limit: int) -> str:
    """The first *limit* distinct terms of the texts and flags inside a JSON value, separated by spaces.

    >>> value_terms({"status": "delivered", "paid": True, "items": [{"name": "Desk Lamp"}]}, 64)
    'deliv paid=true desk lamp'
    """
    return " ".join(_distinct((term for text in _texts(value) for term in text), limit))


def informative_words(text: str) -> list[str]:
    """The informative words of *text*, in lower case.

    Polite words, stop words, single letters, words with digits and masked parts are omitted.

    >>> informative_words("Hi! I'd like to return the two skateboards of order <number>, please.")
    ['return', 'two', 'skateboards', 'order']
    """
    return [word for word in words(_MASK.sub(" ", text)) if word not in _POLITE_WORDS and _is_informative(word)]


def has_word(text: str, word: str) -> bool:
    """Whether *text* contains *word* as a whole word, case-sensitively.

    >>> has_word("assembled with megahit.", "megahit"), has_word("assembled with megahit", "hit")
    (True, False)
    """
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def _distinct(candidates: Iterable[str], limit: int) -> list[str]:
    distinct: dict[str, None] = {}
    for term in candidates:
        distinct[term] = None
        if len(distinct) == limit:
            break
    return list(distinct)


@lru_cache(maxsize=4096)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(
        term for term in terms(mask_secrets(text)) if 1 < len(term) <= _LONGEST_TERM and not any(map(str.isdigit, term))
    )


def _texts(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Yield the terms of each text inside *value*, and each flag as the one term "name=value"."""
    match value:
        case bool():
            yield (f"{name}={value}".lower(),)
        case str():
            yield _terms(value[:_LONGEST_TEXT])
        case Mapping() if depth < _DEEPEST:
            for key, part in value.items():
                yield from _texts(part, str(key)[:_LONGEST_TERM], depth + 1)
        case list() if depth < _DEEPEST:
            for part in value[:_MOST_ENTRIES]:
                yield from _texts(part, name, depth + 1)
        case _:
            return


@lru_cache(maxsize=50_000)
def _is_informative(word: str) -> bool:
    return bool(terms(word)) and len(word) > 1 and not any(map(str.isdigit, word))
