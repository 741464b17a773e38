"""Word lists of the rules: what starts a sentence without being a name, dates, labels, abbreviations."""

from hmxgraph.text.stop_words import STOP_WORDS

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
