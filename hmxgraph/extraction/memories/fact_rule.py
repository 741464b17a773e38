"""What a sentence form of facts is."""

import re
from typing import NamedTuple


class Rule(NamedTuple):
    """A sentence form: where the words of the text include one of *cues*, *pattern* finds it.

    Its group ``object`` is the fact's object, ``subject`` its subject where that is not who speaks, ``kin`` what its
    subject is to who speaks. *predicate* may take up the group ``what``. *telling* renders the fact. *single* says that
    one object holds at a time, *passing* that it tells who somebody is, which is nothing to keep of a speaker who is
    otherwise unknown, *deniable* that each of its objects may also be told not to be so.
    """

    predicate: str
    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    telling: str
    confidence: float
    single: bool = False
    passing: bool = False
    deniable: bool = False
    examples: tuple[tuple[str, str], ...] = ()
    counterexamples: tuple[str, ...] = ()
