/** Work that waits for good reason, as at a slow endpoint, is checked by the sweeps ever less often, up to this. */
export const MAX_RECHECK_MS = 15 * 60_000;
