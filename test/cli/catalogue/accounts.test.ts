import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  type Outcome,
  reportJson,
  reportText,
  type Stop,
  stopOf,
} from "../../../src/cli/catalogue/report.ts";
import { readAccounts } from "../../../src/cli/catalogue/values.ts";
import { rejection } from "../../components/rejection.ts";

const ran = (cause?: string): Outcome => ({
  at: `${cause ?? "ok"}.mjs`,
  key: null,
  described: { result: "ok" },
  deployed: { result: "ok" },
  ran: cause === undefined ? { result: "ok" } : { result: "failed", cause },
});

describe("a catalogue with made-up accounts", () => {
  let path: string;
  before(async () => {
    path = join(await mkdtemp(join(tmpdir(), "accounts-")), "accounts.json");
  });
  after(() => rm(join(path, ".."), { recursive: true, force: true }));

  async function read(text: string) {
    await writeFile(path, text);
    return await readAccounts(path);
  }

  it("makes up the account of each app and a value of each prop that needs one", async () => {
    const { valuesOf } = await read('{"shop": {"api_key": "given", "n": 1}}');
    const props = [
      { name: "shop", type: "app", app: "shop" },
      { name: "other", type: "app", app: "constructor" },
      { name: "text", type: "string" },
      { name: "chosen", type: "string", options: [{ label: "A", value: "a" }] },
      { name: "texts", type: "string[]" },
      { name: "numbers", type: "integer[]", min: 5 },
      { name: "flag", type: "boolean" },
      { name: "channel", type: "$.discord.channel" },
      { name: "timer", type: "$.interface.timer" },
      { name: "db", type: "$.service.db" },
      { name: "free", type: "string", optional: true },
      { name: "usual", type: "string", default: "x" },
    ];
    const values = valuesOf(props as unknown as Parameters<typeof valuesOf>[0]) as Record<
      string,
      { $auth: object }
    >;
    expect(values.shop?.$auth).to.include({ api_key: "given", n: 1, oauth_access_token: "made-up" });
    expect(values.other?.$auth).to.include({ api_key: "made-up", base_url: "https://example.com" });
    const { shop, other, ...rest } = values;
    expect(rest).to.deep.equal({
      ...{ text: "made-up", chosen: "a", texts: ["made-up"], numbers: [5], flag: false },
      channel: "made-up",
    });
  });

  const WRONG: [text: string, problem: RegExp][] = [
    ["{", /accounts\.json is not JSON/],
    ["[]", /--accounts: .*accounts\.json must contain an object/],
    ['{"shop": "key"}', /--accounts: .*: shop must be an object: the fields of \$auth/],
    ['{"shop": {"key": {"deep": 1}}}', /--accounts: .*: shop\.key must be a text, a number or a boolean/],
    ['{"shop": {"key": null}}', /: shop\.key must be/],
  ];
  for (const [text, problem] of WRONG) {
    it(`names the field that is wrong: ${text}`, async () => {
      expect((await rejection(read(text))).message).to.match(problem);
    });
  }

  const STOPS: [cause: string | undefined, stop: Stop][] = [
    [undefined, "end"],
    ["Error: connect EACCES api.example.com:443 (there is no network)", "network"],
    ["TypeError: fetch failed (caused by connect EACCES a.example:443 (there is no network))", "network"],
    ["Error: getaddrinfo ENOTFOUND a.example", "network"],
    ["TypeError: Cannot read properties of undefined (reading 'id') (at a.mjs:3:4)", "own_code"],
    ["Timeout: The component ran longer than 300000 ms", "timeout"],
    ["took more than 120 s", "timeout"],
    ['NotCapable: "/x.mjs" is not with the component: files that', "platform"],
    ["Out of Memory: The component exceeded its memory limit", "platform"],
    [
      'ConfigurationError: The prop "store" has the type data_store, a service that Headwater does not provide',
      "platform",
    ],
  ];
  for (const [cause, stop] of STOPS) {
    it(`says where it stops: ${stop}, ${cause ?? "without an error"}`, () => {
      expect(stopOf(ran(cause))).to.equal(stop);
    });
  }

  it("reports how many stopped where, and the causes of those that stopped elsewhere than at the network", () => {
    const outcomes = STOPS.map(([cause]) => ran(cause));
    const needy: Outcome = { ...ran(), at: "needy.mjs", ran: { result: "needs_props", cause: "word" } };
    const report = reportJson([...outcomes, needy], 11, true) as {
      stops: object;
      outcomes: { stop: Stop }[];
    };
    expect(report.stops).to.deep.equal({
      end: 1,
      network: 3,
      own_code: 1,
      platform: 3,
      timeout: 2,
      not_run: 1,
    });
    expect(report.outcomes.map(({ stop }) => stop)).to.deep.equal([
      ...STOPS.map(([, stop]) => stop),
      "not_run",
    ]);
    const text = reportText([...outcomes, needy], 11, true);
    expect(text)
      .to.match(/^Where they stopped$/m)
      .and.match(/^network +3$/m)
      .and.match(/^own code +1$/m);
    expect(text)
      .to.match(/^Failed at run: 6$/m)
      .and.not.include("no network");
    expect(reportText(outcomes, 10, false)).not.to.include("Where they stopped");
    expect(reportJson(outcomes, 10, false)).not.to.have.property("stops");
  });
});
