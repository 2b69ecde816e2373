-- Extends permits that are still held, and a drain that is under way; expired ones are not restored.
-- KEYS: 1 permits (zset by expiry), 2 marks of the webhook's drains (zset by expiry)
-- ARGV: 1 milliseconds until they expire, 2 and on: names
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
for i = 2, #ARGV do
  for _, key in ipairs(KEYS) do redis.call('ZADD', key, 'XX', now + tonumber(ARGV[1]), ARGV[i]) end
end
return 0
