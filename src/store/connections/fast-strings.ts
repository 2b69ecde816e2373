import "ioredis";

/** V8 counts so many reads before it looks at the object that is read. */
const READS = 1000;

/**
 * ioredis has a class that extends String, after which V8 keeps `String.prototype` as a dictionary: each method of any string is
 * looked up at each call, and a loop over `charCodeAt` takes five times as long. Reads through an object below it make V8
 * store it as before. The effect is described in inikulin/parse5#1348; no issue of ioredis or V8 found (searched 2026-11-28). It goes
 * when `test/store/connections/fast-strings.test.ts` fails, because ioredis alone leaves strings fast.
 */
const below = Object.create(String.prototype) as string;
for (let read = 0; read < READS; read++) void below.charCodeAt;
