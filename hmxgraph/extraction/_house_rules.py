"""House rules: sentences that say how things are done or wanted, without the form of an instruction.

"We never deploy on Fridays", "Commit messages should be in English", "For invoices, use the new letterhead".
"""

import re
from typing import NamedTuple

from hmxgraph.extraction._directives import Directive, first_clause, is_momentary, points_at_hand, without_greeting
from hmxgraph.extraction.language import BASE_VERBS, one_of, pattern


class HouseRule(NamedTuple):
    """A form of house rules. *pattern* matches at the start of a sentence, after greetings such as "ok, please".

    Of the groups that the pattern has, ``verb`` must match a base verb, and neither the ``occasion`` nor the first
    clause of ``moment`` may refer to the moment ("it", "today", an id). *examples* are house rules of this form;
    *counterexamples* are sentences in which no form finds any.
    """

    pattern: re.Pattern[str]
    confidence: float
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...] = ()


# A plural without a determiner, which names a kind of thing: "commit messages".
_NOT_A_KIND = (
    r"\d|(?:the|th[ei]s|that|those|these|my|your|our|his|her|its|their|such|one|two|three|few|some|other|there|things"
    r"|always|sometimes|no|\w+ing|yes|thanks|as|unless|whereas|perhaps|us|guess|results|he|she|it|what|who|i|you|we)\b"
)
_KIND = (
    rf"(?!{_NOT_A_KIND})(?:[a-z-]+ ){{0,2}}?(?!(?:day|week|month|year|hour|minute|thing|time|detail|lot)s\b|always\b)"
    r"[a-z-]{2,}s(?<!ss)\b"
)
_WEEKDAYS = one_of("mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays", "weekends")
# A place of work: "in this repo".
_HERE = (
    r"(?:here|in (?:this|our|the) (?:repo(?:sitory)?|project|code ?base|team|company|workspace|monorepo|organi[sz]ation"
    r"|house|shop|office|department|codebase|product))"
)
# What people ask an assistant to leave out of its texts.
_STYLE = one_of(
    "emojis?", "bullet(?: point)?s?", "bullet points", "lists?", "tables", "headings", "headlines", "jargon",
    "small ?talk", "markdown", "exclamation marks?", "abbreviations", "slang", "filler(?: words)?", "disclaimers",
    "apologies", "preambles?", "code comments", "comments", "semicolons", "greetings", "sign-offs", "footnotes",
    "summar(?:y|ies)", "follow-up questions", "small print", "anglicisms", "passive voice",
)  # fmt: skip
# Kinds of papers and requests.
_WRITTEN = (
    r"(?!(?:the|our|my|your|his|her|their|th[ei]se|those)\b)(?:[a-z-]+ )?(?:alerts|applications|bills|claims|complaints"
    r"|dates|invoices|mails|emails|numbers|offers|prices|questions|quotes|receipts|reports|requests|tables|texts|tickets)"
)
# Verbs of perception and wish, which state no custom after "we don't".
_NOT_CUSTOM = one_of(
    "agree", "care", "find", "follow", "get", "have", "hear", "know", "like", "look", "mind", "need", "remember",
    "see", "seem", "think", "understand", "want", "wish",
)  # fmt: skip

