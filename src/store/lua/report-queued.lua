-- Notes how many bytes wait in one of an account's queues.
-- KEYS: 1 what waits for the account (hash: part → bytes, and their sum as total)
-- ARGV: 1 part, 2 bytes, 3 seconds for which an account without reports is remembered
-- Returns: the sum of all parts
local before = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
local bytes = tonumber(ARGV[2])
if bytes == 0 then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], bytes)
end
local total = redis.call('HINCRBY', KEYS[1], 'total', bytes - before)
if bytes == 0 and redis.call('HLEN', KEYS[1]) == 1 then
  redis.call('DEL', KEYS[1])
  return 0
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return total
