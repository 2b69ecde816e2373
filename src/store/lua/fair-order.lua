-- Start-time fair queuing of a queue's jobs over accounts (docs/decisions/0015-fair-order-between-accounts.md): gives each
-- account the position from which its next jobs count. A queue without a backlog forgets what was counted before.
-- KEYS: 1 waiting jobs (list), 2 prioritized jobs (zset), 3 positions (hash: account → its next position, and the turn)
-- ARGV: 1 quantum, 2 seconds until positions are forgotten, 3 1 if the jobs are fetched and not being enqueued,
--   then for each account: its id, the cost of its jobs
-- Returns: 1 if jobs wait, else 0; the present turn; each account's position
local quantum = tonumber(ARGV[1])
local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
local waits = head or redis.call('LLEN', KEYS[1]) >= quantum
local before = 0
local turn = 0
if waits then
  before = tonumber(redis.call('HGET', KEYS[3], 'turn') or '0')
  turn = before
  -- BullMQ's score is the priority and a counter; a priority is its turn plus one.
  if head then turn = math.max(turn, math.floor(tonumber(head) / 0x100000000) - 1) end
else
  redis.call('DEL', KEYS[3])
end
if turn > before then redis.call('HSET', KEYS[3], 'turn', turn) end
local result = { waits and 1 or 0, turn }
for i = 4, #ARGV, 2 do
  local position = math.max(tonumber(redis.call('HGET', KEYS[3], 'of ' .. ARGV[i]) or '0'), turn * quantum)
  result[#result + 1] = position
  redis.call('HSET', KEYS[3], 'of ' .. ARGV[i], position + tonumber(ARGV[i + 1]))
end
-- As long as only one account has jobs, the turn that is served is its own: none of its jobs is put off, and another
-- account that comes starts level with it.
if ARGV[3] == '1' and #ARGV == 5 and redis.call('HLEN', KEYS[3]) - redis.call('HEXISTS', KEYS[3], 'turn') == 1 then
  local last = math.floor((result[3] + tonumber(ARGV[5]) - 1) / quantum)
  if last > turn then
    result[2] = last
    redis.call('HSET', KEYS[3], 'turn', last)
  end
end
redis.call('EXPIRE', KEYS[3], ARGV[2])
return result
