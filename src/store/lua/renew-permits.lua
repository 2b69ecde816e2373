-- Extends permits that are still held; expired ones are not restored.
-- KEYS: 1 permits (zset by expiry)
-- ARGV: 1 milliseconds until a permit expires, 2 and on: permit names
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[1]), ARGV[i]) end
return 0
