-- Notes emissions of an account that get their event ids next. One that is noted already keeps its time.
-- KEYS: 1 emissions on their way (zset by the time before which none of their event ids is, in milliseconds)
-- ARGV: 1 milliseconds for which they are noted, then for each emission: its name, and the time of the event id that it has
--       or ''
-- Returns: 1
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
for i = 2, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], 'NX', math.min(now, tonumber(ARGV[i + 1]) or now), ARGV[i])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1]))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
