/** The channel on which an account emits its alerts; no other emitter has it (docs/alerts.md). */
export const ALERTS = "$alerts";

/** Returns true for the id of an account, a user's or an organization's, which emits nothing but alerts. */
export const isAccountId = (id: string): boolean => /^[uo]_[0-9A-Za-z]{16}$/.test(id);
