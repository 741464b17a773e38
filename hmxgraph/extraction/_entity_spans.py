"""Find names in running text: sequences of capitalised words, and quoted titles."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hmxgraph.extraction._entity_forms import is_id
from hmxgraph.extraction.language import ABBREVIATIONS, BASE_VERBS, QUOTES, one_of, plain_signs
from hmxgraph.text.terms import STOP_WORDS

# Word lists: dates, labels, abbreviations, and sentence openers that are not names.

_OPENERS = """
    above absolutely according accordingly across actually add added adding additionally admittedly ago ah aha ahead
    alas albeit all almost along already alright also alternatively although altogether always amazing among another any
    anybody anyhow anyone anything anytime anyway anyways apart apologies apparently around asap aside ask assuming aw
    awesome aww bad based basically beautiful because become been before being believe below besides better beyond bless
    both briefly bring bro btw buddy bye call can cannot certainly check cheers choose clearly come congrats
    congratulations consequently consider considering contrary cool could crazy create currently cute damn dear
    definitely depending despite did directly does doing done dozens dude during each earlier early easy eek either else
    enjoy enough especially essentially even eventually ever every everybody everyone everything everywhere exactly
    excellent except excited exciting excuse fair fantastic feel few final finally find fine firstly folks following for
    former fortunately from fun funny furthermore fyi generally get getting give given giving glad go going gonna
    good-bye goodbye goodness gosh got gotcha gotta greetings guess guys ha haha hahaha hang happy hard has have having
    hear hearing hello help hence her here hers hey hi his hiya hmm honestly hooray hope hopefully how howdy however
    huge hundreds hurray hurry if imagine imho imo important impressive in incidentally including incredible indeed
    initially inside inspiring instead interesting interestingly into is it its join just keep kind kinda know last
    lastly late lately later latter least less let lets like likely likewise listen literally lol look looking looks
    lots love lovely lucky ma'am madam made mainly make man many may maybe me mean meanwhile might mine mm mmm more
    moreover most mostly much must my namely naturally near nearby nearly need neither never nevertheless next nice no
    nobody none nope nor normally not note nothing notice now nowadays obviously of off often oh ok okay omg on once
    once-in-a-lifetime one only onto oof oops open or originally other others otherwise ouch our out outside over
    overall own par pardon partially people per perfect perhaps personally phew playing please plus possibly presumably
    pretty previously primarily probably proud put quick quickly quite rather read reading ready really reasonably
    recently regarding regardless remember respectively right running sad same say see seeing seems seen send seriously
    several shall she should show similarly simply since sir sis slowly so sometime sometimes somewhat somewhere soon
    sorry sounds speaking specifically start started starting stay still stop strictly subsequently such suddenly
    supposedly sure surely surprisingly sweet take taking talk tbh team tell terrific than thank thankfully thanks that
    the their them then there thereafter therefore these they thing things think this those though thousands through
    throughout thus till to today together tomorrow tonight too totally toward towards truly trust try trying typically
    ugh um under undoubtedly unfortunately unless unlike until up update updated upon use using usually various very via
    wait wanna want was watching way we welcome well welp were what whatever when whenever where whereas wherever
    whether which whichever while who whoever whole whom whose why will wish with within without woah wonderful
    wonderfully woo woohoo working worry would wow yay yea yeah yep yes yesterday yet yippee you your yours yup
