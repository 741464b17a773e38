"""The sentence patterns that state facts."""

import re
from typing import NamedTuple

from hmxgraph.extraction._entity_spans import CAPITALS
from hmxgraph.extraction.language import ABBREVIATIONS, one_of


class FactRule(NamedTuple):
    """A sentence form that states a fact. *pattern* is tried only on sentences with one of the words *cues*.

    Groups of the pattern: ``object`` or ``object2``; ``subject``, unmatched if it is the speaker; ``kin``, a subject
    that is a relative or friend ("my wife is vegan"); ``what`` or ``what2``, inserted for ``{what}`` in *predicate* and
    *template*. *template* is the text of the fact, with the placeholders ``{subject}``, ``{object}``, ``{what}`` and
    ``{a}``, which becomes "a" or "an".

    *single*: only one object holds at a time. *identifying*: a name, id or address of the speaker; if the speaker is
    unknown, only the name is kept. *deniable*: the fact can be denied ("not allergic to nuts"), and each item of a
    listed object is a fact of its own.

    *examples* are pairs of a sentence and a fact that it states ("the user" is the speaker); *counterexamples* are
    sentences in which no rule finds a fact.
    """

    predicate: str
    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    template: str
    confidence: float
    single: bool = False
    identifying: bool = False
    deniable: bool = False
    examples: tuple[tuple[str, str], ...] = ()
    counterexamples: tuple[str, ...] = ()


# Building blocks of the patterns: names, places, people, properties, roles, tools, changes, occupations, lists.

