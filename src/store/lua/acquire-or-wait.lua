-- Acquires one of a webhook's permits for a delivery, and a token if its rate is limited; otherwise adds the delivery to
-- the waitlist, or counts it as one that did not fit and waits in MongoDB only.
-- KEYS: 1 permits (zset by expiry), 2 waitlist (zset by arrival; a list would have to be searched for each arrival),
--       3 token bucket, 4 overflow (hash: count, asked_at)
-- ARGV: 1 job JSON, 2 permit name, 3 permits in all, 4 milliseconds until a permit expires, 5 tokens a second (0: no
--       limit), 6 how many the waitlist may hold, 7 milliseconds until the overflow expires, 8 name of the permit that
--       the job is granted from the waitlist, 9 '1' if the caller is not the job that the first permit is for
-- Returns: 1 if the permit was acquired, 0 if the delivery waits; then milliseconds until the waitlist must be drained, if no
--          release will do it. Or 2 if one of its jobs holds a permit; then milliseconds since it acquired it, and 1 if
--          that is the job that was granted it from the waitlist, otherwise 0
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local expiry = now + tonumber(ARGV[4])
local perSecond = tonumber(ARGV[5])
local function heldMs(expiresAt) return now + tonumber(ARGV[4]) - tonumber(expiresAt) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local expiresAt = redis.call('ZSCORE', KEYS[1], ARGV[2])
if expiresAt then
  if ARGV[9] == '1' then return {2, heldMs(expiresAt), 0} end
  -- Granted while it waited: that permit came with a token.
  redis.call('ZADD', KEYS[1], expiry, ARGV[2])
  return {1, 0}
end
-- It has waited already: a job that is repeated, or a sweep that saw neither the waitlist nor the job that came from it.
local nextExpiresAt = redis.call('ZSCORE', KEYS[1], ARGV[8])
if nextExpiresAt then return {2, heldMs(nextExpiresAt), 1} end
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return {0, 1} end
local tokenInMs = 0
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[3]) then
  local acquired = 1
  if perSecond > 0 then acquired, tokenInMs = acquireTokens(KEYS[3], perSecond, 1, now) end
  if acquired == 1 then
    redis.call('ZADD', KEYS[1], expiry, ARGV[2])
    return {1, 0}
  end
end
if redis.call('ZCARD', KEYS[2]) < tonumber(ARGV[6]) then
  redis.call('ZADD', KEYS[2], now, ARGV[1])
else
  redis.call('HINCRBY', KEYS[4], 'count', 1)
  redis.call('PEXPIRE', KEYS[4], ARGV[7])
end
return {0, tokenInMs}
