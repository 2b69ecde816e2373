-- Settles the first claimed runs, all or nothing: keeps their records and what they emitted until both are where they
-- belong, reserves the event ids of their emissions, and acknowledges them. Safe to repeat.
-- KEYS: 1 lease, 2 settled runs (hash), then the five of `acknowledge` and the two of `reserve`
-- ARGV: 1 token, 2 how many claimed runs are left, 3 the step of `acknowledge`,
--       4 the field, 5 its JSON, then those of `reserve`
-- Returns: as ack-runs.lua, and the score of the first emission
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 0, -1, '', '0' } end
local known = redis.call('HGET', KEYS[2], ARGV[4])
local score = '0'
if known then
  score = string.match(known, '^%d+')
else
  if tonumber(ARGV[6]) > 0 then score = reserve({ KEYS[8], KEYS[9] }, { ARGV[6], ARGV[7], ARGV[8] }) end
  redis.call('HSET', KEYS[2], ARGV[4], score .. ' ' .. ARGV[5])
end
local result, report, owner = acknowledge({ unpack(KEYS, 3, 7) }, tonumber(ARGV[2]), tonumber(ARGV[3]))
return { result, report, owner, score }