# A capitalised word, after an abbreviation if there is one: "St. Gallen".
_ABBREVIATED = rf"{one_of(*ABBREVIATIONS)}\."
_CAPITALISED = rf"(?:{_ABBREVIATED} )?(?!{_ABBREVIATED})[{CAPITALS}][\w'-]+"
# Lower-case words inside names: "Jan de Vries".
_PARTICLES = r"(?:(?:de|la|van|von|der|bin|al) )*"
# Up to four capitalised words, with particles.
_NAME = rf"{_CAPITALISED}(?: {_PARTICLES}{_CAPITALISED}){{0,3}}"
# Words after a number which show that it is not an amount of something.
_CONNECTIVES = "and|but|so|because|since|now|with|near|in|as|at"
# A number that belongs to the name before it ("Lindenweg 3"); neither a year nor an amount ("3 years").
_NUMBER = (
    r"(?: (?!(?:19|20)\d\d\b)\d{1,4}[A-Za-z]?"
    rf"(?=[,;!)]|\.?$|\. | (?:{_CONNECTIVES})\b))?"
)
# The name of a city, country or street ("Elm St. 5"), perhaps with a state, country or street after a comma ("Austin,
# Texas"), but without an addressee ("in Oslo, Tom, and my dog").
_PLACE = (
    rf"{_NAME}(?: St\.)?{_NUMBER}(?:, (?!ZIP|I'|(?:Dr|Mrs?|Ms|Prof)\.|[A-Z][\w'-]+, (?:and|but|so|my|our|I)\b)"
    rf"{_CAPITALISED}(?: {_PARTICLES}{_CAPITALISED}){{0,2}}{_NUMBER})?"
)
# The name of a company: "Johnson & Johnson", "AT&T", "Channel 4", "Booking.com".
_COMPANY = rf"{_NAME}(?: & {_NAME}|&\w+)*(?:\.[a-z]{{2,4}}\b)?{_NUMBER}"
# Adverbs between subject and verb, or between verb and object.
_NOW = r"(?:currently |now |still |actually |also |both )*"
# Kin (relatives, friends, colleagues, advisers and pets of the speaker) of whom there is one at a time.
_KIN_SINGLE = one_of(
    "wife", "husband", "spouse", "fianc[eé]e?", "girlfriend", "boyfriend", "partner", "mother", "father", "mom",
    "mum", "dad", "boss", "manager", "supervisor", "landlord", "accountant", "barber", "coach", "dentist", "doctor",
    "gp", "GP", "hairdresser", "lawyer", "mentor", "notary", "physiotherapist", "tax advis[eo]r", "therapist",
    "trainer", "tutor", "vet",
)  # fmt: skip
# Kin of whom there may be several.
_KIN_PLURAL = one_of(
    "son", "daughter", "brother", "sister", "child", "kid", "nephew", "niece", "cousin", "uncle", "aunt",
    "grandmother", "grandfather", "grandma", "grandpa", "friend", "best friend", "roommate", "neighbou?r",
    "colleague", "coworker", "co-worker", "teammate", "assistant", "dog", "cat", "puppy", "kitten", "horse",
    "parrot", "pet",
)  # fmt: skip
# Another person as the subject, by name or as kin of the speaker, at the start of a clause: "My friend Tom", "and my
# son".
_SOMEBODY = (
    rf"(?:^|[,;:] |\b(?:and|but|because|since|that) )"
    rf"(?:(?:[Mm]y (?:\w+ )?(?:{_KIN_SINGLE}|{_KIN_PLURAL}),? )?(?P<subject>{_NAME})"
    rf"|[Mm]y (?P<kin>{_KIN_SINGLE}|{_KIN_PLURAL})),?"
)
# Diets and conditions that limit what a person eats. Cues are compared with words, so each is a single word.
_DIET_CUES = (
    "vegetarian", "vegan", "pescatarian", "intolerant", "lactose-intolerant", "gluten-intolerant", "coeliac", "celiac",
    "diabetic",
)  # fmt: skip
# The same diets and conditions as a pattern.
_DIET = r"(?:vegetarian|vegan|pescatarian|(?:lactose|gluten)[- ]intolerant|co?eliac|diabetic)"
# Ids and addresses of a person.
_IDENTIFIERS = one_of(
    "user ?id", "user ?name", "(?:account|customer|employee|member|membership|loyalty) (?:id|number)",
    "e-?mail(?: address)?", "phone(?: number)?", "mobile number", "zip(?: ?code)?", "postal code", "id",
)  # fmt: skip
# A number after an identifier that is not part of it: one or two digits before a word ("4711 2 weeks ago"), or part of
# a time or ratio ("24/7").
_AMOUNT = (
    r"(?<=\d{4}) \d{1,2}(?:[:/]\d{1,2}\b(?! ?\d)"
    rf"|(?:[.,]\d+)?(?= ?[a-z]{{2}})(?! (?:{_CONNECTIVES}|ext)\b))"
)
# An id or address, matched whole or not at all: an e-mail address, a handle, or groups with digits ("+49 151 111 00").
# What stands between two groups can be matched in one way only; otherwise many groups would take exponential time.
_IDENTIFIER = (
    r"(?P<object>[\w.+-]*@[\w.-]*\w"
    r"|#?\+?\(?(?=[\w.+-]*\d)(?:\w|[.+-](?=\w))+\)?"
    rf"(?:(?!{_AMOUNT})(?: ?/ ?| - ?|- | |(?<=\))-?)\(?\d(?:\d|[.-](?=\d))*\)?)*"
    rf"(?: (?:ext(?:ension|\.)?|x) ?\d+)?)(?![\w@/]|(?!{_AMOUNT})[ .(-]*\d| (?:ext|x) ?\d)"
)
# Properties of a project or a system. Each has one value at a time.
_PROPERTIES = (
    "deadline", "due date", "budget", "release date", "code freeze", "launch date", "owner", "port", "endpoint",
    "region", "database", "version", "hostname", "branch", "timezone", "time zone", "limit", "quota",
    "maintenance window", "rate", "fee", "price", "opening hours", "office hours", "business hours", "working hours",
    "warranty", "notice period", "discount", "threshold", "minimum order", "retention", "rent", "return window",
    "return period", "trial period", "grace period", "cancellation period", "delivery time", "lead time",
    "processing time", "response time", "time limit", "shelf life", "deposit", "surcharge", "capacity",
)  # fmt: skip
# Each cue is a single word: the first word of a property.
_PROPERTY_CUES = tuple(name.split(" ", 1)[0] for name in _PROPERTIES)
_NEW = r"(?:(?:new|current|latest|revised|updated) )?"
# A property with the words around it: "release date", "default branch", "deadline for the audit". Not "my time zone",
# which has a rule of its own.
_PROPERTY = (
    rf"(?P<subject>(?:(?!(?:my|your|his|her|their|that|says?|said)\b)[\w-]+ ){{0,4}}?"
    rf"(?:{'|'.join(_PROPERTIES)})(?: (?:for|of) (?:the )?[\w-]+(?: [\w-]+){{0,3}}?)?)"
)
# A value starts with a capital, digit, currency sign or quotation mark: "$1,800" in "$1,800, as agreed".
_VALUE = (
    r"(?P<object>[A-Z0-9$€£`\"](?:[^,;!?]|,(?=\d{3}\b)){0,60}?)"
    r"(?=,(?!\d{3}\b)|[;!?]|\.?$| (?:and|but|so|because|from|instead)\b)"
)
# A sum, share or weight, perhaps with what it is for: "5.90 EUR", "$12 per night", "15 %".
_SUM = (
    r"(?:[$€£]\s?\d[\d.,]*\b|\d[\d.,]*\s?(?:(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|euros?|dollars?|pounds?|francs?|cents?"
    r"|percent|kg)\b|[$€£%]))(?: (?:per|an?|each) (?:[a-z]+ )?[a-z]+)?"
)
# The predicates of prices.
PRICED = frozenset({"costs", "starts at"})
# The subject of a price, without a determiner that points at one thing: "standard shipping", "an extra bed".
_PRICED = (
    r"(?P<subject>(?!(?i:th\w*|my|your|wh\w+|since|because|as|if|but)\b)(?:[Oo]ur )?[A-Za-z][\w-]*"
    r"(?: (?!(?:the|my|your|his|her|their)\b)[\w-]+){0,4}?)"
)
# The day from which a statement holds: "from 1 November".
_FROM_DAY = rf"[Ff]rom (?:next |the )?(?:\d{{1,2}}(?:st|nd|rd|th)? )?[{CAPITALS}][a-z]+(?: \d{{1,2}})?"
# What comes before such a subject.
_PRICE_START = rf"(?:^|[,;:] |\band )(?:(?:And|Also,?|But|FYI,?) )?(?P<what>{_FROM_DAY},? )?"
# Things with a fixed time of day, as patterns and as cues.
_TIMED = (
    "check-?in", "check-?out", "pick-?up", "drop-?off", "breakfast", "lunch", "dinner", "stand-?up", "daily", "curfew",
    "quiet time", "cut-?off", "closing time", "opening time", "delivery cut-?off", "order deadline", "checkout time",
)  # fmt: skip
_TIMED_CUES = (
    "check-in", "checkin", "check-out", "checkout", "pick-up", "pickup", "drop-off", "breakfast", "lunch", "dinner",
    "stand-up", "standup", "daily", "curfew", "quiet", "cut-off", "cutoff", "closing", "opening", "delivery", "order",
)  # fmt: skip
# Last words of roles that only one person has at a time ("tech lead").
_ROLE_HEADS = (
    "engineer", "manager", "lead", "officer", "contact", "coordinator", "commander", "supervisor", "maintainer",
    "approver", "administrator", "admin", "deputy", "receptionist", "dispatcher", "secretary", "treasurer",
    "accountant", "advisor", "adviser", "architect", "auditor", "bank", "bookkeeper", "broker", "carrier", "caterer",
    "consultant", "courier", "designer", "electrician", "insurer", "landlord", "lawyer", "notary", "plumber",
    "provider", "recruiter", "supplier", "translator", "vendor", "ceo", "cfo", "coo", "cto", "CEO", "CFO", "COO", "CTO",
)  # fmt: skip
# Nationalities, which are capitalised but name no person.
_NATIONALITY = one_of(
    "American", "Australian", "Austrian", "Belgian", "Brazilian", "British", "Canadian", "Chinese", "Danish", "Dutch",
    "English", "European", "Finnish", "French", "German", "Greek", "Indian", "Irish", "Italian", "Japanese", "Korean",
    "Mexican", "Norwegian", "Polish", "Portuguese", "Russian", "Scottish", "Spanish", "Swedish", "Swiss", "Turkish",
)  # fmt: skip
# Capitalised words that name no person.
_NOT_A_NAME = one_of(
    "And", "But", "Everybody", "Everyone", "He", "Here", "If", "It", "Maybe", "Nobody", "Now", "Perhaps", "She",
    "Since", "So", "That", "There", "They", "This", "Today", "What", "When", "Whether", "Who", _NATIONALITY,
)  # fmt: skip
_PERSON = rf"(?!{_NOT_A_NAME}\b){_NAME}"
# A role with the words around it: "on-call engineer", "contact for billing".
_ROLE = (
    rf"(?P<subject>(?:[a-z-]+ ){{0,3}}?(?:{'|'.join(_ROLE_HEADS)})"
    r"(?: (?:for|of|at) (?:the )?[\w-]+(?: [\w-]+){0,2}?)?)"
)
# A tool: a word in lower or upper case ("helm", "Argo CD"), but none of the words for something else that one can
# deploy with ("care", "us").
_TOOL = (
    r"(?!(?:care|caution|confidence|ease|pride|approval|permission|downtime|us|them|it|him|her|you|people|users|others"
    r"|customers|partners|friends|colleagues|everything|nothing|something)\b)[A-Za-z][\w.+#-]*\w(?: [A-Z][\w.-]*)?"
)
# Verbs of change: "the deadline moved".
_CHANGED = one_of(
    "move[sd]", "slip(?:s|ped)", "change[sd]", "switched", "shift(?:s|ed)", "postponed", "delayed", "deferred",
    "extended", "pushed", "brought", "raised", "rises", "rose", "lowered", "cut", "reduced", "increase[sd]",
    "decrease[sd]", "drop(?:s|ped)", "falls", "fell", "bumped", "grew", "shrank", "updated", "upgraded",
    "rescheduled", "reset", "set", "renamed", "adjusted", "goes", "went", "doubled", "halved",
)  # fmt: skip
# Adverbs before a verb of change.
_RECENTLY = r"(?: just| now| already| recently| since| again)*"
# What comes between a verb of change and the new value: " back from May to".
_TO = r"(?: back| forward| out| up| down| over| again| now)*(?: from [^,;!?]{1,40}?)? (?:to|until|till)"
_OCCUPATION = one_of(
    "accountant", "actor", "actress", "architect", "artist", "astronomer", "attorney", "author", "baker", "barista",
    "biologist", "carpenter", "chef", "chemist", "coach", "composer", "consultant", "counsell?or", "dancer",
    "data scientist", "dentist", "designer", "developer", "director", "doctor", "economist", "editor",
    "electrician", "engineer", "farmer", "firefighter", "freelancer", "geologist", "journalist", "lawyer",
    "lecturer", "librarian", "manager", "mechanic", "musician", "novelist", "nurse", "nutritionist", "painter",
    "paramedic", "pharmacist", "photographer", "physician", "physicist", "pilot", "plumber", "police officer",
    "product owner", "professor", "programmer", "psychologist", "realtor", "researcher", "salesperson", "scientist",
    "secretary", "social worker", "software engineer", "student", "surgeon", "teacher", "therapist", "translator",
    "tutor", "vet", "veterinarian", "waiter", "waitress", "welder", "writer", "veteran", "volunteer",
    "entrepreneur", "analyst", "administrator", "technician", "trainer",
)  # fmt: skip
# An optional denial. "Not badly allergic" is a degree, not a denial, so only these adverbs may stand beside "not".
_ADVERB = r"(?:actually|really|in fact|still|definitely|certainly|just|luckily|fortunately)"
_NOT = rf"(?:(?:{_ADVERB} )?(?:not|no longer) (?:{_ADVERB} )?)?"
# Words that end a list: they start another clause, or are conjunctions.
_CLAUSE_STARTS = r"I|it|that|this|them|my|we|you|he|she|they|live|love|like|hate|have|am|can"
_CONJUNCTIONS = "so|but|which|because|since|when|if|though|not|rather|instead"
# An item of a list: "tree nuts".
ITEM = rf"(?!(?:{_CLAUSE_STARTS}|{_CONJUNCTIONS}|and|or)\b)[a-z]\w*(?:[ -](?!(?:{_CONJUNCTIONS}|and|or)\b)\w+){{0,3}}"
# The end of a list: punctuation, a conjunction or the start of another clause.
_ITEMS_END = rf"(?=[,.!;]|$| -| (?:{_CONJUNCTIONS})\b| and (?:{_CLAUSE_STARTS}|not)\b)"
# How many children, siblings or pets somebody has.
_COUNT = r"(?:\d{1,2}|one|two|three|four|five|six|seven|no)"


