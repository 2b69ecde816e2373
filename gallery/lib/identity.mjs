import { createHash } from "node:crypto";

/** Returns a short name of a text, of which a db of 60 KB holds thousands: 66 bits, so that two texts do not share one. */
export const shortHash = text => createHash("sha256").update(text).digest("base64url").slice(0, 11);

/** Returns the first `most` of these names, each once. */
export const firstOf = (names, most) => [...new Set(names)].slice(0, most);