HOUSE_RULES: tuple[HouseRule, ...] = (
    HouseRule(
        pattern(r"we (?:never|always) (?P<verb>[a-z-]+)\b(?P<moment>.*)"),
        0.75,
        ("We never deploy on Fridays.", "We always review migrations twice", "Ok, we always ask the customer first."),
        ("We never got the parcel.", "We always knew that", "Do we always deploy on Fridays?", "We never use it now."),
    ),
    HouseRule(
        pattern(rf"we (?:don't|do not|only) (?!{_NOT_CUSTOM}\b)(?P<verb>[a-z-]+) (?=\S+ \S)(?P<moment>.*)"),
        0.6,
        (
            "We don't ship to Norway.",
            "We only deploy on Tuesdays.",
            "We do not offer refunds on sale items.",
        ),
        ("We don't have the part.", "We don't ship that.", "We only want to help", "We don't use it in this case."),
    ),
    HouseRule(
        pattern(rf"{_HERE},? we (?:always |only |never )?(?P<verb>[a-z-]+) (?P<moment>\S.*)"),
        0.75,
        (
            "In this repo we use pnpm, not npm.",
            "In our team, we squash commits.",
            "Set up: in this repo we use pnpm, not npm.",
        ),
        ("In this repo we found a bug.", "In our house, we use it"),
    ),
    HouseRule(
        pattern(
            r"(?:please )?use (?!(?:the|my|your|an?|it|this|that|them)\b)(?P<moment>[\w.@/+-]+(?: [\w.@/+-]+){0,3})"
            rf"(?: instead of|,? not|,? rather than|,? never) [\w.@/ +-]{{1,40}}? {_HERE}\W*$"
        ),
        0.75,
        ("Use pnpm instead of npm here.", "Please use pytest, not unittest in this project."),
        ("Use the blue one instead of the red one here.", "Use it here."),
    ),
    HouseRule(
        pattern(
            r"(?:(?:please )?use|let's use|let us use) "
            rf"(?P<moment>{_KIND}(?: instead of|,? not|,? rather than) {_KIND})\W*$"
        ),
        0.6,
        ("Let's use tabs, not spaces.", "Please use feature flags instead of branches."),
        ("Use the tabs, not the spaces.", "Let's use your notes, not mine."),
    ),
    HouseRule(
        pattern(
            r"(?:let's|let us|we(?:'ll| will)?) (?:now )?use"
            r" (?!(?:the|my|your|an?|it|this|that|them)\b)[\w.@/+-]+(?: [\w.@/+-]+)?"
            r"(?: instead of|,? not|,? rather than) (?!(?:the|my|your|an?)\b)[\w.@/+-]+(?: [\w.@/+-]+)?,?"
            rf" (?:from now on|going forward|now|{_HERE})\b"
        ),
        0.75,
        ("Let's use Vitest instead of Jest from now on, Mara migrated everything.", "We now use Argo, not Helm, here."),
        ("Let's use PayPal instead of the card now.", "Let's use that instead of Jest from now on."),
    ),
    HouseRule(
        pattern(
            rf"{_KIND}(?: (?:to|for|from|of|with|about|in) (?:[\w'-]+ ){{0,2}}[\w'-]+)?"
            r" (?:should|must|need to|have to|are to) "
            r"(?:not |never |always |only )?(?:be (?!(?:fine|ready|okay|there|done|available|able|easy|good|enough"
            r"|possible|aware|here|back|nice|great|interesting|sure|worth)\b)"
            r"|(?:start|end|begin|stay|contain|include|use|follow|go|come|mention|carry|state|fit)\b)(?P<moment>.+)"
        ),
        0.6,
        (
            "Commit messages should be in English.",
            "Release notes should mention the ticket.",
            "Branch names must start with the ticket number.",
            "Also, refund mails should never be automatic.",
            "He is German, mails to German guests should be in German.",
        ),
        (
            "Things should be fine.",
            "The messages should be in English.",
            "Results should be there tomorrow.",
            "My orders should be in the list.",
            "Kids should be aware of that",
            "Should commit messages be in English?",
        ),
    ),
    HouseRule(
        pattern(
            r"(?:the|our) (?:[\w-]+ ){1,3}(?:must|has to|needs to|should) be (?P<moment>[a-z-]+ "
            r"(?:[a-z ]{0,30}?)\b(?:with|before|after|on|for|in|at) (?:every|each|any|all)\b.*)"
        ),
        0.7,
        ("The changelog must be updated with every release.", "Our docs site has to be rebuilt after each merge."),
        ("The changelog must be updated.", "The parcel should be here with all items today."),
    ),
    HouseRule(
        pattern(
            rf"(?:please )?keep (?P<moment>{_KIND} (?:below|under|above|over|short|small|out of|in|within|to|at"
            r"|separate|alphabetical|sorted)\b.*)"
        ),
        0.6,
        ("Keep functions below 40 lines.", "Please keep secrets out of logs."),
        ("Keep the functions below 40 lines.", "Keep things in mind.", "Keep me in the loop."),
    ),
    HouseRule(
        pattern(
            rf"(?:please,? )?no (?:more )?{_STYLE}(?:,? (?:and|or) (?:no )?{_STYLE})?"
            r"(?:,? please|,? thanks| at all)?\W*$"
        ),
        0.65,
        ("No bullet points please.", "No emojis, please!", "Please, no jargon."),
        ("No comments on the ticket yet.", "No problem.", "Are there no comments?"),
    ),
    HouseRule(
        pattern(
            rf"i (?:don't|do not|never) want (?:any |to see (?:any )?)?(?P<moment>(?:{_STYLE}|{_KIND})"
            rf" (?:in|on|with) (?:my |our |your |the )?{_KIND})\W*$"
        ),
        0.7,
        ("I don't want emojis in emails.", "I never want to see abbreviations in reports."),
        ("I don't want emojis.", "I don't want it in reports.", "I don't want mushrooms on this pizza."),
    ),
    HouseRule(
        pattern(
            rf"(?:when(?:ever)?|if|each time|every time) (?:you|we|i|{_KIND}) (?:[a-z-]+ (?:for |to |with )?{_KIND}"
            r"|(?:ask|call|complain|write|request|want|order|pay|cancel|report)\b)"
            r"(?P<occasion>[^,.;]{0,60}), (?P<moment>(?:please )?(?P<verb>[a-z-]+) \S.*)"
        ),
        0.65,
        (
            "When you book trains, take the quiet carriage.",
            "If customers ask for refunds, offer a voucher first.",
            "Whenever you write release notes, list the breaking changes first.",
        ),
        (
            "When you find the order, cancel it.",
            "If you see errors, tell me now.",
            "When we book trains, she complains.",
            "If it rains, take the bus.",
        ),
    ),
    HouseRule(
        pattern(
            r"(?:when(?:ever)?|if) (?P<occasion>[^,.;]{5,80}), (?P<moment>(?:please )?(?:always )?(?P<verb>[a-z-]+)"
            r" (?:[\w'-]+ ){1,6}first)\W*$"
        ),
        0.6,
        (
            "When the router at Villa Rosa is offline, check the hallway fuse first.",
            "If the queue grows, restart the worker first.",
        ),
        ("If it is offline, check the fuse first.", "When the router is offline, check it first."),
    ),
    HouseRule(
        pattern(
            rf"for {_KIND}(?: (?:over|above|under|below|to|from|at|in) [^,.;]{{1,30}})?,"
            r" (?P<moment>(?:please )?(?:always )?(?:add|ask|attach|avoid|book|call|check|choose|follow|include|offer"
            r"|prefer|require|run|send|take|use|write) \S.*)"
        ),
        0.65,
        (
            "For invoices, use the new letterhead.",
            "For orders above 500 euros, ask Nadia first.",
            "And for pool problems, call Aqua Service first, they have the contract.",
        ),
        (
            "For the invoice, use the new letterhead.",
            "For years, work was fun.",
            "For kids, it is free.",
            "For payments, please use my credit card.",
            "For shoes, take the same size.",
        ),
    ),
    HouseRule(
        pattern(
            rf"{_KIND} (?:happen|go out|go live|are (?:made|done|shipped|deployed|released|sent|paid|processed"
            rf"|delivered|allowed|accepted)) (?:(?:only )?on {_WEEKDAYS}|only)\b(?P<moment>.*)"
        ),
        0.65,
        ("Deploys happen on Tuesdays only.", "Invoices are paid only on Fridays."),
        ("The deploys happen on Tuesdays.", "Accidents happen."),
    ),
    HouseRule(
        pattern(
            r"(?:please )?(?:always )?sign (?:off )?"
            r"(?:(?:all |my |our |the )*(?:e-?mails|mails|letters|messages|replies) (?:off )?(?:with|as) \S"
            r"|(?:with|as) ['\"\u2018\u201c])"
        ),
        0.7,
        ("Please sign my mails with Lin.", "Sign all letters as The Team.", "And sign with 'Lin and the team'."),
        ("Sign the letter with Lin.", "I sign my mails with Lin.", "Sign with the blue pen."),
    ),
    HouseRule(
        pattern(
            rf"{_KIND}(?: (?:over|above|under|below|of|to|from|for|without|with) [^,.;]{{1,40}}?)?"
            r" (?:needs?|requires?) (?:(?:(?:[A-Z][\w'-]+|the|a|an|my|our|written|prior|[a-z]+'s?) ){0,3}"
            r"(?:approval|sign-?off|permission|consent|ok|okay|review|signature|four eyes))(?! \w+s\b)\b"
        ),
        0.75,
        (
            "Refunds over 200 euros need Nadia's approval.",
            "Schema changes require a review.",
            "Refunds above 200 euros need my approval.",
            "One more rule: refunds above 150 EUR need my OK first, no matter who asks.",
        ),
        ("The refund needs approval.", "Kids need permission slips from us", "Do refunds need approval?"),
    ),
    HouseRule(
        pattern(
            rf"{_KIND}(?: (?:over|above|under|below|of|to|from|for|without|with) [^,.;]{{1,40}}?)? (?:always|never)"
            r" (?:get|receive|go|come|contain|include|start|end|stay|remain|need|require|cost|pay|count|ship|expire)"
            r" (?P<moment>\S.*)"
        ),
        0.65,
        ("Gift card orders always get a voucher.", "Right, sale items never go back.", "Members always pay half."),
        ("The orders always get lost.", "Kids always get it.", "My parcels never come on time."),
    ),
    HouseRule(
        pattern(
            r"(?:[\w-]+ ){1,2}"
            r"(?:customers|guests|clients|patients|members|visitors|tenants|suppliers|partners|students)"
            r"(?: (?:over|above|under|below|of|to|from|for|without|with) [^,.;]{1,40}?)? (?:always )?(?:get|receive)"
            r" (?!(?:their|the|it|th[ei]m|very|so|too|really|more|less|angry|upset|confused|lost|annoyed|\d+)\b)"
            r"(?P<moment>\S.*)"
        ),
        0.6,
        ("German customers get German answers, with Sie, by the way.", "Gold members receive free returns."),
        ("Our guests get angry.", "New customers get their parcel late.", "Do new customers get a voucher?"),
    ),
    HouseRule(
        pattern(
            rf"{_KIND}(?: (?:[a-z]+ed|with|without|from|over|above|under|below|of) [^,.;]{{1,40}}?)? can (?:only )?be"
            r" (?:returned|cancelled|canceled|changed|exchanged|refunded|paid|booked|rebooked|used|redeemed|extended"
            r"|combined) (?P<moment>(?:for|within|until|up to|free|with|by|at|only|once|in) .*)"
        ),
        0.6,
        (
            "Orders placed from 23 to 30 November can be returned for 60 days instead of 30.",
            "Vouchers can only be redeemed within a year.",
        ),
        ("The orders can be returned for 60 days.", "Orders can be returned.", "Can orders be returned for 60 days?"),
    ),
    HouseRule(
        pattern(
            r"(?:please )?(?:do not|don't) (?P<verb>[a-z-]+) (?P<occasion>[^,.;]{3,60}?) without"
            r" (?:(?:asking|telling|checking with|talking to) (?:me|us|[a-z][\w-]+)"
            r"|(?:my|our|[a-z][\w-]+'s) (?:ok|okay|approval|permission|consent))\b"
        ),
        0.75,
        ("Don't restart anything in production without asking me first.", "Do not ship samples without Nadia's OK."),
        ("Don't delete it without asking me.", "I don't ship samples without asking me.", "Don't go without me."),
    ),
    HouseRule(
        pattern(
            r"(?:(?:(?:from|until|till|between|during|over) [^,;:]{3,40}?,? )?nothing"
            r" (?:goes|ships|gets|leaves|may|must|is (?:deployed|merged|released|sent|shipped|changed))"
            r" (?!it\b|today\b).*\b(?:except|without|unless|before|until|after)\b"
            r"|(?:from|until|till|between|during|over) [^,;:]{3,40}?,? (?:nothing|nobody|no one)"
            r" (?:goes|ships|leaves|changes?|touches|edits|deploys|merges|releases|may|must)\b)"
        ),
        0.7,
        (
            "From 20 November to 1 December nothing goes to production, except hotfixes that I have approved.",
            "Feature freeze: until May nothing ships without my approval.",
            "Between 1 and 10 of each month nobody changes the finance models, because of the closing.",
        ),
        ("Nothing is better than a good night, except coffee.", "Nothing goes right."),
    ),
    HouseRule(
        pattern(
            r"(?:[a-z-]+ )?(?:messages|titles|names|subjects|subject lines|mails|emails|reports|commits|tickets|notes"
            r"|letters|replies|invoices|comments|branches|filenames) (?:always |must )?(?:start|begin|end)s? with"
            r" (?P<moment>\S.*)"
        ),
        0.65,
        (
            "But commit messages start with the ticket please, like 'SHOP-412: round once'.",
            "Branch names end with the ticket number.",
        ),
        ("The reports start with it.", "Our commits start with the ticket?", "The commit messages start with a typo."),
    ),
    HouseRule(
        pattern(
            rf"{_KIND} are (?:only|never) (?:[a-z]+ed|sent|made|shown|given|built|sold|paid|put|kept)"
            r" (?:after|before|by|if|on|once|to|when|with|without) \S"
        ),
        0.65,
        (
            "Dashboards are only published after Felix or I have reviewed them.",
            "Invoices are never sent on Fridays.",
        ),
        ("The dashboards are only published by Ann.", "Parcels are never opened here.", "Kids are only annoyed by it?"),
    ),
    HouseRule(
        pattern(
            r"(?:if|when(?:ever)?) (?!i\b|you\b|we\b)(?P<occasion>[\w. -]{2,60}? (?:fails?|breaks?|crash(?:es)?"
            r"|(?:is|goes) down|times out|stops|runs dry)\b[^,]{0,40}), (?:please )?(?:always )?"
            r"(?:call|tell|ask|ping|notify|page|warn|wake|mail) (?:me|us|(?-i:[A-Z])[\w-]+)\b"
        ),
        0.65,
        ("If orders_daily fails, call me.", "When the shop goes down, notify Ann, don't restart it."),
        ("If it fails, call me.", "If the build fails today, call me.", "If I fail, call me."),
    ),
    HouseRule(
        pattern(
            rf"{_WRITTEN}(?: (?:for|to|from|about|of) [^,.;:]{{2,30}})? always"
            r" (?:with|in|as|by|on) (?!it\b|that\b|them\b)\S"
        ),
        0.65,
        ("Reports for the tax office always with two decimals, please.", "Prices always in euros."),
        ("The reports always with that.", "He is always in the reports."),
    ),
    HouseRule(
        pattern(rf"{_WRITTEN}(?: (?:about|from|of|for|on) [^,.;:]{{2,30}})? (?:go|belong) to (?-i:[A-Z])\S"),
        0.65,
        ("Marketing questions go to Lena Ortiz, lena@kestrel.example.", "Questions about tax go to Priya."),
        ("Our kids go to Berlin.", "The invoices go to Ann."),
    ),
    HouseRule(
        pattern(r"no (?:more|longer) [\w -]{3,40}: (?P<moment>(?:please )?(?P<verb>[a-z-]+) \S.*)"),
        0.65,
        ("No more ticket prefix: write 'fix(cart): ...' and put the ticket in the footer.",),
        ("No more news: it is raining.", "No more milk: buy it."),
    ),
    HouseRule(
        pattern(
            r"if (?:only )?(?:one|an?|any|some|several) (?P<occasion>[a-z][^,.;]{2,60}? (?:comes?|arrives?|fails?"
            r"|breaks?|asks?|wants?|reports?|calls?|complains?|pays?|returns?|sends?|leaves?|misses|expires?|crash(?:es)?)\b"
            r"[^,.;]{0,40}), (?:please )?(?P<verb>[a-z-]+) [^;]{2,60}?\b(?:only|never|always|first|at least)\b"
        ),
        0.6,
        (
            "If one item comes back, refund that item only, and ask me when it is unclear.",
            "If a guest complains about noise, call the guard first.",
        ),
        ("If one comes back, refund it only.", "If a parcel arrives today, open it first."),
    ),
)

