-- Takes tokens for attempts that have their places.
-- KEYS: 1 bucket, 2 waiting (zset by arrival)
-- ARGV: 1 tokens wanted, 2 tokens a second, 3 '1' when those in line go before
-- Returns: how many were taken, the milliseconds until the next one
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local others = ARGV[3] == '1' and redis.call('ZCARD', KEYS[2]) or 0
return {takeTokens(KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[1]), now, others)}
