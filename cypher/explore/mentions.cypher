// Where an entity is mentioned.
//
// Events that mention the entities of this name, in any spelling, latest first, at most 100.
//
// The name is normalised as entity names are: machine names in lower case, other names as words without accents,
// possessive endings, punctuation and a leading article. A condition on the type lets the planner use the index of
// tenant and type.
//
// mode: read
// row:  timestamp, session_id, event_type, text
WITH
  toLower(trim($name)) AS asked,
  [word IN split(toLower(trim($name)), ' ') | CASE WHEN right(word, 2) IN ["'s", '’s'] THEN left(word, size(word) - 2) ELSE word END] AS spoken
WITH asked, reduce(text = '', word IN spoken | text + ' ' + word) AS text
WITH asked, [sign IN split(normalize(text, NFKD), '') WHERE NOT '\u0300' <= sign <= '\u036F' | CASE WHEN sign =~ '[\\p{L}\\p{N}]' THEN sign ELSE ' ' END] AS signs
WITH asked, [word IN split(reduce(text = '', sign IN signs | text + sign), ' ') WHERE word <> ''] AS words
WITH asked, CASE WHEN size(words) > 1 AND words[0] IN ['the', 'a', 'an'] THEN tail(words) ELSE words END AS words
WITH asked, [asked, ltrim(asked, '#'), CASE WHEN asked STARTS WITH './' THEN substring(asked, 2) ELSE asked END, trim(reduce(text = '', word IN words | text + ' ' + word))] AS forms
MATCH (entity:Entity {tenant_id: $tenant_id})
WHERE entity.type IS NOT NULL
  AND (entity.normalised IN forms OR toLower(entity.name) = asked OR any(alias IN entity.aliases WHERE toLower(alias) = asked))
MATCH (entity)<-[:MENTIONS]-(event:Event)
RETURN
  event.timestamp AS timestamp,
  event.session_id AS session_id,
  event.event_type AS event_type,
  left(event.text, 200) AS text
ORDER BY event.time_us DESC, event.event_id
LIMIT 100
