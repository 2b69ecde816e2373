/**
 * Does what an action does, and returns what that returns. `db` remembers until when a vendor asked to wait: attempts until then
 * fail without asking the vendor again.
 */
export async function waitAsAsked(db, act) {
  const until = db.get("wait_until_ms") ?? 0;
  if (Date.now() < until)
    throw new Error(`nothing is sent until ${new Date(until).toISOString()}, as an attempt before was told`);
  try {
    return await act();
  } catch (error) {
    if (error.retryAfterMs) db.set("wait_until_ms", Date.now() + error.retryAfterMs);
    throw error;
  }
}