"""
# Words that open sentences without being names.
OPENERS = frozenset(_OPENERS.split()) | STOP_WORDS
# Words that are not names on their own, although names may begin with them: New York, Big Sur, Black Forest.
PLAIN = (
    frozenset(
        """
        best big black blue brown first four full gold good great green grey gray half high large little long
        low medium new orange pink purple red second silver small super ten third three two white yellow active
        available cancel cancelled canceled change click confirm confirmed connected connections delivered
        disabled download enabled exchange home inactive install locked login menu missing modify open pending
        preferred press processed remove reset return save search select settings shipped submit tap toggle turn
        upgrade upload view yours business economy standard basic regular premium default combined remaining
        """.split()  # noqa: SIM905 - as above
    )
    | OPENERS
)
# Words capitalised by convention, even in the middle of a sentence, without being names.
_NEVER_NAMES = frozenset(
    """
    i i'm i'd i'll i've ok okay lol omg btw fyi asap imo imho tbh aka am pm tv id ids eta faq etc na n/a tba tbd
    pdf url urls usd eur gbp utc gmt est pst edt pdt cet json xml html css yaml csv api apis sql http https ui
    ux os cpu gpu ram gb mb kb tb zip todo fixme note warning error info debug true false none null yes no mr
    mrs ms miss dr sir madam god inc llc ltd corp co plc gmbh jr sr christmas easter thanksgiving halloween
    hanukkah ramadan diwali xmas pto wifi sms
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# Days, months and other words for times.
DATES = frozenset(
    """
    january february march april may june july august september october november december jan feb mar apr jun
    jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu
    thur thurs fri sat sun mondays tuesdays wednesdays thursdays fridays saturdays sundays today tomorrow
    yesterday spring summer autumn fall winter bc ad bce ce
    """.split()  # noqa: SIM905 - as above
)
# "Option 2", "Step 3": references within a text, not names.
_NUMBERED = frozenset(
    """
    account address answer apartment appendix apt article booking bookings brand bullet case chapter choice code
    column customer date day details email entry example exercise fig figure flight flights floor gate grade
    group hour id ids invoice item items iteration lesson level line list method minute model month name no note
    number option order orders page paragraph part payment phase phone pnr point price priority problem product
    quantity question reason refund reservation reservations result room round row rule scenario seat section
    sentence session size slide solution stage status step suite table task test ticket time tip total track
    turn type unit user version volume week year zip
    """.split()  # noqa: SIM905 - as above
)
# Offices and professions, which may precede a name: "Senator Barnaby Joyce", "Supreme Leader Kim Jong-il".
_OFFICES = frozenset(
    """
    actor actress admiral ambassador archbishop architect artist astronaut attorney author baron bishop captain
    cardinal chairman chairwoman chancellor chief coach colonel commander composer comedian congressman
    congresswoman councillor count countess designer director doctor duchess duke earl editor emperor empress
    engineer father founder general governor guitarist inspector journalist judge justice king lady leader
    lieutenant lord major manager mayor minister musician novelist officer painter philosopher physicist pianist
    poet pope premier president prince princess producer professor prosecutor queen rabbi rapper representative
    reverend saint scientist secretary senator sergeant sheriff sir singer sister songwriter speaker sultan
    treasurer writer
    """.split()  # noqa: SIM905 - as above
)
# Titles that show that a person's name follows: "Mrs Dalloway".
_HONORIFICS = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "sir", "dame", "lady", "rev"})
# Demonyms: capitalised and common, names only as part of longer names.
_DEMONYMS = frozenset(
    """
    african american arab argentine argentinian asian australian austrian belgian brazilian british bulgarian
    canadian chilean chinese colombian croatian cuban czech danish dutch egyptian english ethiopian european
    filipino finnish french georgian german greek hindu hungarian icelandic indian indonesian iranian iraqi
    irish israeli italian jamaican japanese jewish kenyan korean latin lebanese malaysian mexican moroccan
    muslim christian nepalese nigerian norwegian pakistani persian peruvian polish portuguese romanian roman
    russian scottish serbian slovak soviet spanish swedish swiss syrian taiwanese thai turkish ukrainian
    vietnamese welsh western eastern northern southern catholic protestant islamic buddhist americans europeans
    germans russians italians indians
    """.split()  # noqa: SIM905 - as above
)


# Names are runs of capitalised words, which may contain small words ("University of Vienna"), and quoted titles.
#
# A capital at the start of a sentence proves nothing. Common openers ("However") are removed there. A single word that
# opens a sentence counts as a name in three cases: it is spelt like one ("GitHub"), the text uses it as a name
# elsewhere, or the text is prose about the subject of a title.

