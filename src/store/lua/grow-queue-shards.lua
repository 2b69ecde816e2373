-- Raises the numbers of shards of queues, which never fall, and returns those that hold now. Consumers of a higher number
-- come first: producers use it once the time has passed that processes need to notice it.
-- KEYS: 1 numbers (hash: queue → the number before, the number, and since when producers use it in milliseconds)
-- ARGV: 1 milliseconds from a higher number until producers use it, then for each queue: its name, the number wanted
-- Returns: for each queue the number that producers use, and the number that may hold jobs
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local result = {}
for i = 2, #ARGV, 2 do
  local stored = redis.call('HGET', KEYS[1], ARGV[i]) or '1 1 0'
  local before, number, since = string.match(stored, '^(%d+) (%d+) (%d+)$')
  before, number, since = tonumber(before), tonumber(number), tonumber(since)
  if now >= since then before = number end
  local wanted = tonumber(ARGV[i + 1])
  if wanted > number then
    number = wanted
    since = now + tonumber(ARGV[1])
    if now >= since then before = number end
    redis.call('HSET', KEYS[1], ARGV[i], string.format('%.0f %.0f %.0f', before, number, since))
  end
  result[#result + 1] = before
  result[#result + 1] = number
end
return result
