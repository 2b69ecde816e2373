-- Renews the claim on a unit of the reconciler's work, or ends it, unless another process has claimed it.
-- KEYS: 1 hash: unit → the moment until which no other process may claim it, and the token of the one that did
-- ARGV: 1 unit, 2 token of the caller, 3 milliseconds from now to that moment, 4 token that is left: empty to end the claim
-- Returns: 1 if no other process had claimed it
local _, token = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^(%d+) (.*)$')
-- Without an entry Redis has lost its data since.
if token and token ~= ARGV[2] then return 0 end
local time = redis.call('TIME')
local at = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %s', at, ARGV[4]))
return 1