# The capital letters of Latin, Greek and Cyrillic, for use in a character class.
CAPITALS = "A-Z" + "".join(chr(code) for code in range(0xC0, 0x530) if chr(code).isupper())
# One word of a name: initials ("U.S.", "J."), a title with its full stop ("Dr."), or a capitalised word ("O'Neal").
# No group is repeated possessively: Python before 3.11.5 mishandles that (CPython issue 106052).
_CAPITALISED = (
    rf"(?:(?:[{CAPITALS}]\.){{2,}}|[{CAPITALS}]\.(?=\ [{CAPITALS}])|{one_of(*ABBREVIATIONS)}\.(?=\ )"
    rf"|[{CAPITALS}]\w*+(?:['.&-]\w++)*)"
)
# Small words inside names: "University of Vienna".
_SMALL = (
    "of\\ the|of|and\\ the|and|the|de\\ la|de\\ los|de|del|della|di|da|du|des|la|le|van\\ der|van\\ den|van|von\\ der"
    "|von|zu|bin|ibn|ap|al|el|&"
)
# A run of capitalised words, with small words and short numbers between them: "Ludwig van Beethoven", "Apollo 11".
_SPAN = re.compile(
    rf"""(?<![\w.#@/'-])
    {_CAPITALISED}
    (?: [\ \xa0] (?: (?:{_SMALL})\  )? {_CAPITALISED}  |  [\ \xa0] \d{{1,4}} (?![\w-]|[.,:%/]\d) )*
    """,
    re.VERBOSE,
)
# A quotation of up to 60 characters, without the punctuation at its end.
_QUOTED = re.compile(r"\"([^\"\n]{2,60}?)[,.!?]?\"")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_CAPITAL = re.compile(rf"[{CAPITALS}]")
_SMALL_IN_TITLE = frozenset(
    """
    a an and as at by for from in into is of on or the to vs with de la du von van & no my
    """.split()  # noqa: SIM905 - as above
)
# Characters after which a sentence may begin.
_BEFORE_SENTENCE = frozenset(".!?:;\u2026\n*-\u2022\u2013\u2014>|")
# Characters that may precede the first word of a sentence.
_OPENING = frozenset("\"'([{*_~")
# Number of characters that are searched: the remainder of longer documents mostly repeats their names.
LONGEST_TEXT = 20_000
# Words that are not names on their own, in their usual spellings, so that a set lookup can reject them fast.
_ALONE = PLAIN | _NEVER_NAMES | DATES | _DEMONYMS | _NUMBERED
_NO_NAMES = frozenset(
    {word.capitalize() for word in _ALONE}
    | {word.upper() for word in _NEVER_NAMES | _NUMBERED}
    | {f"{word.capitalize()}'{ending}" for word in OPENERS | {"i"} for ending in ("s", "m", "re", "ll", "d", "ve", "t")}
)


class NameSpan(NamedTuple):
    """A name as written, whether it certainly is a person's, and the confidence that it is a name.

    The confidence is highest for names of several words, and lowest for a single word that opens a sentence.
    """

    name: str
    person: bool
    confidence: float


def spans(text: str, *, titled: bool = False, listing: bool = False) -> list[NameSpan]:
    """The names in *text*; *titled* marks prose about the subject of a title, such as an encyclopedia article.

    *listing* marks text that may be formatted for display, such as an answer in Markdown, where items and headings are
    capitalised. A single capitalised word then counts only directly after a word in lower case, or if it has further
    capitals or a digit ("GitHub", "NASA").

    >>> [span.name for span in spans("Thanks Mel! We met Omar Davis of Nine Inch Nails at the University of Vienna.")]
    ['Mel', 'Omar Davis of Nine Inch Nails', 'Omar Davis', 'Nine Inch Nails', 'University of Vienna', 'Vienna']
    """
    plain = _readable(text)
    names: list[NameSpan] = []
    doubtful: list[str] = []
    for match in _SPAN.finditer(plain):
        run = match.group()
        if run in _NO_NAMES or "_" in run:
            continue
        start, end = match.span()
        if plain[end : end + 4].lstrip("*_ ")[:1] == ":":  # a label: "**Status**: open"
            continue
        words = run.split()
        opening = _opens_sentence(plain, start)
        name_words = _trimmed(words, opening=opening)
        if not name_words:
            continue
        if len(name_words) == 1 and name_words[0] is words[0] and not _spelt_as_name(name_words[0]):
            if opening:
                doubtful.append(name_words[0])
                continue
            if listing and not plain[start - 2].islower() and not name_words[0].isupper():
                continue
        names.extend(_names(name_words))
    if doubtful:
        names.extend(_confirmed(doubtful, names, titled=titled))
    if '"' in plain:
        names.extend(_quoted(plain))
    return names


