-- Deletes the summaries of a range of scores.
-- KEYS: 1 event ids (zset), 2 summaries (hash), 3 place of the emitter's events
-- ARGV: 1 lowest score, 2 highest score (`-inf`, `+inf` allowed)
-- Returns: how many were deleted; -1, and none is, if the emitter's events may be in its archive
if not is_here(redis.call('GET', KEYS[3])) then return -1 end
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[2])
for _, id in ipairs(ids) do
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
end
return #ids
