-- Deletes the summaries of a range of scores.
-- KEYS: 1 event ids (zset), 2 summaries (hash)
-- ARGV: 1 lowest score, 2 highest score (`-inf`, `+inf` allowed)
-- Returns: how many were deleted
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[2])
for _, id in ipairs(ids) do
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
end
return #ids