# Allergies and diets, of the speaker and of others; the speaker's marital status.

# A list of items: "cats, dogs and horses".
_ITEMS = rf"(?P<object>{ITEM}(?:(?:, {ITEM})*,? (?:and|or) {ITEM})?)"

_ALLERGY_DIET_STATUS_RULES: tuple[FactRule, ...] = (
    FactRule(
        "is allergic to",
        ("allergic",),
        re.compile(
            rf"(?<![\w'])I(?:'m| am) (?:{_NOT}|(?!not\b)\w+ )allergic to "
            rf"{_ITEMS}{_ITEMS_END}"
        ),
        "{subject} is allergic to {object}",
        0.9,
        deniable=True,
        examples=(
            ("I'm severely allergic to peanuts, so no nuts.", "the user is allergic to peanuts"),
            ("I'm allergic to cats, dogs and horses.", "the user is allergic to horses"),
            ("I am allergic to penicillin and my doctor knows it.", "the user is allergic to penicillin"),
            ("I'm allergic to tree nuts and live in Oslo.", "the user is allergic to tree nuts"),
            ("I am allergic to bees but I like honey.", "the user is allergic to bees"),
            ("I am not allergic to latex after all.", "the user is not allergic to latex"),
            ("I'm no longer allergic to nuts or milk", "the user is not allergic to milk"),
        ),
        counterexamples=(
            "I'm allergic to it",
            "I'm not badly allergic to bees",
            "I'm not allergic to anything",
            "I'm hardly allergic to bees",
            "I'm possibly allergic to bees",
        ),
    ),
    FactRule(
        "is allergic to",
        ("allergic",),
        re.compile(
            rf"{_SOMEBODY} is (?:{_NOT}|(?!not\b)\w+ )allergic to "
            rf"{_ITEMS}{_ITEMS_END}"
        ),
        "{subject} is allergic to {object}",
        0.9,
        deniable=True,
        examples=(
            ("Tom is severely allergic to hazelnuts, he carries a pen.", "Tom is allergic to hazelnuts"),
            ("My husband Tom is allergic to nuts and latex.", "Tom is allergic to latex"),
            ("Remember that my son is not allergic to peanuts.", "the user's son is not allergic to peanuts"),
        ),
        counterexamples=(
            "Nobody is allergic to nuts",
            "She is allergic to nuts",
            "Is Tom allergic to nuts?",
            "Tom thinks Ann is allergic to nuts",
            "Ann might be allergic to nuts",
        ),
    ),
    FactRule(
        "is",
        _DIET_CUES,
        re.compile(
            rf"{_SOMEBODY} is {_NOW}{_NOT}(?P<object>(?:an? )?(?:strict )?{_DIET})(?=[,.;!]|$| (?:and|but|so|now)\b)"
        ),
        "{subject} is {object}",
        0.85,
        deniable=True,
        examples=(
            ("Marlene is coeliac.", "Marlene is coeliac"),
            ("Careful, my wife is a vegan now.", "the user's wife is a vegan"),
        ),
        counterexamples=("The soup is vegan", "This is vegan", "Tom is almost vegan", "Is Ann vegan?"),
    ),
    FactRule(
        "is",
        _DIET_CUES,
        re.compile(
            rf"(?<![\w'])I(?:'ve| have) (?:always )?been (?P<object>(?:an? )?(?:strict )?{_DIET})"
            r"(?=[.!]|$| (?:since|for|all my life)\b)"
        ),
        "{subject} is {object}",
        0.8,
        deniable=True,
        examples=(("I've been vegetarian since university.", "the user is vegetarian"),),
        counterexamples=("I have been vegan before", "I'd been vegan for years", "I've not been vegan for years"),
    ),
    FactRule(
        "is",
        (*_DIET_CUES, "married", "divorced", "engaged", "single"),
        re.compile(
            rf"(?<![\w'])I(?:'m| am) {_NOW}{_NOT}"
            rf"(?P<object>(?:an? )?(?:strict )?"
            rf"(?:{_DIET}|married|divorced|engaged|single (?:parent|mother|mom|father|dad)))\b"
            r"(?! to (?:the|my|it))"
        ),
        "{subject} is {object}",
        0.85,
        deniable=True,
        examples=(
            ("I'm a vegetarian.", "the user is a vegetarian"),
            ("I'm no longer a vegetarian.", "the user is not a vegetarian"),
            ("I'm lactose-intolerant.", "the user is lactose-intolerant"),
            ("I'm a single mother of two.", "the user is a single mother"),
        ),
        counterexamples=("I'm engaged to the idea", "Are you married?", "I'm almost vegan", "I'm single file, too"),
    ),
)


