"""Run work that must wait for another transaction, and commit that transaction once the work waits."""

import threading
from time import monotonic

PATIENCE = 60


def held_up(driver, work, hold, waiting, *, then=lambda _: None):
    """Run *work* while a transaction that ran *hold* is open; once *work* waits for it, run *then* and commit.

    *waiting* is text that the waiting statement contains. There is no race: the work cannot continue before the commit.
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
