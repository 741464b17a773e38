"""Work that has to wait for another transaction, until that is committed."""

import threading
from time import monotonic

PATIENCE = 60


def held_up(driver, work, hold, waiting, *, then=lambda _: None):
    """*work* done while a transaction that did *hold* is open; it does *then* and ends once the work waits for it.

    *waiting* are words of the statement that waits. Nothing here races: the work cannot go on before the commit.
    """
    blocked = (
        "SHOW TRANSACTIONS YIELD currentQuery, status "
        "WHERE status STARTS WITH 'Blocked' AND currentQuery CONTAINS $words RETURN count(*) AS waiting"
    )
    thread = threading.Thread(target=work)
    with driver.session() as session, session.begin_transaction() as tx, driver.session() as watching:
        hold(tx)
        thread.start()
        ends = monotonic() + PATIENCE
        while not watching.run(blocked, words=waiting).single()["waiting"]:
            assert monotonic() < ends, "the work never waited for the transaction"
        then(tx)
        tx.commit()
    thread.join(PATIENCE)
    assert not thread.is_alive()
