-- Reads a page of one stream.
-- KEYS: 1 place, 2 event ids (zset), 3 summaries (hash)
-- ARGV: 1 ZRANGEBYSCORE or ZREVRANGEBYSCORE, 2 the score at which the page begins, 3 the one at which the stream ends, 4 most
--       events
-- Returns: the place, or ''; how many events the stream has; then id and summary of each event of the page
local reply = { redis.call('GET', KEYS[1]) or '', redis.call('ZCARD', KEYS[2]) }
local ids = redis.call(ARGV[1], KEYS[2], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
add_summaries(reply, KEYS[3], ids)
return reply
