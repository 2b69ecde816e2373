-- Begins a drain of a webhook, with one permit. No two drains of a webhook are under way at the same time.
-- KEYS: 1 permits (zset by expiry), 2 marks of its drains (zset by expiry: `backlog`, `again`, and the drain under way)
-- ARGV: 1 permits in all, 2 milliseconds until permit and drain expire, 3 name of the drain, 4 name of the permit,
--       5 milliseconds until the mark of a backlog expires
-- Returns: 'begun'; 'permit' if there is no free permit: then the release of one drains the webhook; 'drain' if another
--          drain is under way: then that one has a further one follow
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
for _, mark in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if mark ~= 'backlog' and mark ~= 'again' and mark ~= ARGV[3] then
    redis.call('ZADD', KEYS[2], now + tonumber(ARGV[5]), 'again')
    return 'drain'
  end
end
local isHeld = redis.call('ZSCORE', KEYS[1], ARGV[4])
if not isHeld and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[5]), 'backlog')
  redis.call('ZREM', KEYS[2], ARGV[3])
  return 'permit'
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[4])
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[2]), ARGV[3])
return 'begun'
