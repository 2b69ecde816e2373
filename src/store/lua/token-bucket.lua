-- A token bucket, included before the scripts that rate-limit a webhook. It holds a quarter of a second's worth of
-- tokens (at least one), so that no single second sees much more than the rate.
-- key: the bucket (hash: tokens, at); an absent bucket is full, and a bucket refills long before it expires
-- isSecond: true if others go first; half of the bucket is left to them, so that others slower than the rate leave no token
--           unused
-- Returns: how many tokens were acquired, and the milliseconds until the next one (0 when one is available)
local function acquireTokens(key, perSecond, wanted, now, isSecond)
  local capacity = math.max(1, perSecond / 4)
  local stored = redis.call('HMGET', key, 'tokens', 'at')
  local tokens = capacity
  if stored[1] then
    local passed = math.max(0, now - tonumber(stored[2]))
    tokens = math.min(capacity, tonumber(stored[1]) + passed * perSecond / 1000)
  end
  local available = math.floor(tokens - (isSecond and capacity / 2 or 0))
  local acquired = math.max(0, math.min(wanted, available))
  tokens = tokens - acquired
  if acquired > 0 then
    redis.call('HSET', key, 'tokens', tokens, 'at', now)
    redis.call('PEXPIRE', key, 10000)
  end
  if tokens >= 1 then return acquired, 0 end
  return acquired, math.ceil((1 - tokens) * 1000 / perSecond)
end
