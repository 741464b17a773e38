// Mark a restore or a replay as unfinished. The mark is created, or taken over from one that was interrupted: the run
// tells the steps of this restore from those of that one, should it still be going on.
//
// mode: write
// row:  id, run
MERGE (mark:Awaited {key: $key})
SET mark.tenant_id = $tenant_id,
    mark.run = randomUUID(),
    mark.step = 0
RETURN elementId(mark) AS id, mark.run AS run
ORDER BY id
