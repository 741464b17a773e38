// An entity's neighbourhood.
//
// The 100 strongest relations of the entities of this name, in any spelling, as a picture; each row follows the
// direction of its relation. A relation of confidence 0.6 was only asked for by calls, which may have failed, or is one
// of things that were mentioned together.
//
// The name is normalised as entity names are: machine names in lower case, other names as words without accents,
// possessive endings, punctuation and a leading article. A condition on the type lets the planner use the index of
// tenant and type; without the hint it reads all entities while there are few.
//
// mode: read
// row:  source, relation, target
WITH
  toLower(trim($name)) AS asked,
  [word IN split(toLower(trim($name)), ' ') | CASE WHEN right(word, 2) IN ["'s", '’s'] THEN left(word, size(word) - 2) ELSE word END] AS spoken
WITH asked, reduce(text = '', word IN spoken | text + ' ' + word) AS text
WITH asked, [sign IN split(normalize(text, NFKD), '') WHERE NOT '\u0300' <= sign <= '\u036F' | CASE WHEN sign =~ '[\\p{L}\\p{N}]' THEN sign ELSE ' ' END] AS signs
WITH asked, [word IN split(reduce(text = '', sign IN signs | text + sign), ' ') WHERE word <> ''] AS words
WITH asked, CASE WHEN size(words) > 1 AND words[0] IN ['the', 'a', 'an'] THEN tail(words) ELSE words END AS words
WITH asked, [asked, ltrim(asked, '#'), CASE WHEN asked STARTS WITH './' THEN substring(asked, 2) ELSE asked END, trim(reduce(text = '', word IN words | text + ' ' + word))] AS forms
MATCH (entity:Entity)
USING INDEX SEEK entity:Entity(tenant_id, type)
WHERE entity.tenant_id = $tenant_id AND entity.type IS NOT NULL
  AND (entity.normalised IN forms OR toLower(entity.name) = asked OR any(alias IN entity.aliases WHERE toLower(alias) = asked))
MATCH (entity)-[relation:RELATES_TO]-(other)
WHERE other.tenant_id = $tenant_id AND relation.status = 'active'
WITH DISTINCT relation
WITH startNode(relation) AS source, relation, endNode(relation) AS target
RETURN source, relation, target
ORDER BY relation.weight DESC, source.key, target.key, relation.relation_type
LIMIT 100