# Cheap prefilter: every house rule, in lower case, contains one of these.
SIGNS = re.compile(
    r"\bwe (?:never|always|only|don't|do not)\b|\bin (?:this|our|the) [\w ]{4,20},? we\b"
    r"|\buse \S.{0,160}(?:instead|not|never|rather)"
    r"|s (?:should|must|need|have to|are to|require)\b|\b(?:must|has to|needs to|should) be\b|\bkeep \w+s\b"
    r"|\bkeep (?:[a-z-]+ ){1,2}\w+s\b|\bno (?:more )?(?:"
    + _STYLE
    + r")\b|\bwant\b.{3,100}\b(?:in|on|with)\b|\b(?:when|whenever|if|time) [^,]{3,80}, |\bfor [^,.;]{3,60}, "
    r"|\bonly\b|\bon (?:"
    + _WEEKDAYS
    + r")\b|\bsign\b|\bneeds? (?:[\w'-]+ ){1,3}?(?:approval|sign-?off|permission|consent|ok)"
    r"|s (?:always|never|get|receive|start|begin|end)\b|\bcan (?:only )?be\b|\b(?:do not|don't) .{3,80} without\b"
    r"|\b(?:nothing|nobody|no one)\b|\bno (?:more|longer) |\bare (?:only|never) |\b(?:go|belong) to "
    r"|\balways (?:with|in|as|by|on) "
)
# In words: longer sentences tell a story.
_LONGEST = 30


