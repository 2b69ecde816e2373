-- Reads the events of a stream that are later than one of them, or were stored after it.
-- KEYS: 1 place, 2 event ids (zset), 3 summaries (hash), 4 events stored late (zset by time)
-- ARGV: 1 lowest score, 2 the time in milliseconds from which late events are read
-- Returns: the place, or ''; how many ids of late events follow, and these; then id and summary of each event, unordered
local late = redis.call('ZRANGEBYSCORE', KEYS[4], ARGV[2], '+inf')
local reply = { redis.call('GET', KEYS[1]) or '', #late }
for _, id in ipairs(late) do reply[#reply + 1] = id end
local isRead = {}
local ids = {}
for _, list in ipairs({ late, redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[1], '+inf') }) do
  for _, id in ipairs(list) do
    if not isRead[id] then ids[#ids + 1] = id end
    isRead[id] = true
  end
end
add_summaries(reply, KEYS[3], ids)
return reply
