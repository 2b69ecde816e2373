-- Acquires tokens for attempts that already hold permits.
-- KEYS: 1 token bucket, 2 marks of the webhook's drains (zset by expiry)
-- ARGV: 1 tokens wanted, 2 tokens a second, 3 '1' if a backlog goes first
-- Returns: how many were acquired, the milliseconds until the next one
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local isSecond = ARGV[3] == '1' and tonumber(redis.call('ZSCORE', KEYS[2], 'backlog') or 0) > now
return {acquireTokens(KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[1]), now, isSecond)}
