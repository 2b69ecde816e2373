-- Looks whether jobs wait that may be other accounts' than those that use their share of a worker: in the plain list, or in
-- a turn that does not come because the jobs before it can't start.
-- KEYS: 1 waiting jobs (list), 2 prioritized jobs (zset), 3 positions (hash: account -> its next position, and the turn)
-- ARGV: 1 quantum, 2 and on: the accounts that use their share
-- Returns: 1 if so, else 0
if redis.call('LLEN', KEYS[1]) > 0 then return 1 end
local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
if not head then return 0 end
-- BullMQ's score is the priority and a counter; a priority is its turn plus one.
local turn = math.floor(tonumber(head) / 0x100000000) - 1
local of_share = {}
for i = 2, #ARGV do of_share['of ' .. ARGV[i]] = true end
local positions = redis.call('HGETALL', KEYS[3])
for i = 1, #positions, 2 do
  local is_other = positions[i] ~= 'turn' and not of_share[positions[i]]
  if is_other and tonumber(positions[i + 1]) > (turn + 1) * tonumber(ARGV[1]) then return 1 end
end
return 0
