import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { ConfigError, readConfig } from "../../src/config.ts";
import { compileCheck } from "../../src/http/validate.ts";
import { hasWords } from "../../src/lib/schemas.ts";

/** Returns every pattern in a schema. */
function patternsIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "pattern" in schema && typeof schema.pattern === "string" ? [schema.pattern] : [];
  return [...own, ...Object.values(schema).flatMap(patternsIn)];
}

describe("what a text that does not match a pattern is told", () => {
  it("is in words for each pattern of the API", () => {
    const patterns = routes.flatMap(({ params, query, body }) => [params, query, body].flatMap(patternsIn));
    expect(patterns).not.to.deep.equal([]);
    expect([...new Set(patterns)].filter(pattern => !hasWords(pattern))).to.deep.equal([]);
  });

  it("is what an error of a request says", () => {
    const { body } = routes.find(({ id }) => id === "createConnection") ?? {};
    const [error] = compileCheck(body ?? {}, "body")({ app: "No Slug", fields: { a: "b" } });
    expect(error).to.include({ path: "app" });
    expect(error?.message).to.match(/^must be a slug: at most 64 lower-case letters/);
  });

  it("is what an error of a setting says", () => {
    const wrong = {
      REDIS_PREFIX: "A b",
      METRICS_TOKEN: "short",
      OIDC_SCOPES: 'openid email "',
      OIDC_ACCOUNTS: "perhaps",
      SECRETS_KEY: "§",
      PUBLIC_URL: "ftp://x",
      INGRESS_URL: "x",
      DELIVERY_RETRY_SCHEDULE: "soon",
      SWEEP_EVERY: "3 parsecs",
      LOG_LEVEL: "loud",
    };
    let message = "";
    try {
      readConfig({ MONGODB_URL: "mongodb://127.0.0.1/x", REDIS_URL: "redis://127.0.0.1", ...wrong });
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      ({ message } = error as Error);
    }
    for (const name of Object.keys(wrong)) expect(message).to.match(new RegExp(`(: |; )${name} must be `));
    expect(message).not.to.match(/pattern|has a wrong form/);
  });
});
