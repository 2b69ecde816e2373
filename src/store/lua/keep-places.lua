-- Keeps places longer that are held for work that still goes on.
-- KEYS: 1 in flight (zset by expiry)
-- ARGV: 1 milliseconds a place lives, 2 and on: the names of the places
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[1]), ARGV[i]) end
return 0
