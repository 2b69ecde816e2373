-- Releases permits and grants the free ones to the head of the waitlist, each with a token if the rate is limited.
-- KEYS: 1 permits (zset by expiry), 2 waitlist (zset by arrival), 3 token bucket
-- ARGV: 1 permits in all, 2 milliseconds until a permit expires, 3 tokens a second (0: no limit), 4 and on: names of the
--       permits to release
-- Returns: milliseconds until the next token, if the waitlist lacks one, then the JSON of each job that was granted a
--          permit
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local perSecond = tonumber(ARGV[3])
for i = 4, #ARGV do redis.call('ZREM', KEYS[1], ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local free = math.min(tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]))
if free <= 0 then return {0} end
local granted = free
local tokenInMs = 0
if perSecond > 0 then granted, tokenInMs = acquireTokens(KEYS[3], perSecond, free, now) end
local result = {granted < free and tokenInMs or 0}
for _ = 1, granted do
  local text = redis.call('ZPOPMIN', KEYS[2])[1]
  local job = cjson.decode(text)
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), job.delivery_id .. '-' .. job.generation)
  result[#result + 1] = text
end
return result
