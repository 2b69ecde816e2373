-- Put before the scripts that pace a webhook: takes tokens from its bucket, which fills with time.
-- Holds a quarter of a second's worth (at least one), so that no second sees much more than the rate.
-- KEY: bucket (hash: tokens, at); absent means full, and it is full again long before it expires
-- `others`: how many go before the one who asks; the bucket's first half is theirs. Not all of it: where they are
-- slower than the rate, it would be used by nobody.
-- Returns: how many were taken, and milliseconds until the next one (0: there is one)
local function takeTokens(key, perSecond, wanted, now, others)
  local most = math.max(1, perSecond / 4)
  local stored = redis.call('HMGET', key, 'tokens', 'at')
  local tokens = most
  if stored[1] then
    local passed = math.max(0, now - tonumber(stored[2]))
    tokens = math.min(most, tonumber(stored[1]) + passed * perSecond / 1000)
  end
  local able = math.floor(tokens - math.min(others or 0, most / 2))
  local taken = math.max(0, math.min(wanted, able))
  tokens = tokens - taken
  if taken > 0 then
    redis.call('HSET', key, 'tokens', tokens, 'at', now)
    redis.call('PEXPIRE', key, 10000)
  end
  if tokens >= 1 then return taken, 0 end
  return taken, math.ceil((1 - tokens) * 1000 / perSecond)
end
