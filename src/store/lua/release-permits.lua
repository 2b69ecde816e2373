-- Releases permits and grants the free ones to the head of the waitlist, each with a token if the rate is limited.
-- KEYS: 1 permits (zset by expiry), 2 waitlist (zset by arrival), 3 token bucket, 4 overflow (hash: count, asked_at)
-- ARGV: 1 permits in all, 2 milliseconds until a permit expires, 3 tokens a second (0: no limit), 4 length of the
--       waitlist up to which it is refilled, 5 milliseconds for which a refill that was asked for is awaited, 6 and on:
--       names of the permits to release
-- Returns: milliseconds until the next token, if the waitlist lacks one; 1 if the waitlist must be refilled, which is said
--          once until that is done; then the JSON of each job that was granted a permit
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local perSecond = tonumber(ARGV[3])
for i = 6, #ARGV do redis.call('ZREM', KEYS[1], ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local waiting = redis.call('ZCARD', KEYS[2])
local free = math.max(0, math.min(tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1]), waiting))
local granted = free
local tokenInMs = 0
if free > 0 and perSecond > 0 then granted, tokenInMs = acquireTokens(KEYS[3], perSecond, free, now) end
local result = {granted < free and tokenInMs or 0, 0}
if waiting - granted <= tonumber(ARGV[4]) and redis.call('EXISTS', KEYS[4]) == 1 then
  local askedAt = tonumber(redis.call('HGET', KEYS[4], 'asked_at') or 0)
  if now >= askedAt + tonumber(ARGV[5]) then
    redis.call('HSET', KEYS[4], 'asked_at', now)
    result[2] = 1
  end
end
for _ = 1, granted do
  local text = redis.call('ZPOPMIN', KEYS[2])[1]
  local job = cjson.decode(text)
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), job.delivery_id .. '-' .. job.generation)
  result[#result + 1] = text
end
return result