# The table of all rules.

# What may follow a person's name.
_AFTER_NAME = (
    r"(?=[,.!?;:)]|$|'s\b| (?:is|was|has|had|who|said|told|gave|loves|likes|works|lives|just|will|now|since|again|from"
    r"|to|for|in|at|on)\b)"
)

FACT_RULES: tuple[FactRule, ...] = (
    FactRule(
        "name",
        ("name", "name's"),
        re.compile(rf"\b[Mm]y (?:full )?name(?:'s| is) (?P<object>{_NAME})"),
        "{subject}'s name is {object}",
        0.95,
        single=True,
        identifying=True,
        examples=(("Of course! My name is Yusuf Rossi, and my zip code is 19122.", "the user's name is Yusuf Rossi"),),
        counterexamples=("What's my name?", "my name is on the list"),
    ),
    FactRule(
        "{what}",
        ("my",),
        re.compile(
            rf"\bmy (?:new |current )?(?P<what>{_IDENTIFIERS})"
            rf"(?:'s| is|:| (?:has )?changed to)(?: now| still)?:? {_IDENTIFIER}",
            re.IGNORECASE,
        ),
        "{subject}'s {what} is {object}",
        0.95,
        single=True,
        identifying=True,
        examples=(
            ("Sure! My user ID is emma_kim_9957 and so on.", "the user's user ID is emma_kim_9957"),
            ("My phone number is 555-123-2002.", "the user's phone number is 555-123-2002"),
            ("My new phone number is +49 151 111 0000.", "the user's phone number is +49 151 111 0000"),
            ("My phone number is now (030) 123 4567, ok?!", "the user's phone number is (030) 123 4567"),
            ("My phone number has changed to 030/1234567", "the user's phone number is 030/1234567"),
            ("My phone: 030 / 12 34-56 ext. 7 and a fax.", "the user's phone is 030 / 12 34-56 ext. 7"),
            ("My email address is ann.b+x@mail.example.org.", "the user's email address is ann.b+x@mail.example.org"),
            ("My customer number is 12 34 56!", "the user's customer number is 12 34 56"),
            ("My phone number is +49 (0)30 - 1234 56 and so on.", "the user's phone number is +49 (0)30 - 1234 56"),
            ("My phone number is 0471 23 45 67 by the way.", "the user's phone number is 0471 23 45 67"),
            ("My phone number is 0301234567 24/7.", "the user's phone number is 0301234567"),
            ("My phone number is 555-1234 10 am to 5 pm.", "the user's phone number is 555-1234"),
            ("My customer number is 4711 2 weeks ago", "the user's customer number is 4711"),
        ),
        counterexamples=(
            "My email is not working",
            "My phone is broken",
            "my zip code is missing",
            "My old phone number is 030 1234567",
            "My phone number is 030/CALL-ME",
        ),
    ),
    FactRule(
        "lives in",
        ("live", "living", "based", "located", "moved", "relocated"),
        re.compile(
            rf"(?<![\w'])I(?: {_NOW}live|(?: am|'m) {_NOW}(?:living|based|located)) (?:in|near) (?P<object>{_PLACE})"
            r"|(?<![\w'])I(?: have|'ve)?(?: just| recently| finally)* (?:moved|relocated) (?:back |over )?"
            rf"to (?P<object2>{_PLACE})"
        ),
        "{subject} lives in {object}",
        0.85,
        single=True,
        examples=(
            ("I live in Denver, CO 80239.", "the user lives in Denver, CO"),
            ("I've just moved to New York!", "the user lives in New York"),
            ("I live in Oslo, Tom, and my dog is Rex.", "the user lives in Oslo"),
            ("I live in Austin, Texas and love it.", "the user lives in Austin, Texas"),
            ("I live in St. Gallen.", "the user lives in St. Gallen"),
            ("I live in Elm St. 5, Springfield.", "the user lives in Elm St. 5, Springfield"),
            ("I live in Halle, Lindenweg 3.", "the user lives in Halle, Lindenweg 3"),
            ("I live in Building 7 near the park", "the user lives in Building 7"),
            ("I live in Bad Öynhausen", "the user lives in Bad Öynhausen"),
            ("I moved to Berlin 3 years ago.", "the user lives in Berlin"),
            ("I moved to Berlin 2019.", "the user lives in Berlin"),
        ),
        counterexamples=(
            "I moved to the next option",
            "I live in a small flat",
            "If I lived in Paris",
            "I used to live in Rome",
        ),
    ),
    FactRule(
        "comes from",
        ("from", "country", "hometown", "town"),
        re.compile(
            rf"(?<![\w'])I(?:'m| am) (?:originally )?from (?P<object>{_PLACE})"
            rf"|\b[Mm]y (?:home ?(?:country|town)|native country),? (?:is )?(?P<object2>{_PLACE})"
        ),
        "{subject} comes from {object}",
        0.85,
        single=True,
        examples=(
            ("I'm originally from Brazil.", "the user comes from Brazil"),
            ("in my home country, Sweden", "the user comes from Sweden"),
        ),
        counterexamples=("I'm from the support team", "I am from May on leave"),
    ),
    FactRule(
        "works for",
        ("work", "working", "employed"),
        re.compile(
            rf"(?<![\w'])I(?: {_NOW}work|(?: am|'m) {_NOW}(?:working|employed)) (?:at|for|with) (?P<object>{_COMPANY})"
        ),
        "{subject} works for {object}",
        0.8,
        single=True,
        examples=(
            ("I work at Contoso as a nurse.", "the user works for Contoso"),
            ("I work at Contoso 40 hours a week.", "the user works for Contoso"),
            ("I work for AT&T.", "the user works for AT&T"),
            ("I'm working for Johnson & Johnson now", "the user works for Johnson & Johnson"),
            ("I work at Channel 4 as a nurse.", "the user works for Channel 4"),
            ("I work for Dr. Okafor.", "the user works for Dr. Okafor"),
        ),
        counterexamples=("I work for a bank", "I work at home"),
    ),
    FactRule(
        "works as",
        ("i'm", "am", "work", "working"),
        re.compile(
            rf"(?<![\w'])I(?:'m| am) {_NOW}an? "
            rf"(?P<object>(?:(?!bit|huge|big|great|good|bad|better|terrible|fan|the\b)[\w-]+ ){{0,2}}{_OCCUPATION})"
            r"(?=[,.!;]|$| (?:at|in|for|from|by|and|with|who|now)\b)"
            rf"|(?<![\w'])I(?:'m| am)? {_NOW}work(?:ing)? as an? (?P<object2>[a-z][\w-]*(?: [a-z][\w-]*){{0,2}}?)"
            r"(?=[,.!;]|$| (?:at|in|for|from|and|with)\b)"
        ),
        "{subject} works as {a} {object}",
        0.75,
        examples=(
            ("I'm a software engineer at a bank.", "the user works as a software engineer"),
            ("I work as an interpreter.", "the user works as an interpreter"),
        ),
        counterexamples=("I'm a big fan", "I'm a bit tired", "I am a Gold member", "I'm a doctor's patient"),
    ),
    FactRule(
        "{what}",
        ("my",),
        re.compile(
            rf"\b[Mm]y (?:\w+ )?(?P<what>{_KIN_SINGLE})"
            r"(?:'s name is|(?:,? (?:is )?(?:called|named))|,(?= [A-Z][\w ]*,)| is)?"
            rf" (?P<object>{_NAME}){_AFTER_NAME}"
        ),
        "{subject}'s {what} is {object}",
        0.8,
        single=True,
        examples=(
            ("My wife, Anna, loves it.", "the user's wife is Anna"),
            ("my boss Maria said no", "the user's boss is Maria"),
            ("My boss is Dr. Weber.", "the user's boss is Dr. Weber"),
            ("My manager is Ulrike Behrens now.", "the user's manager is Ulrike Behrens"),
            ("My new dentist is Dr. Lee.", "the user's dentist is Dr. Lee"),
        ),
        counterexamples=("my partner is happy", "My mom and I", "my dad I think"),
    ),
    FactRule(
        "{what}",
        ("my", "called", "named"),
        re.compile(
            rf"\b[Mm]y (?:\w+ )?(?P<what>{_KIN_PLURAL})"
            r"(?:'s name is|(?:,? (?:is )?(?:called|named))|,(?= [A-Z][\w ]*,))?"
            rf" (?P<object>{_NAME}){_AFTER_NAME}"
            rf"|\b(?:I|[Ww]e) (?:have|got|adopted) (?:an?|one|my|this|two) (?:[\w-]+ ){{0,3}}?"
            rf"(?P<what2>{_KIN_PLURAL})s? (?:called|named) (?P<object2>{_NAME})"
        ),
        "{subject}'s {what} is {object}",
        0.8,
        examples=(
            ("My friend Sarah is coming.", "the user's friend is Sarah"),
            ("I have a little dog named Toby.", "the user's dog is Toby"),
            ("We have a cat called Miso.", "the user's cat is Miso"),
        ),
        counterexamples=("my friend is late", "my dog loves Frisbee", "My sister and I"),
    ),
    *_ALLERGY_DIET_STATUS_RULES,
    FactRule(
        "birthday",
        ("birthday",),
        re.compile(
            r"\b[Mm]y birthday(?:'s| is) (?:on )?(?:the )?(?P<object>"
            r"(?:[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?|\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+)(?:,? \d{4})?)"
        ),
        "{subject}'s birthday is {object}",
        0.9,
        single=True,
        examples=(("My birthday is on March 5th.", "the user's birthday is March 5th"),),
        counterexamples=("My birthday is tomorrow",),
    ),
    FactRule(
        "has",
        ("have", "i've"),
        re.compile(
            rf"(?<![\w'])I(?: have|'ve got) (?P<object>{_COUNT} (?:\w+ )?"
            r"(?:kids?|child(?:ren)?|sons?|daughters?|dogs?|cats?|pets?|siblings?|brothers?|sisters?))\b"
            r"(?!'| (?:in my|of (?:my|the)|left|on))"
        ),
        "{subject} has {object}",
        0.8,
        examples=(("I have two younger brothers and a cat.", "the user has two younger brothers"),),
        counterexamples=("I have two kids' tickets left", "I have one question"),
    ),
    FactRule(
        "favourite {what}",
        ("favorite", "favourite"),
        re.compile(
            r"\b[Mm]y (?:all[- ]time )?(?:favou?rite) (?P<what>[a-z][a-z-]*(?: [a-z][a-z-]*){0,2})"
            r" (?:is|are|was|has (?:always )?been) (?:definitely |still |always |actually |called |by far )*"
            rf"(?P<object>(?:{_ABBREVIATED} )?"
            r"(?!when|how|that|this|it|to\b|the (?:way|one|part|moment|time)|one\b|where|what|a\b|an\b|so\b"
            r"|not\b|just\b|seeing|being|you)[\w'\"](?:[^.!?;,]|\.(?=[a-z\d])|,(?=\d)){1,60}?)"
            r"(?=\.(?![a-z\d])|,(?!\d)|[!?;]|$| (?:because|'cause|since|but|and|so|by far|-) ?)"
        ),
        "{subject}'s favourite {what} is {object}",
        0.8,
        single=True,
        examples=(
            ("My favorite editor is Vim.", "the user's favourite editor is Vim"),
            ("My favourite framework is Node.js.", "the user's favourite framework is Node.js"),
            ("my favourite color is dark green, you know", "the user's favourite color is dark green"),
        ),
        counterexamples=("What is my favorite editor?", "my favorite part is when we won", "my favorite is that one"),
    ),
    FactRule(
        "switched to",
        ("switched", "migrated", "upgraded"),
        re.compile(
            r"\b(?P<what>[Ww]e|[Oo]ur \w+|I)(?:'ve| have| has)?(?: just| recently| now| already| finally)* "
            r"(?:switched|migrated|upgraded)(?: over)?"
            r"(?: (?:the |our |everything )?(?:[\w-]+ ){0,3}?from [\w.+ -]{1,40}?)?"
            r" to (?P<object>[A-Z0-9v][\w.+#-]*(?: [A-Z0-9][\w.+-]*){0,3})"
        ),
        "{what} switched to {object}",
        0.75,
        examples=(("We've switched from Jenkins to GitHub Actions last week.", "We switched to GitHub Actions"),),
        counterexamples=("We switched to plan b", "switch to Postgres"),
    ),
    FactRule(
        "is",
        _PROPERTY_CUES,
        re.compile(
            rf"(?:^|[,;:] |\band )(?:[Tt]he|[Oo]ur) {_NEW}{_PROPERTY}"
            r"(?:(?: is| are|'s)(?: now| set to| on| at| currently){0,3}"
            rf"|(?: is| are| was| were| got|(?: has| have|'s)(?: been)?)?{_RECENTLY} {_CHANGED}{_TO})"
            rf" {_VALUE}"
        ),
        "the {subject} is {object}",
        0.75,
        single=True,
        examples=(
            ("The deadline for the audit is now Friday 12 June.", "the deadline for the audit is Friday 12 June"),
            ("Our default branch is `main`.", "the default branch is `main`"),
            ("The release date slipped to 20 June.", "the release date is 20 June"),
            ("The maintenance window has been moved from Sunday to Saturday", "the maintenance window is Saturday"),
            ("The new deadline is 5 May.", "the deadline is 5 May"),
            ("Our VAT rate is 19 %.", "the VAT rate is 19 %"),
            ("Check-in is easy and the cleaning fee is 65 euros.", "the cleaning fee is 65 euros"),
            ("Our office hours are 9 to 17.", "the office hours are 9 to 17"),
        ),
        counterexamples=(
            "The version is wrong",
            "What the limit is I forgot",
            "the port is open",
            "The deadline may be moved to Friday",
            "The deadline has not moved to Friday",
            "The budget was cut by $200",
        ),
    ),
    FactRule(
        "is",
        _PROPERTY_CUES,
        re.compile(
            rf"(?:^|[;:] )(?P<subject>(?i:{'|'.join(_PROPERTIES)}))(?: is|'s)(?: now| set to| currently){{0,2}}"
            rf" {_VALUE}"
        ),
        "the {subject} is {object}",
        0.7,
        single=True,
        examples=(
            ("They extended it: deadline is 10 April now, anywhere on earth.", "the deadline is 10 April"),
            ("Deadline is Friday 12 June.", "the deadline is Friday 12 June"),
        ),
        counterexamples=("Version is wrong", "The upload limit is gone", "Branch protection is Off"),
    ),
    FactRule(
        "is",
        _PROPERTY_CUES,
        re.compile(
            rf"(?:^|[,;:] )(?:[Ww]e|I|[Tt]hey)(?:'ve| have)?{_RECENTLY} {_CHANGED}(?: back| forward| out| up| down)?"
            rf" (?:the|our) {_NEW}{_PROPERTY}{_TO} {_VALUE}"
        ),
        "the {subject} is {object}",
        0.75,
        single=True,
        examples=(
            ("We raised the budget to $1,800.", "the budget is $1,800"),
            ("We've just pushed the launch date back from May to 9 June", "the launch date is 9 June"),
        ),
        counterexamples=(
            "We want to raise the budget to $800",
            "We raised the budget by $300",
            "We didn't cut the limit to 5",
        ),
    ),
    FactRule(
        "is",
        ("today", "now", "tomorrow", "yesterday"),
        re.compile(
            r"(?:^|[,;:] |\band )(?P<subject>(?:[Tt]he |[Oo]ur )?[A-Z][\w/-]*(?: [a-z-]+)?) is (?:now )?(?:at )?"
            r"(?P<object>\d+[.,]\d+)(?: (?:from|since|as of) (?:today|tomorrow|yesterday|now)(?: on)?| now)\b"
        ),
        "{subject} is {object}",
        0.7,
        single=True,
        examples=(("CHF is 1.07 from today.", "CHF is 1.07"), ("The EUR rate is 1.16 now", "the EUR rate is 1.16")),
        counterexamples=("CHF is 1.07 or so.", "It is 10.30 now.", "Ann is 33 now."),
    ),
    FactRule(
        "costs",
        ("costs", "cost"),
        re.compile(rf"{_PRICE_START}{_PRICED} (?:now |still |only )?costs? (?:now |only )?(?P<object>{_SUM})"),
        "{what}{subject} costs {object}",
        0.7,
        single=True,
        examples=(
            ("Standard shipping costs 5.90 EUR.", "Standard shipping costs 5.90 EUR"),
            ("And TENT-2P costs 199 EUR from today, it was 189.", "TENT-2P costs 199 EUR"),
            ("An extra bed costs $15 per night", "An extra bed costs $15 per night"),
        ),
        counterexamples=(
            "The room costs 90 euros.",
            "It costs 5 EUR.",
            "Does shipping cost 5 EUR?",
            "While your hose costs 96 EUR, this one is free.",
            "Shipping of the parcel costs 5 EUR.",
            "It cost me 5 EUR",
            "Shipping cost us 5 EUR.",
        ),
    ),
    FactRule(
        "starts at",
        ("starts", "begins"),
        re.compile(
            rf"{_PRICE_START}{_PRICED} (?:now |still |only )?(?:starts|begins) (?:at|from|with) (?P<object>{_SUM})"
        ),
        "{what}{subject} starts at {object}",
        0.7,
        single=True,
        examples=(
            ("For your FAQ answers: free shipping starts at 60 EUR.", "free shipping starts at 60 EUR"),
            (
                "From 1 November free shipping starts at 75 EUR, no longer at 60.",
                "From 1 November free shipping starts at 75 EUR",
            ),
        ),
        counterexamples=("The auction starts at 60 EUR.", "The match starts at 8.", "It starts at 60 EUR."),
    ),
    FactRule(
        "is",
        _TIMED_CUES,
        re.compile(
            r"(?:^|[,;:] |\band )(?P<subject>(?:[Oo]ur )?(?i:(?:early |late |last |self )?"
            rf"(?:{'|'.join(_TIMED)}))(?: (?:at|in|for) (?:the )?(?:[A-Z][\w'-]+(?: [A-Z][\w'-]+)?|[a-z]+))?)"
            r"(?: is| are|'s)(?: now| only| always| currently){0,2}"
            r" (?P<object>(?:from |at |until |till |by |before |after |between )?\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?"
            r"(?:(?: to | and | until | ?- ?)\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?)?)"
            r"(?=[,.;!]|$| (?:at|in|on|for|and|but|every)\b)"
        ),
        "the {subject} is {object}",
        0.7,
        single=True,
        examples=(
            ("Check-in is from 16:00 at all houses.", "the check-in is from 16:00"),
            (
                "Correction: check-in at Torre Alta is only from 17:00, they clean.",
                "the check-in at Torre Alta is from 17:00",
            ),
            ("FYI, breakfast is 7:30 to 10 am.", "the breakfast is 7:30 to 10 am"),
        ),
        counterexamples=(
            "Is check-in from 16:00?",
            "My check-in is at 16:00",
            "Check-in is easy",
            "Breakfast is 12 euros",
        ),
    ),
    FactRule(
        "does not {what}",
        ("eat", "drink"),
        re.compile(
            # The denial is outside of the match, which is therefore a plain statement.
            r"(?:(?<=\bI don't )|(?<=\bI do not )|(?<=\bI never )|(?<=\bI can't )|(?<=\bI cannot ))(?P<what>eat|drink)"
            rf" (?!(?:much|out|that|this|it|any|enough|as|at|in|on|before|after|until|anymore)\b){_ITEMS}{_ITEMS_END}"
        ),
        "{subject} does not {what} {object}",
        0.8,
        examples=(
            ("I don't eat meat.", "the user does not eat meat"),
            ("I never drink coffee, only tea.", "the user does not drink coffee"),
            ("I can't eat gluten or nuts.", "the user does not eat gluten or nuts"),
        ),
        counterexamples=("I don't eat it", "I don't eat much", "Don't eat meat", "I don't eat before noon"),
    ),
    FactRule(
        "prefers",
        ("prefers",),
        re.compile(
            rf"(?:^|[,;:] )(?:[Oo]ur customer |[Tt]he customer )?(?P<subject>{_NAME}) (?:now |usually |always )?prefers"
            r" (?P<object>(?!it\b|that\b|this\b|them\b)[^.!?;,]{3,60}?)(?=[,.!;]|$| (?:and|but|so|because|since)\b)"
        ),
        "{subject} prefers {object}",
        0.75,
        examples=(
            ("Ms Weber prefers phone calls.", "Ms Weber prefers phone calls"),
            ("FYI, Tom prefers aisle seats, never the window.", "Tom prefers aisle seats"),
        ),
        counterexamples=("She prefers tea", "Who prefers tea?", "Tom said Ann prefers tea", "Tom prefers it"),
    ),
    FactRule(
        "time zone",
        ("zone", "timezone"),
        re.compile(
            r"\b[Mm]y (?:current |local |own |new )?time ?zone"
            r"(?:'s|:| is:?| (?:is set|has changed|changed)(?: from [\w+/:-]+)? to)(?: now| currently)?"
            r" (?P<object>[A-Z][\w+/:-]*\w(?: [A-Z+][\w/+:-]*){0,3})"
            r"|(?<![\w'])I(?:'m| am| live| work) (?:now |currently )?[io]n (?:the )?"
            r"(?P<object2>[A-Z][\w+/:-]*\w(?: [A-Z+][\w/+:-]*){0,3}) time ?zone"
        ),
        "{subject}'s time zone is {object}",
        0.85,
        single=True,
        examples=(
            ("My time zone is CET", "the user's time zone is CET"),
            ("my timezone is now Europe/Berlin.", "the user's time zone is Europe/Berlin"),
            ("By the way, my local time zone is UTC+2, not CET.", "the user's time zone is UTC+2"),
            ("My time zone: PST", "the user's time zone is PST"),
            ("My time zone has changed from CET to EST.", "the user's time zone is EST"),
            (
                "My time zone is Central European Time and I start at nine.",
                "the user's time zone is Central European Time",
            ),
            ("My current time zone is America/New_York!", "the user's time zone is America/New_York"),
            ("I'm in the JST time zone.", "the user's time zone is JST"),
            ("I work in the Pacific time zone now", "the user's time zone is Pacific"),
            ("Remember that my time zone is GMT +1.", "the user's time zone is GMT +1"),
        ),
        counterexamples=(
            "Is my time zone CET?",
            "My time zone is wrong in the app",
            "My time zone is three hours ahead",
            "If my time zone is CET, the call is at nine",
            "My time zone might be CET",
            "The customer says my time zone is CET",
            "I wish my time zone was CET",
            "My time zone is not CET",
            "I'm in the wrong time zone",
            "My time zone used to be CET",
        ),
    ),
    FactRule(
        "is",
        _ROLE_HEADS,
        re.compile(
            rf"(?:^|[,;:] |\band )(?:[Tt]he|[Oo]ur) {_NEW}{_ROLE}(?: is|'s|:)(?: now| currently| still)?"
            rf" (?P<object>{_PERSON})(?<!'s)(?:(?: now)?(?P<what>(?:, | \()[\w.+-]+@[\w.-]*\w\)?))?"
            r"(?=[,.!;)]|$| (?:and|but|now|again|since|from)\b)"
        ),
        "the {subject} is {object}{what}",
        0.75,
        single=True,
        examples=(
            ("The on-call engineer is Ada", "the on-call engineer is Ada"),
            ("Our new release manager is Carla Diaz.", "the release manager is Carla Diaz"),
            ("The incident commander is now Tom.", "the incident commander is Tom"),
            ("FYI, the contact for billing is Mira, call her first.", "the contact for billing is Mira"),
            ("Our tech lead is still Priya now.", "the tech lead is Priya"),
            ("Emergency numbers are on the wall, and the night supervisor is Joe.", "the night supervisor is Joe"),
            ("Please note: the approver of refunds is Denise", "the approver of refunds is Denise"),
            ("Our account manager: Jan de Vries", "the account manager is Jan de Vries"),
            ("Our accountant is Ms Okafor.", "the accountant is Ms Okafor"),
            ("Our supplier for cables is Nexans.", "the supplier for cables is Nexans"),
            (
                "In case you call: our contact at Acme is Piet de Boer, piet@acme.example.",
                "the contact at Acme is Piet de Boer, piet@acme.example",
            ),
        ),
        counterexamples=(
            "Is the on-call engineer Ada?",
            "The on-call engineer is on holiday",
            "The manager is German",
            "The release manager is Ada this week",
            "The lead is Ada's",
            "The release manager might be Ada",
            "I think the release manager is Ada",
            "A good manager is Ada",
            "If the on-call engineer is Ada, call her",
            "The release manager was Ada",
        ),
    ),
    FactRule(
        "is",
        _ROLE_HEADS,
        re.compile(
            rf"(?:^|[,;:] )(?P<object>{_PERSON}) is (?:now |currently |still )?(?:the|our) {_NEW}"
            rf"{_ROLE}(?=[,.!;)]|$| (?:and|but|now|again|since)\b)"
        ),
        "the {subject} is {object}",
        0.75,
        single=True,
        examples=(
            ("Ada is the on-call engineer.", "the on-call engineer is Ada"),
            ("Carla is now our release manager and Tom left.", "the release manager is Carla"),
            ("Note: Jan de Vries is our new contact for billing.", "the contact for billing is Jan de Vries"),
        ),
        counterexamples=(
            "Ada is a manager",
            "Is Ada the on-call engineer?",
            "She is the on-call engineer",
            "Ada is not the on-call engineer",
            "Ada is the engineer who left",
            "Ada is the release manager this week",
            "Maybe Ada is the release manager",
            "German is the lead language",
            "If Ada is the lead, ask her",
            "Tom says Ada is the lead",
        ),
    ),
    FactRule(
        "{what} with",
        ("deploy", "lint", "provision", "containerise", "containerize", "orchestrate"),
        re.compile(
            r"(?:^|[,;:] |\band )[Ww]e (?:now |currently |usually |always |still )?"
            r"(?P<what>deploy|lint|provision|containeri[sz]e|orchestrate) (?:it |everything |our \w+ )?"
            rf"(?:with|using|via) (?P<object>{_TOOL}(?: and {_TOOL})?)"
            r"(?=[.,;!]?$|[,;] | (?:now|currently|these days|since|because|but|so)\b)"
        ),
        "we {what} with {object}",
        0.75,
        single=True,
        examples=(
            ("We deploy with helm", "we deploy with helm"),
            ("We now deploy with Argo CD.", "we deploy with Argo CD"),
            ("Just so you know, we deploy our services using helm and argo.", "we deploy with helm and argo"),
            ("We lint with ruff, never with flake8.", "we lint with ruff"),
            ("We provision everything via Terraform now.", "we provision with Terraform"),
        ),
        counterexamples=(
            "We deploy with care",
            "We deploy with every merge",
            "Do we deploy with helm?",
            "If we deploy with helm, it fails",
            "We don't deploy with helm",
            "We deploy with minimal downtime",
            "They deploy with helm",
            "We should deploy with helm",
            "We deploy with users",
            "We deployed with helm",
        ),
    ),
    FactRule(
        "lives in",
        ("lives", "based", "moved"),
        re.compile(
            rf"(?:^|[,;:] )(?:[Mm]y (?:\w+ )?(?:{_KIN_SINGLE}|{_KIN_PLURAL}),? )?(?P<subject>{_NAME}),? "
            r"(?:now |currently |still )?(?:lives in|is based in"
            rf"|(?:has )?(?:just |recently )?moved (?:from {_NAME} )?to) (?P<object>{_PLACE})"
        ),
        "{subject} lives in {object}",
        0.8,
        single=True,
        examples=(
            ("Caroline lives in Boston now.", "Caroline lives in Boston"),
            ("My sister Mei moved from Delft to Groningen.", "Mei lives in Groningen"),
        ),
        counterexamples=("She lives in Boston", "The team moved to Teams"),
    ),
    FactRule(
        "works for",
        ("works",),
        re.compile(
            rf"(?:^|[,;:] )(?P<subject>{_NAME}) (?:now |currently |still )?works (?:at|for) (?P<object>{_COMPANY})"
        ),
        "{subject} works for {object}",
        0.8,
        single=True,
        examples=(("Ivan Smith works at Contoso.", "Ivan Smith works for Contoso"),),
        counterexamples=("It works for Mac users", "That works for Monday"),
    ),
)
# To save time, a text is searched for facts only if it contains one of CUES or PHRASES, or matches OWN_KIN_OR_ID. The
# words in _COMMON occur in too many texts to be CUES; PHRASES and OWN_KIN_OR_ID cover most of their uses. Some facts
# are missed: "I am now a nurse" contains neither a cue nor a phrase.
_COMMON = frozenset({"my", "from", "country", "town", "i'm", "am", "have", "i've", "called", "named", "name"})
CUES = frozenset(word for rule in FACT_RULES for word in rule.cues) - _COMMON
PHRASES = (
    "my name",
    "i'm from",
    "i am from",
    "originally from",
    "home country",
    "home town",
    "native country",
    "i'm a",
    "i am a",
    "i have",
    "i've got",
    " called ",
    " named ",
)
# The speaker's kin, ids and addresses: "my old friend", "my user id".
OWN_KIN_OR_ID = re.compile(rf"\bmy (?:[\w-]+ )?(?:{_KIN_SINGLE}|{_KIN_PLURAL}|{_IDENTIFIERS})", re.IGNORECASE)
