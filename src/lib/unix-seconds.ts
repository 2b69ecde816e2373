/** Unix seconds of Unix milliseconds, as `created_at` and `updated_at` hold them. */
export const unixSeconds = (ms: number): number => Math.floor(ms / 1000);
