"""The words that sentence forms of facts are made of: patterns of names, places, people, matters and their changes."""

from hmxgraph.extraction.phrases import one_of

NAME = r"[A-Z][\w'-]+(?: (?:(?:de|la|van|von|der|bin|al) )*[A-Z][\w'-]+){0,3}"
# After a comma the state or country, but nobody who is spoken to: "in Oslo, Tom, and my dog".
PLACE = rf"{NAME}(?:, (?!ZIP|I'|[A-Z][\w'-]+, (?:and|but|so|my|our|I)\b)(?:[A-Z][\w'-]+)(?: [A-Z][\w'-]+){{0,2}})?"
NOW = r"(?:currently |now |still |actually |also |both )*"
KIN_ONE = one_of(
    "wife", "husband", "spouse", "fianc[eé]e?", "girlfriend", "boyfriend", "partner", "mother", "father", "mom",
    "mum", "dad", "boss", "manager", "supervisor", "landlord",
)  # fmt: skip
KIN_MANY = one_of(
    "son", "daughter", "brother", "sister", "child", "kid", "nephew", "niece", "cousin", "uncle", "aunt",
    "grandmother", "grandfather", "grandma", "grandpa", "friend", "best friend", "roommate", "neighbou?r",
    "colleague", "coworker", "co-worker", "teammate", "assistant", "dog", "cat", "puppy", "kitten", "horse",
    "parrot", "pet",
)  # fmt: skip
# Somebody else, by name, or by what he is to who speaks.
SOMEBODY = (
    rf"(?:^|[,;:] |\b(?:and|but|because|since|that) )"
    rf"(?:(?:[Mm]y (?:\w+ )?(?:{KIN_ONE}|{KIN_MANY}),? )?(?P<subject>{NAME})|[Mm]y (?P<kin>{KIN_ONE}|{KIN_MANY})),?"
)
DIETS = (
    "vegetarian", "vegan", "pescatarian", "intolerant", "lactose-intolerant", "gluten-intolerant", "coeliac", "celiac",
    "diabetic",
)  # fmt: skip
DIET = r"(?:vegetarian|vegan|pescatarian|(?:lactose|gluten)[- ]intolerant|co?eliac|diabetic)"
NUMBERS = one_of(
    "user ?id", "user ?name", "(?:account|customer|employee|member|membership|loyalty) (?:id|number)",
    "e-?mail(?: address)?", "phone(?: number)?", "mobile number", "zip(?: ?code)?", "postal code", "id",
)  # fmt: skip
MATTERS = (
    "deadline", "due date", "budget", "release date", "code freeze", "launch date", "owner", "port", "endpoint",
    "region", "database", "version", "hostname", "branch", "timezone", "time zone", "limit", "quota",
    "maintenance window",
)  # fmt: skip
NEW = r"(?:(?:new|current|latest|revised|updated) )?"
MATTER = rf"(?P<subject>(?:[\w-]+ ){{0,4}}?(?:{'|'.join(MATTERS)})(?: (?:for|of) (?:the )?[\w-]+(?: [\w-]+){{0,3}}?)?)"
VALUE = (
    r"(?P<object>[A-Z0-9$€£`\"](?:[^,;!?]|,(?=\d{3}\b)){0,60}?)"
    r"(?=,(?!\d{3}\b)|[;!?]|\.?$| (?:and|but|so|because|from|instead)\b)"
)
# To be made another: then the new value.
CHANGED = one_of(
    "move[sd]", "slip(?:s|ped)", "change[sd]", "switched", "shift(?:s|ed)", "postponed", "delayed", "deferred",
    "extended", "pushed", "brought", "raised", "rises", "rose", "lowered", "cut", "reduced", "increase[sd]",
    "decrease[sd]", "drop(?:s|ped)", "falls", "fell", "bumped", "grew", "shrank", "updated", "upgraded",
    "rescheduled", "reset", "set", "renamed", "adjusted", "goes", "went", "doubled", "halved",
)  # fmt: skip
JUST = r"(?: just| now| already| recently| since| again)*"
WHITHER = r"(?: back| forward| out| up| down| over| again| now)*(?: from [^,;!?]{1,40}?)? (?:to|until|till)"
MATTER_WORDS = tuple(matter.split(" ", 1)[0] for matter in MATTERS)
WORK = one_of(
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
# What says that something is not so; "not badly allergic" says how much.
_SURELY = r"(?:actually|really|in fact|still|definitely|certainly|just|luckily|fortunately)"
NOT = rf"(?:(?:{_SURELY} )?(?:not|no longer) (?:{_SURELY} )?)?"
ITEM = r"(?!(?:it|that|this|them|so|but|which|and|or|my|we|you|they)\b)[a-z]\w*(?:[ -]\w+)*"
COUNT = r"(?:\d{1,2}|one|two|three|four|five|six|seven|no)"
