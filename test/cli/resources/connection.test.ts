// runs-long: npm test has test/connections and test/cli/resources/subscription.test.ts

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Connections } from "../../../src/models/connection.ts";
import { APP_CLIENT, type AppServer, CookieBrowser, startAppServer } from "../../connections/app-server.ts";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { environmentOf } from "../../workers/worker-process.ts";
import { commandsWith, headwater, withInput } from "../command.ts";

const KEY = "a-key-of-the-weather";

describe("headwater app and connection", () => {
  let system: System;
  let server: AppServer;
  let api: Api & { userId: string };
  let env: Record<string, string>;
  let folder: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    server = await startAppServer(system.web.config.publicUrl);
    api = await system.user();
    env = {
      ...environmentOf(system.web.config),
      HEADWATER_URL: system.baseUrl,
      HEADWATER_API_KEY: api.apiKey,
    };
    folder = await mkdtemp(join(tmpdir(), "headwater-connection-"));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await server?.stop();
    await system?.stop();
  });

  const { printed, json, failure, misuse } = commandsWith(() => env);
  const settings = () => [
    ...[
      "--authorize-url",
      `${server.url}/auth`,
      "--token-url",
      `${server.url}/token`,
      "--issuer",
      server.url,
    ],
    ...["--client-id", APP_CLIENT.id, "--scopes", "read offline_access", "--param", "login_hint=somebody"],
  ];
  async function fields(value: unknown): Promise<string> {
    const path = join(folder, "fields.json");
    await writeFile(path, JSON.stringify(value));
    return path;
  }

  it("registers an app with a secret from the standard input, which nothing shows", async () => {
    const args = ["app", "set", "demo", "--name", "Demo", ...settings()];
    const { code, stdout, stderr } = await withInput(args, env, APP_CLIENT.secret);
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.include({
      slug: "demo",
      client_id: APP_CLIENT.id,
      has_client_secret: true,
    });
    const listed = await printed("app", "list");
    expect(JSON.parse(listed).map(({ slug }: { slug: string }) => slug)).to.deep.equal(["demo"]);
    expect(stdout + stderr + listed).not.to.include(APP_CLIENT.secret);
    expect(await printed("connection", "apps")).to.match(/^demo +Demo +read offline_access$/m);
    const none = await withInput(args, env, "");
    expect([none.code, none.stderr]).to.deep.equal([
      1,
      "headwater: client secret: nothing was given on the standard input\n",
    ]);
  });

  it("says which setting of an app is wrong or absent", async () => {
    const wrong = settings().map(word => (word === `${server.url}/token` ? "ftp://example.com" : word));
    expect(await failure("app", "set", "other", "--public", ...wrong)).to.match(/token/i);
    const absent = await headwater(["app", "set", "other", "--public"], env);
    expect([absent.code, absent.stderr]).to.deep.equal([2, absent.stderr]);
    expect(absent.stderr).to.include("--authorize-url");
    const param = await headwater(["app", "set", "other", "--public", ...settings(), "--param", "x"], env);
    expect([param.code, param.stderr.includes("must be name=value")]).to.deep.equal([2, true]);
    expect(await failure("app", "delete", "absent", "--yes")).to.include("app not found");
  });

  it("asks for an app's consent, shows the connection without its tokens, and asks again", async () => {
    const asked = await json("connection", "connect", "demo", "--name", "Mine");
    expect(await failure("connection", "show", asked.connection_id)).to.include("connection not found");
    const agree = async (url: string) => {
      const browser = new CookieBrowser();
      await browser.request(await browser.consent(await browser.agree(url)));
    };
    await agree(asked.url);
    const shown = await printed("connection", "show", asked.connection_id);
    expect(shown)
      .to.match(/^name +Mine$/m)
      .and.to.match(/^kind +oauth2$/m)
      .and.to.match(/^health +working$/m)
      .and.to.match(/^token ends +20\S+Z$/m);
    const again = await headwater(["connection", "reconnect", asked.connection_id], env);
    expect(again.stderr).to.include(asked.connection_id);
    await agree(again.stdout.trim());
    const earlier = { $set: { renewed_at_ms: Date.now() - 60_000 } };
    await Connections(system.web.mongo).updateOne({ _id: asked.connection_id }, earlier);
    await system.web.routing.invalidate([api.userId]);
    expect(await printed("connection", "renew", asked.connection_id)).to.match(/^health +working$/m);
    expect(server.grants.at(-1)).to.equal("refresh_token");
    const listed = await printed("connection", "list", "--ids");
    expect(listed).to.match(new RegExp(`^Mine +${asked.connection_id} +demo +working`, "m"));
    expect(server.issued).to.have.length.above(2);
    for (const secret of server.issued) expect(shown + listed + again.stdout).not.to.include(secret);
    expect(await failure("connection", "connect", "absent")).to.match(/app/);
  });

  it("opens private addresses to a connection for operators, shows them and closes them", async () => {
    const made = await json("connection", "create", "database", "--fields", await fields({ url: KEY }));
    const command = ["connection", "private-addresses", made.id];
    expect(await failure(...command)).to.include("only an operator may do this");
    await printed("user", "operator", api.userId);
    const opened = await printed(...command, "--open", "10.0.0.5:5432", "--open", "DB.internal:5432");
    expect(opened).to.match(/^open +10\.0\.0\.5:5432, db\.internal:5432$/m);
    expect(await printed("connection", "show", made.id)).to.match(/^private addresses +10\.0\.0\.5:5432/m);
    expect(await failure(...command, "--open", "10.0.0.0/8")).to.include("must be host:port");
    expect(await misuse(...command, "--none", "--open", "10.0.0.5:1")).to.include("--none");
    expect(await printed(...command, "--none")).to.match(/^open +none$/m);
  });

  it("makes a connection of fields in a file, replaces them, and shows their names only", async () => {
    const made = await json("connection", "create", "weather", "--fields", await fields({ api_key: KEY }));
    expect(made).to.deep.include({ app: "weather", kind: "keys", field_names: ["api_key"] });
    const file = await fields({ api_key: KEY, region: "north" });
    const changed = await printed("connection", "update", made.id, "--fields", file, "--name", "Weather");
    expect(changed)
      .to.match(/^name +Weather$/m)
      .and.to.match(/^fields +api_key, region$/m)
      .and.not.to.include(KEY);
    expect(await misuse("connection", "update", made.id)).to.include("nothing to change");
    expect(await failure("connection", "create", "weather", "--fields", await fields([KEY])))
      .to.include("must contain an object: fields by name")
      .and.not.to.include(KEY);
    expect(await failure("connection", "create", "weather", "--fields", await fields({ "a b": KEY })))
      .to.include("fields.a b")
      .and.not.to.include(KEY);
    expect(await printed("connection", "delete", made.id, "--yes")).to.include(`${made.id} was deleted here`);
    expect(await failure("connection", "show", made.id)).to.include("connection not found");
  });

  it("says how the events of an app are read, for the app or for one connection, and shows it", async () => {
    const rules = [
      ...["--event-name", "{{body.type}}", "--event-name", "{{body.type}}:{{body.room}}"],
      ...["--event", "{{body.event}}", "--challenge", "{{body.challenge}}"],
    ];
    const set = ["app", "set", "chat", "--public", ...settings()];
    const { events } = JSON.parse(await printed(...set, ...rules));
    expect(events).to.deep.equal({
      names: ["{{body.type}}", "{{body.type}}:{{body.room}}"],
      event: "{{body.event}}",
      challenge: "{{body.challenge}}",
    });
    expect(await failure(...set, "--event-name", "push")).to.include("events.names[0]");
    const [app] = (await json("connection", "apps")).filter(({ slug }: { slug: string }) => slug === "chat");
    expect(app.events).to.deep.equal(events);

    const file = await fields({ token: KEY });
    const create = ["connection", "create", "chat", "--fields", file];
    const made = await json(...create, "--event-name", "{{headers.x-event}}");
    expect(made.events).to.deep.equal({ names: ["{{headers.x-event}}"] });
    expect(await failure(...create, "--challenge", "none")).to.include("events.challenge");
    expect(await printed("connection", "show", made.id))
      .to.match(/^event names +\{\{headers\.x-event\}\}$/m)
      .and.to.match(/^event +\{\{body\}\}$/m);
    const update = ["connection", "update", made.id];
    expect(await printed(...update, ...rules))
      .to.match(/^event names +\{\{body\.type\}\}, \{\{body\.type\}\}:\{\{body\.room\}\}$/m)
      .and.to.match(/^challenge +\{\{body\.challenge\}\}$/m);
    expect(await misuse(...update, "--app-events", "--event", "{{body}}")).to.include("--app-events: goes");
    expect((await json(...update, "--app-events")).events).to.equal(null);
    expect(await printed("connection", "show", made.id)).not.to.match(/^event/m);
    expect(await failure("connection", "rotate-endpoint", made.id)).to.include("has no endpoint");
    expect(await failure("connection", "renew", made.id)).to.include("has fields, no token");
    await Connections(system.web.mongo).updateOne({ _id: made.id }, { $set: { endpoint: "a".repeat(32) } });
    const rotated = (await printed("connection", "rotate-endpoint", made.id)).trim();
    expect(rotated).to.include(`/in/${made.id}-`);
    expect(await printed("connection", "show", made.id))
      .to.match(/^events arrive at +http/m)
      .and.to.include(rotated);
    await printed("app", "delete", "chat", "--yes");
  });

  it("deletes a connection that is in use only with --force, and an app", async () => {
    const { id } = await json("connection", "create", "weather", "--fields", await fields({ api_key: KEY }));
    const action = {
      component_code:
        'export default { name: "A", version: "1", type: "action", props: { w: { type: "app", app: "weather" } }, run() {} };',
      configured_props: { w: { authProvisionId: id } },
    };
    const { id: user } = await api.expect(201, "POST", "/destinations", { body: { action } });
    expect(await failure("connection", "delete", id, "--yes")).to.include(user);
    const other = { ...env, HEADWATER_API_KEY: (await system.user()).apiKey };
    expect((await headwater(["connection", "delete", id, "--force", "--yes"], other)).stderr).to.include(
      "not found",
    );
    await printed("connection", "delete", id, "--force", "--yes");
    expect(await printed("app", "delete", "demo", "--yes")).to.match(/1/);
    expect(JSON.parse(await printed("app", "list"))).to.deep.equal([]);
  });
});