def _readable(text: str) -> str:
    """The beginning of *text* with plain quotes, without code and headings; dashes stay, since they separate names."""
    plain = plain_signs(text[:LONGEST_TEXT], QUOTES)
    if "```" in plain:
        plain = _FENCED.sub("\n", plain)
    return _HEADING.sub("", plain) if "# " in plain else plain


def _opens_sentence(text: str, start: int) -> bool:
    """Whether the word at *start* opens a sentence, a line or a quotation after the end of a sentence."""
    index = start - 1
    while index >= 0 and text[index] in _OPENING:
        index -= 1
    if index < 0 or text[index] == "\n":
        return True
    while index >= 0 and text[index] in " \xa0\"')*_":
        index -= 1
    return index < 0 or text[index] in _BEFORE_SENTENCE


def _trimmed(words: list[str], *, opening: bool) -> list[str]:
    """*words* without leading and trailing words that are not part of a name; empty if the rest cannot be a name.

    >>> _trimmed(["Vitamin", "L.", "The"], opening=False), _trimmed(["John", "F.", "Kennedy"], opening=False)
    (['Vitamin', 'L'], ['John', 'F.', 'Kennedy'])
    """
    first, last = 0, len(words)
    for index in range(1, last - 1):
        # An initial before a word that opens sentences is the end of a sentence, not of a name.
        if _is_initial(words[index]) and words[index + 1].lower() in OPENERS:
            words, last = [*words[:index], words[index][0]], index + 1
            break
    while last > first and _drops_at_end(words[last - 1]):
        last -= 1
    if last - first > 1 and _precedes_name(words, opening=opening):
        first += 1
    while first < last and _drops_at_start(words[first], opening=opening, alone=last - first == 1):
        first += 1
    while first < last and words[first].islower():
        first += 1
    name_words = words[first:last]
    return name_words if name_words and _can_be_name(name_words) else []


def _precedes_name(words: list[str], *, opening: bool) -> bool:
    """Whether the name, if any, starts after the first word.

    That word is a verb ("Return the Garden Hose", "Refund Mei Kovacs"), or an initial that ends a sentence ("... of
    vitamin K. However").

    >>> _precedes_name(["Booked", "A-5001"], opening=True), _precedes_name(["Book", "Mei", "Kovacs"], opening=True)
    (True, True)
    >>> _precedes_name(["Book", "Club"], opening=True)
    False
    """
    if _is_initial(words[0]):
        return words[1].lower() in OPENERS
    if not opening or not _is_verb(words[0].lower()):
        return False
    if len(words) > 2 and all(word[0].isupper() for word in words[1:]):
        return True
    return words[1] == "the" or (len(words) == 2 and not words[1].isalpha() and any(map(str.isdigit, words[1])))


def _is_initial(word: str) -> bool:
    """Whether *word* is a letter with a full stop."""
    return len(word) == 2 and word[1] == "."


def _is_verb(word: str) -> bool:
    """Whether *word* is a base verb or a regular past form of one, as in "cancelled"."""
    return word in BASE_VERBS or (word.endswith("ed") and not BASE_VERBS.isdisjoint((word[:-1], word[:-2], word[:-3])))


def _drops_at_start(word: str, *, opening: bool, alone: bool) -> bool:
    """Whether the first word of a run is not part of a name; *alone* says that no other word is left."""
    plain = _stem(word)
    if plain in DATES or word[0].isdigit() or plain == "i":
        return True
    if alone:
        return plain in _NEVER_NAMES or plain in _DEMONYMS or (plain in PLAIN and word[-1] != ".")
    return opening and plain in OPENERS and word[-1] != "."


def _drops_at_end(word: str) -> bool:
    """Whether the last word of a run is not part of a name: a date, a small word, an id."""
    plain = _stem(word)
    return plain in DATES or plain == "i" or word in _SMALL_IN_TITLE or not (word.isalpha() or is_id(word) is None)


def _stem(word: str) -> str:
    """*word* in lower case, without what follows an apostrophe, or else without full stops at its end."""
    plain = word.lower()
    return plain.split("'", 1)[0] if "'" in plain else plain.rstrip(".")


