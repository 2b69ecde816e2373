-- Returns what has changed since a version of the routing.
-- KEYS: 1 version ('<epoch>-<changes since the epoch>'), 2 changed accounts (list, newest first)
-- ARGV: 1 the version that the caller knows
-- Returns: the version now; 1 if it is not known what changed, else 0; then the accounts that changed
local current = redis.call('GET', KEYS[1]) or ''
local epoch, count = string.match(current, '^(.*)-(%d+)$')
local knownEpoch, known = string.match(ARGV[1], '^(.*)-(%d+)$')
if not epoch or epoch ~= knownEpoch then return { current, 1 } end
local changes = tonumber(count) - tonumber(known)
if changes < 0 or changes > redis.call('LLEN', KEYS[2]) then return { current, 1 } end
if changes == 0 then return { current, 0 } end
return { current, 0, unpack(redis.call('LRANGE', KEYS[2], 0, changes - 1)) }
