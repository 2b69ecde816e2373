-- Gives places back, and gives those that are free to the first in line, each with a token where the rate is limited.
-- KEYS: 1 in flight (zset by expiry), 2 waiting (zset by arrival), 3 bucket
-- ARGV: 1 places, 2 milliseconds a place lives, 3 tokens a second (0: no limit), 4 and on: the places given back
-- Returns: milliseconds until a token, if that is what the line lacks, then the JSON of each that may come
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local perSecond = tonumber(ARGV[3])
for i = 4, #ARGV do redis.call('ZREM', KEYS[1], ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local able = math.min(tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]))
if able <= 0 then return {0} end
local called = able
local waitMs = 0
if perSecond > 0 then called, waitMs = takeTokens(KEYS[3], perSecond, able, now) end
local answer = {called < able and waitMs or 0}
for _ = 1, called do
  local text = redis.call('ZPOPMIN', KEYS[2])[1]
  local job = cjson.decode(text)
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), job.delivery_id .. '-' .. job.round)
  answer[#answer + 1] = text
end
return answer
