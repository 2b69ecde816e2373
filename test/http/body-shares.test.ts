import { expect } from "chai";
import type { Context } from "koa";
import { BodyShares } from "../../src/http/body-shares.ts";
import { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";

const MB = 1024 * 1024;
const request = (headers: Record<string, string>) => ({ req: { headers } }) as unknown as Context;
const plain = (bytes: number) => request({ "content-length": String(bytes) });

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    expect((error as AppError).retryAfterMs).to.be.above(0);
    return error instanceof AppError ? error.code : "?";
  }
}

describe("large bodies", () => {
  it("of a user are bounded at once, and free again when their requests are done", () => {
    const bodies = new BodyShares();
    const acquire = (user: string) => bodies.acquire(plain(5 * MB), user, 5 * MB);
    const most = LIMITS.publishedBytesInFlightOfUser.value / (5 * MB);
    const [release] = Array.from({ length: most }, () => acquire("u_a"));
    expect(codeOf(() => acquire("u_a"))).to.equal("rate-limited");
    expect(codeOf(() => acquire("u_b"))).to.equal(undefined);
    release?.();
    expect(codeOf(() => acquire("u_a"))).to.equal(undefined);
  });

  it("of all users are bounded", () => {
    const bodies = new BodyShares();
    const most = LIMITS.publishedBytesInFlight.value / (5 * MB);
    for (let i = 0; i < most; i++) bodies.acquire(plain(5 * MB), `u_${i}`, 5 * MB);
    expect(codeOf(() => bodies.acquire(plain(5 * MB), "u_x", 5 * MB))).to.equal("unavailable");
    expect(
      codeOf(() => bodies.acquire(plain(1024), "u_x", 5 * MB)),
      "a small one",
    ).to.equal(undefined);
  });

  it("count in full if their length is not known: compressed, or sent in chunks", () => {
    const unknown: Record<string, string>[] = [
      { "content-length": "100", "content-encoding": "gzip" },
      { "transfer-encoding": "chunked" },
    ];
    for (const headers of unknown) {
      const bodies = new BodyShares();
      for (let i = 0; i < 4; i++) bodies.acquire(request(headers), "u_a", 5 * MB);
      expect(codeOf(() => bodies.acquire(request(headers), "u_a", 5 * MB))).to.equal("rate-limited");
    }
  });
});
