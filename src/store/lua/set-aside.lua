-- Sets an item of a sweep aside, or counts one more failure of an item that is set aside; removes expired items.
-- KEYS: 1 items (hash), 2 expiries of the items (zset)
-- ARGV: 1 field of the item, 2 now in milliseconds, 3 error, 4 milliseconds until it is tried again the first time,
--       5 the longest such time, 6 milliseconds for which it is kept beyond that, 7 most items
-- Returns: how often it has failed; 0 if so many items are set aside that it is not kept
local now = tonumber(ARGV[2])
for _, field in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)) do
  redis.call('HDEL', KEYS[1], field)
  redis.call('ZREM', KEYS[2], field)
end
local item = { count = 0, first_at_ms = now }
local stored = redis.call('HGET', KEYS[1], ARGV[1])
if stored then
  item = cjson.decode(stored)
elseif redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[7]) then
  return 0
end
item.count = item.count + 1
item.error = ARGV[3]
item.last_at_ms = now
item.retry_at_ms = now + math.min(tonumber(ARGV[4]) * 2 ^ math.min(item.count - 1, 30), tonumber(ARGV[5]))
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(item))
redis.call('ZADD', KEYS[2], item.retry_at_ms + tonumber(ARGV[6]), ARGV[1])
return item.count
