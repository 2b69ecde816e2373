-- Removes what the archive holds, unless anything of it has changed since it was read (event-snapshot.lua).
-- KEYS: those of `snapshot`
-- ARGV: 1 the digest, 2 version of the archive, 3 milliseconds for which that version is remembered
-- Returns: 1, or 0 if something has changed
local _, digest = snapshot(KEYS)
if digest ~= ARGV[1] then return 0 end
redis.call('DEL', unpack(KEYS, 2))
redis.call('SET', KEYS[1], 'archive ' .. ARGV[2], 'PX', ARGV[3])
return 1
