-- KEYS: 1 place of the emitter's events, 2 drops (hash)
-- Returns: the place, or ''; then reason and count
local reply = redis.call('HGETALL', KEYS[2])
table.insert(reply, 1, redis.call('GET', KEYS[1]) or '')
return reply
