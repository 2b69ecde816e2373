import { newId } from "../src/lib/ids.ts";
import { Webhooks } from "../src/models/webhook.ts";
import type { Api } from "../test/support/api.ts";
import { startSystem } from "../test/support/system.ts";

const ROWS = 1_000_000;
const BATCH = 20_000;
const CALLS = 15;

/** Returns the milliseconds of the first call, and the median of all calls. */
async function timesOf(api: Api, query: Record<string, string | number>) {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const startedAt = performance.now();
    await api.expect(200, "GET", "/users/me/webhooks", { query: { limit: 100, ...query } });
    times.push(performance.now() - startedAt);
  }
  const [first = 0] = times;
  const median = [...times].sort((a, b) => a - b)[Math.floor(CALLS / 2)] ?? 0;
  return { first, median };
}

/** Measures pages of 100 from a list of a million rows, and of a list of a hundred for comparison. */
export async function measureLongList(): Promise<void> {
  const system = await startSystem({ RATE_LIMITS: "api:0" }, { workers: false });
  const [long, short] = [await system.user(), await system.user()];
  const startMs = Date.now() - ROWS;
  const row = (atMs: number, owner: string) => ({
    _id: newId("wh", atMs),
    owner_id: owner,
    user_id: owner,
    name: null,
    description: null,
    url: "https://example.com/",
    active: true,
    disabled_reason: null,
    signing_keys: [],
    headers: null,
    header_names: [],
    failing_since_ms: null,
    created_at: 1,
    updated_at: 1,
  });
  const rows = (from: number, count: number, owner: string) =>
    Webhooks(system.web.mongo).collection.insertMany(
      Array.from({ length: count }, (_, i) => row(from + i, owner)) as never,
    );
  await rows(startMs, 100, short.userId);
  for (let at = 0; at < ROWS; at += BATCH) await rows(startMs + at, BATCH, long.userId);
  const cursor = (atMs: number) => Buffer.from(newId("wh", atMs)).toString("base64url");
  const base = await timesOf(short, {});
  for (const [what, query] of [
    ["first page", {}],
    ["middle page", { after: cursor(startMs + ROWS / 2) }],
    ["page before the middle", { before: cursor(startMs + ROWS / 2) }],
    ["last page", { after: cursor(startMs + 100) }],
  ] as const) {
    const { first, median } = await timesOf(long, query);
    const ratio = (median / base.median).toFixed(1);
    console.log(
      `${`list of ${ROWS}, ${what}`.padEnd(42)} first ${first.toFixed(0)} ms   ` +
        `median ${median.toFixed(1)} ms   ${ratio} × a list of 100`,
    );
  }
  await system.stop();
}