def house_rule_in(sentence: str) -> Directive | None:
    """The house rule that *sentence* states, if any.

    >>> house_rule_in("Ok, we never deploy on Fridays.")
    Directive(text='We never deploy on Fridays.', confidence=0.75, hard=False)
    >>> house_rule_in("We never got the parcel."), house_rule_in("Do we never deploy on Fridays?")
    (None, None)
    """
    if sentence.endswith(("?", ":")) or not 2 <= sentence.count(" ") <= _LONGEST:
        return None
    core = without_greeting(sentence)
    return _rule(core) or (None if _CONDITION.match(core) else _rule(_second_clause(core)))


# The start of a sentence whose first clause is a condition, without which the second does not hold.
_CONDITION = pattern(r"(?:when|whenever|if|unless|once|until|after|before|while|as|since|because|for|in|on|at)\b")

# The first clause of a sentence, or a short label: "Set up: ".
_FIRST_CLAUSE = re.compile(r"[^:,]{1,16}: |[^,]*, ")


def _second_clause(sentence: str) -> str:
    """The second clause of *sentence*, as a sentence: "He is German, mails to Germans should be in German"."""
    clause = re.sub(r"^(?:so|and|but|then|also|therefore) ", "", _FIRST_CLAUSE.sub("", sentence, count=1))
    return clause[:1].upper() + clause[1:]


def _rule(sentence: str) -> Directive | None:
    """The rule of the first form that matches *sentence*."""
    for form in HOUSE_RULES:
        match = form.pattern.match(sentence)
        if match and _holds_beyond_moment(match.groupdict()):
            return Directive(sentence, form.confidence, hard=False)
    return None


def _holds_beyond_moment(groups: dict[str, str | None]) -> bool:
    """Whether the *groups* of a match speak of no single occasion, and a verb where one is due."""
    verb, moment, occasion = groups.get("verb"), groups.get("moment"), groups.get("occasion")
    if occasion and points_at_hand(occasion):
        return False
    return (verb is None or verb.lower() in BASE_VERBS) and not (moment and is_momentary(first_clause(moment)))
