/** Slots of a Redis Cluster. */
export const SLOTS = 16_384;

/** Returns the slot of a key, as Redis Cluster computes it: CRC-16 (XMODEM) of its hash tag, or of all of it. */
export function slotOf(key: string): number {
  return crc16(Buffer.from(tagOf(key) ?? key)) % SLOTS;
}

/** Returns what stands between a key's first braces; undefined if there are none, or nothing between them. */
export function tagOf(key: string): string | undefined {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1];
}

function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}