def _can_be_name(words: list[str]) -> bool:
    """Whether *words* can be a name: not "Step 3", not a shout ("OH NO"), not only words capitalised by convention."""
    first = words[0]
    if len(words) == 1:
        return len(first) > 1 and first[0].isupper() and _stem(first) not in _NUMBERED
    if len(words) == 2 and words[1][0].isdigit() and _stem(first) in _NUMBERED:
        return False
    stems = [_stem(word) for word in words]
    if all(stem in _NEVER_NAMES or stem in _NUMBERED for stem in stems):
        return False
    return not (all(word.isupper() for word in words) and any(stem in OPENERS for stem in stems))


def _spelt_as_name(word: str) -> bool:
    """Whether the spelling itself marks a name: a capital or a digit after the first letter, but not all capitals."""
    return any(sign.isupper() or sign.isdigit() for sign in word[1:]) and not word.isupper()


def _confirmed(doubtful: list[str], names: list[NameSpan], *, titled: bool) -> Iterator[NameSpan]:
    """Yield the *doubtful* words, which open sentences, that are names elsewhere in the text, or in a *titled* text."""
    known = {span.name for span in names}
    for word in doubtful:
        name = _without_ending(word)
        if name in known:
            yield NameSpan(name, person=False, confidence=0.6)
        elif titled and not name.endswith(("ing", "ly", "ed")):
            yield NameSpan(name, person=False, confidence=0.5)


def _names(words: list[str]) -> Iterator[NameSpan]:
    """Yield the name that *words* form, and the names inside it; names joined by "and" are yielded separately."""
    if "and" in words:
        yield from _split_at_and(words)
    elif "of" in words:
        yield from _split_at_of(words)
    else:
        yield from _with_officeholder(words)


def _split_at_and(words: list[str]) -> Iterator[NameSpan]:
    """Yield the names before and after "and"."""
    index = words.index("and")
    for part in (words[:index], words[index + 1 :]):
        name_words = _trimmed(part, opening=False)
        if name_words:
            yield from _names(name_words)


def _split_at_of(words: list[str]) -> Iterator[NameSpan]:
    """Yield the whole name, what precedes "of" if it has several words, and the names after it."""
    index = words.index("of")
    left, right = words[:index], words[index + 1 :]
    if right[0] == "the":
        right = right[1:] if len(right) > 2 else []  # "the Rings", "the Wind" are not names on their own
    yield _span(words, 0.8)
    if len(left) > 1:
        yield from _with_officeholder(left)
    name_words = _trimmed(right, opening=False)
    if name_words:
        yield from _names(name_words)


def _with_officeholder(words: list[str]) -> Iterator[NameSpan]:
    """Yield the whole name; if at least two words follow an office, also these: "Barnaby Joyce" after "Senator"."""
    yield _span(words, 0.8 if len(words) > 1 else 0.6)
    office = next((index for index in range(len(words) - 2, -1, -1) if words[index].lower() in _OFFICES), -1)
    if 0 <= office < len(words) - 2:
        yield _span(words[office + 1 :], 0.7)


def _span(words: list[str], confidence: float) -> NameSpan:
    """The name that *words* form, without an honorific, which shows that it is the name of a person."""
    person = _stem(words[0]) in _HONORIFICS and len(words) > 1
    name_words = words[1:] if person else words
    return NameSpan(_without_ending(" ".join(name_words)), person, confidence)


def _without_ending(name: str) -> str:
    return name[:-2] if name.endswith("'s") else name.rstrip("'-.&")


def _quoted(text: str) -> Iterator[NameSpan]:
    """Yield quoted titles: all words capitalised except small ones."""
    for match in _QUOTED.finditer(text):
        words = match.group(1).split()
        if (
            len(words) <= 10
            and len(match.group(1).strip(" .,-&")) > 1
            and _is_title(words)
            and _trimmed(words, opening=False) == words
        ):
            yield NameSpan(" ".join(words), person=False, confidence=0.7)


def _is_title(words: list[str]) -> bool:
    """Whether *words* are capitalised like a title; a single common word such as "Yes" is not a title."""
    if not _CAPITAL.match(words[0]):
        return False
    is_capitalised = all(word[0].isupper() or word[0].isdigit() or word in _SMALL_IN_TITLE for word in words[1:])
    return is_capitalised and (len(words) > 1 or words[0].lower() not in OPENERS)
