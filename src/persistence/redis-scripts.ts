import { createHash } from "node:crypto";

export interface RedisScript {
  text: string;
  sha: string;
}

const toScript = (text: string): RedisScript => ({
  text,
  sha: createHash("sha1").update(text).digest("hex"),
});

/**
 * Commits a change set of one sandbox if its sender still owns the sandbox (the fence of interfaces.md 15).
 *
 * KEYS: lease, rows. ARGV: mode, epoch, number of the last commit, number and id of
 * this one, session, node url, then each change as three words: `p` field text, `r` field "", `c` prefix "".
 *
 * `new` creates the sandbox, `more` changes it, `whole` replaces it, `gone` removes it. Redis refuses the
 * first write if it has no free memory, so a refusal never leaves a part of the changes.
 */
export const COMMIT = toScript(`
local lease, rows = KEYS[1], KEYS[2]
local mode, epoch = ARGV[1], tonumber(ARGV[2])
local stored = redis.call('HMGET', lease, 'epoch', 'number', 'commit')
local stored_epoch = tonumber(stored[1] or '0')
if stored[3] == ARGV[5] then return {'OK', stored_epoch} end
if mode == 'new' then
  if redis.call('EXISTS', rows) == 1 then return {'TAKEN', stored_epoch} end
  epoch = stored_epoch + 1
else
  if stored_epoch > epoch then return {'FENCED', stored_epoch} end
  if stored_epoch < epoch then return {'LOST', stored_epoch} end
  if mode == 'more' and stored[2] ~= ARGV[3] then return {'BEHIND', stored_epoch} end
end
if mode == 'gone' then
  redis.call('UNLINK', rows)
  redis.pcall('HSET', lease, 'epoch', epoch + 1, 'number', '', 'commit', ARGV[5], 'session', '')
  redis.call('EXPIRE', lease, 3600)
  return {'OK', epoch + 1}
end
redis.call('HSET', lease, 'epoch', epoch, 'number', ARGV[4], 'commit', ARGV[5], 'session', ARGV[6], 'url', ARGV[7])
if mode ~= 'more' then
  redis.call('PERSIST', lease)
  redis.call('UNLINK', rows)
end
for i = 8, #ARGV, 3 do
  local action, field = ARGV[i], ARGV[i + 1]
  if action == 'p' then
    redis.call('HSET', rows, field, ARGV[i + 2])
  elseif action == 'r' then
    redis.call('HDEL', rows, field)
  else
    for _, stored_field in ipairs(redis.call('HKEYS', rows)) do
      if string.sub(stored_field, 1, #field) == field then redis.call('HDEL', rows, stored_field) end
    end
  end
end
return {'OK', epoch}
`);

/**
 * Takes a sandbox over (interfaces.md 15): one of several claimants gets it, and commits of older epochs are refused from then on.
 * KEYS: lease, rows. ARGV: epoch and session that were read, session, node url.
 */
export const CLAIM = toScript(`
local lease, rows = KEYS[1], KEYS[2]
if redis.call('EXISTS', rows) == 0 then return {'NONE'} end
local stored = redis.call('HMGET', lease, 'epoch', 'session', 'number')
local stored_epoch = stored[1] or '0'
if stored_epoch ~= ARGV[1] or (stored[2] or '') ~= ARGV[2] then return {'HELD'} end
redis.call('HSET', lease, 'epoch', tonumber(stored_epoch) + 1, 'session', ARGV[3], 'url', ARGV[4])
return {'OK', tonumber(stored_epoch) + 1, stored[3] or ''}
`);

/** Leaves a sandbox without an owner, if its claimant still owns it. KEYS: lease, rows. ARGV: epoch. */
export const RELEASE = toScript(`
if redis.call('HGET', KEYS[1], 'epoch') == ARGV[1] then redis.call('HSET', KEYS[1], 'session', '') end
return {'OK'}
`);

/**
 * An owner whose lease had expired reclaims its sandbox, unless another node has taken it over. A call whose answer was
 * lost may be repeated. If Redis restarted and lost data (`restarted`), the owner has the newer state. KEYS: lease, rows.
 * ARGV: epoch, lost session, session, node url, restarted.
 */
export const RECLAIM = toScript(`
local lease, rows = KEYS[1], KEYS[2]
local stored = redis.call('HMGET', lease, 'epoch', 'session', 'number')
local stored_epoch, own_epoch = tonumber(stored[1] or '0'), tonumber(ARGV[1])
local is_owner = stored_epoch == own_epoch and stored[2] == ARGV[2] and redis.call('EXISTS', rows) == 1
local was_reclaimed = stored[2] == ARGV[3]
if not is_owner and not was_reclaimed and not (stored_epoch < own_epoch and ARGV[5] == '1') then return {'FENCED', stored_epoch} end
redis.call('HSET', lease, 'epoch', own_epoch + 1, 'session', ARGV[3], 'url', ARGV[4])
return {'OK', own_epoch + 1, stored[3] or ''}
`);

/** Extends a node's session, if it is still this one; 0 ends it (interfaces.md 15). KEYS: node. ARGV: session, ms. */
export const RENEW = toScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/**
 * Milliseconds since the first node saw this run of Redis. After a restart, Redis may have lost data, which owners
 * restore; the first run has lost none, and counts from 1970. KEYS: run. ARGV: Redis's own id of the run.
 */
export const RUN_AGE = toScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored = redis.call('HMGET', KEYS[1], 'id', 'since')
if stored[1] == ARGV[1] then return now - stored[2] end
local since = stored[1] and now or 0
redis.pcall('HSET', KEYS[1], 'id', ARGV[1], 'since', since)
return now - since
`);

export const REDIS_SCRIPTS: readonly RedisScript[] = [COMMIT, CLAIM, RELEASE, RECLAIM, RENEW, RUN_AGE];
