-- Notes that the routing of some accounts has changed.
-- KEYS: 1 version ('<epoch>-<changes since the epoch>'), 2 changed accounts (list, newest first)
-- ARGV: 1 a new epoch, for a version that is absent, 2 most changes kept, 3 and on: accounts
local epoch, count = string.match(redis.call('GET', KEYS[1]) or '', '^(.*)-(%d+)$')
if not epoch then
  epoch, count = ARGV[1], '0'
  redis.call('DEL', KEYS[2])
end
for i = 3, #ARGV do redis.call('LPUSH', KEYS[2], ARGV[i]) end
redis.call('LTRIM', KEYS[2], 0, tonumber(ARGV[2]) - 1)
redis.call('SET', KEYS[1], string.format('%s-%d', epoch, tonumber(count) + #ARGV - 2))
return 1
