"""Word lists of the rules: what starts a sentence without being a name, dates, labels, abbreviations."""

from hmxgraph.text.stop_words import STOP_WORDS

_OPENERS = """
    absolutely according accordingly across actually additionally admittedly ago ah aha alas albeit all almost along
    alright already also although altogether always amazing among another any anybody anyhow anyone anything anytime
    anyway anyways apart apparently apologies around aside ask assuming aw awesome aww bad based basically beautiful
    because become been before believe besides  better beyond  bless both bring briefly btw bye call can
    cannot certainly check cheers choose clearly come congrats congratulations consequently consider considering
    contrary cool could create crazy currently cute damn dear definitely depending despite did directly does done
    during each earlier early easy either else enjoy enough especially essentially even eventually ever every
    everybody everyone everything everywhere exactly excellent except exciting excited excuse fair fantastic
    feel few final finally find fine  firstly following for former fortunately from  funny fun furthermore
    generally get getting give given giving glad go going  good-bye goodbye goodness gosh got gotta gotcha  greetings
    guess guys ha haha hahaha happy hard has have having hear hello help hence her here hers hey hi his hmm honestly
    hope hopefully how however huge hurry if imagine important impressive in incidentally including incredible indeed
    initially inside inspiring instead interesting interestingly into is it its join just keep kind kinda know last
    lastly late lately later latter least less let lets like likely likewise listen literally  lol  look
    looking looks lots love lovely lucky made mainly make man many may maybe me mean meanwhile might mine mm mmm more
    moreover most mostly much must my namely naturally near nearly need neither never nevertheless  next nice no
    nobody none nope nor normally not nothing notice now nowadays obviously of off often oh ok okay omg on once one
    only onto oops open or originally other others otherwise ouch our out outside over overall own par pardon
    partially people per perfect perhaps personally phew please plus possibly presumably pretty previously primarily
    probably proud put quick quickly quite rather read ready really reasonably recently regarding regardless remember
    respectively right sad same say see seems seen send seriously several shall she should show similarly simply
    since slowly so sometime sometimes somewhat somewhere soon sorry sounds specifically start started starting still
    stop stay strictly subsequently such suddenly  supposedly sure surely surprisingly sweet take taking talk tell
    terrific than thank thankfully thanks that the their them then there thereafter therefore these they thing things
    think this those though through throughout thus till to today together tomorrow tonight too totally toward towards
    trust truly try trying tbh typically ugh um under undoubtedly unfortunately unless unlike until up upon use using
    usually various very via wait want was way we well welcome were what whatever when whenever where whereas wherever
    whether which whichever while who whoever whole whom whose why will wish with within without woah wonderful
    wonderfully worry would wow yay yea yeah yep yes yesterday yet you your yours yup gonna wanna imo imho fyi asap
    dude bro sis buddy folks team everyone sir madam ma'am hiya howdy alternatively add added adding update updated
    both           dozens hundreds thousands nearby ahead above below
    note once-in-a-lifetime speaking seeing being doing watching hearing reading playing running working
    woohoo woo yippee hooray hurray oof eek welp hang
"""
# A sentence may begin with these words without naming anything.
OPENERS = frozenset(_OPENERS.split()) | STOP_WORDS
# No names by themselves, though names begin with some of them: New York, Big Sur, Black Forest.
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
# Capitalised by custom, in the middle of a sentence too.
NEVER_NAMES = frozenset(
    """
    i i'm i'd i'll i've ok okay lol omg btw fyi asap imo imho tbh aka am pm tv id ids eta faq etc na n/a tba tbd
    pdf url urls usd eur gbp utc gmt est pst edt pdt cet json xml html css yaml csv api apis sql http https ui
    ux os cpu gpu ram gb mb kb tb zip todo fixme note warning error info debug true false none null yes no mr
    mrs ms miss dr sir madam god inc llc ltd corp co plc gmbh jr sr christmas easter thanksgiving halloween
    hanukkah ramadan diwali xmas pto wifi sms
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
DATES = frozenset(
    """
    january february march april may june july august september october november december jan feb mar apr jun
    jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu
    thur thurs fri sat sun mondays tuesdays wednesdays thursdays fridays saturdays sundays today tomorrow
    yesterday spring summer autumn fall winter bc ad bce ce
    """.split()  # noqa: SIM905 - as above
)
# "Option 2", "Step 3": places in a text, not names.
NUMBERED = frozenset(
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
# The name begins after these: "Senator Barnaby Joyce", "Supreme Leader Kim Jong-il".
OFFICES = frozenset(
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
HONORIFICS = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "sir", "dame", "lady", "rev"})
# Adjectives of places: capitalised, common, and names only inside longer names.
DEMONYMS = frozenset(
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
