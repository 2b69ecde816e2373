-- Acquires tokens for attempts that already hold permits.
-- KEYS: 1 token bucket, 2 waitlist (zset by arrival)
-- ARGV: 1 tokens wanted, 2 tokens a second, 3 '1' if the waitlist goes first
-- Returns: how many were acquired, the milliseconds until the next one
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local reserved = ARGV[3] == '1' and redis.call('ZCARD', KEYS[2]) or 0
return {acquireTokens(KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[1]), now, reserved)}
