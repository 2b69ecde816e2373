// runs-long: npm test has test/cli/apply/read-file.test.ts and test/secrets/compare.test.ts
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how a file refers to the environment
import { expect } from "chai";
import { type AppServer, connectTo, registerApp, startAppServer } from "../../connections/app-server.ts";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { type Applier, openApplier } from "./apply-file.ts";

const KEY = "k3y-of-the-environment";
const SOURCE = (app: string) => `export default { name: "Polls", version: "1",
  props: { account: { type: "app", app: "${app}" }, http: "$.interface.http" }, run() {} };`;

const FILE = `
project: shop
connections:
  weather:
    app: weather
    fields: { api_key: "\${WEATHER_KEY}" }
    events: { names: ["{{body.type}}"] }
sources:
  polls:
    file: ./polls.mjs
    props: { account: { authProvisionId: weather } }
`;

describe("headwater apply with connections", () => {
  let system: System;
  let server: AppServer;
  let api: Api & { userId: string };
  let env: Record<string, string>;
  let applier: Applier;
  before(async () => {
    system = await startSystem();
    server = await startAppServer(system.web.config.publicUrl);
    await registerApp(system.web, server);
  });
  beforeEach(async () => {
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey, WEATHER_KEY: KEY };
    applier = await openApplier(() => env, KEY);
    await applier.save("polls.mjs", SOURCE("weather"));
  });
  afterEach(() => applier.close());
  after(async () => {
    await server?.stop();
    await system?.stop();
  });
  const list = async (kind: string) => (await api.request("GET", `/users/me/${kind}`)).body.data;

  it("makes one of fields, gives it to the source that names it, and changes only what differs", async () => {
    const plan = await applier.applied(FILE, "--plan");
    expect(plan).to.include("+ connection shop/weather\n    app: weather\n    fields: api_key\n");
    await applier.applied(FILE);
    const [connection] = await list("connections");
    expect(connection).to.deep.include({ name: "shop/weather", kind: "keys", field_names: ["api_key"] });
    const [source] = await list("sources");
    expect(source.configured_props.account).to.deep.equal({ authProvisionId: connection.id });
    expect(await applier.applied(FILE)).to.equal("Nothing to change.\n");

    env.WEATHER_KEY = `${KEY}-2`;
    expect(await applier.planned(FILE)).to.deep.equal({
      "shop/weather": [{ field: "fields", to: "api_key" }],
    });
    await applier.applied(FILE);
    const more = FILE.replace('"}\n', '", region: "north" }\n').replace(
      '    events: { names: ["{{body.type}}"] }\n',
      "",
    );
    expect(await applier.planned(more)).to.deep.equal({
      "shop/weather": [{ field: "events", from: { names: ["{{body.type}}"] }, to: null }],
    });
    await applier.applied(more);
    expect(await applier.applied(more)).to.equal("Nothing to change.\n");
    expect((await list("connections"))[0]).to.deep.include({ id: connection.id, events: null });
  });

  it("says how its requests are verified, changes what differs of that, and leaves what it does not name", async () => {
    env.HOOK_SECRET = `${KEY}-verify`;
    const events = '    events: { names: ["{{body.type}}"] }\n';
    const verifying = (verify: string) => FILE.replace(events, `${events}    verify: ${verify}\n`);
    const shown = async () => (await list("connections"))[0].verify;
    const github = verifying('{ preset: github, secrets: ["${HOOK_SECRET}"] }');
    expect((await applier.planned(github))["shop/weather"]).to.deep.include.members([
      { field: "verify", to: { preset: "github" } },
      { field: "verify.secrets", to: ["${HOOK_SECRET}"] },
    ]);
    await applier.applied(github);
    expect(await shown()).to.include({ preset: "github", secrets: 1, reject_with: 401 });
    expect(await applier.applied(github)).to.equal("Nothing to change.\n");
    expect(await applier.applied(FILE), "left out").to.equal("Nothing to change.\n");
    expect(await applier.applied(verifying("{ preset: github }"))).to.equal("Nothing to change.\n");

    env.HOOK_SECRET = `${KEY}-next`;
    expect(await applier.planned(github)).to.deep.equal({
      "shop/weather": [{ field: "verify.secrets", to: ["${HOOK_SECRET}"] }],
    });
    await applier.applied(github);
    expect(await applier.applied(github)).to.equal("Nothing to change.\n");
    const other = verifying(`{ preset: github, secrets: [${KEY}-a, ${KEY}-b], reject_with: 403 }`);
    const [settings, secrets] = (await applier.planned(other))["shop/weather"] ?? [];
    expect(settings).to.deep.include({ field: "verify", to: { preset: "github", reject_with: 403 } });
    expect(secrets).to.deep.equal({ field: "verify.secrets", to: ["a secret", "a secret"] });
    await applier.applied(other);
    expect(await shown()).to.include({ reject_with: 403, secrets: 2 });
    await applier.applied(verifying("null"));
    expect(await shown()).to.equal(null);
    const unknown = await applier.apply(verifying("{ preset: nobody }"));
    expect(unknown.stderr).to.include("verify.preset: is not one of");
  });

  it("names the command for a consent, and uses the connection once it is there", async () => {
    const text = FILE.replace(/ {4}fields.*\n {4}events.*\n/, "").replace("app: weather", "app: demo");
    await applier.save("polls.mjs", SOURCE("demo"));
    const command = "headwater connection connect demo --name shop/weather";
    const plan = await applier.apply(text, "--plan", "--exit-code", "--json");
    expect(plan.code).to.equal(3);
    expect(JSON.parse(plan.stdout).consents).to.deep.equal([command]);
    const early = await applier.apply(text);
    expect(early.code).to.equal(1);
    expect(early.stderr)
      .to.include(`Needs a person's consent: ${command}\n`)
      .and.to.match(/create source shop\/polls: the connection weather is not there yet; 0 of 1/);
    const id = await connectTo(system.web, server, api.userId);
    await api.expect(200, "PUT", `/connections/${id}`, { body: { name: "shop/weather" } });
    await applier.applied(text);
    expect((await list("sources"))[0].configured_props.account).to.deep.equal({ authProvisionId: id });
    expect(await applier.applied(text)).to.equal("Nothing to change.\n");
    const keyed = await applier.apply(FILE.replace("app: weather", "app: demo"));
    expect(keyed.stderr).to.match(/connections\.weather\.fields: apn_\w+ of that name is of kind oauth2/);
    const other = await applier.apply(text.replace("app: demo", "app: other"));
    expect(other.stderr).to.match(/connections\.weather\.app: apn_\w+ of that name is one of demo/);
  });

  it("deletes it after what uses it, and names one that the file does not have", async () => {
    await applier.applied(FILE);
    const kept = await applier.apply("project: shop\n");
    expect(kept.stderr).to.include("connection shop/weather");
    await applier.applied("project: shop\n", "--prune", "--yes");
    expect(await list("connections")).to.deep.equal([]);
    const lost = await applier.apply(FILE.replace("authProvisionId: weather", "authProvisionId: wheather"));
    expect(lost.stderr).to.match(
      /sources\.polls\.props\.account\.authProvisionId: there is no connection wheather/,
    );
  });
});
