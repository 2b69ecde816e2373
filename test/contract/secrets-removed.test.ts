import { expect } from "chai";
import { publishComponent } from "../../src/components/components.ts";
import { Sources } from "../../src/models/source.ts";
import { type Webhook, Webhooks } from "../../src/models/webhook.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

const SECRET = "the-secret-of-this-test";

type Body = Record<string, unknown>;

/** A thing with a secret, which an update may send to somebody else. */
interface Case {
  /** Creates one, and returns its path. */
  make: () => Promise<string>;
  /** Updates after which the secret stays. */
  keeps: Body[];
  /** Updates that lead it to another server or to other code. */
  moves: Body[];
  /** The field of the update that gives the secret again. */
  again: (body: Body) => Body;
  /** The name by which the response names it. */
  name: string;
}

/** docs/rest-api.md#secrets-and-updates */
describe("a secret that is never shown", () => {
  let system: System;
  let api: Api & { userId: string };
  const cases: Record<string, Case> = {};

  const destination = (kind: string, settings: Body, name: string): Case => {
    const { url, ...others } = settings as { url: string };
    const { host } = new URL(url.replace(/^\w+/, "http"));
    const at = (address: string) => ({ [kind]: { url: url.replace(host, address) } });
    return {
      make: async () => {
        const body = { [kind]: { url, ...others, [name]: SECRET } };
        return `/destinations/${(await api.expect(201, "POST", "/destinations", { body })).id}`;
      },
      keeps: [{ [kind]: { url } }, { [kind]: { url: `${url}1` } }, { name: "renamed" }],
      moves: [at("elsewhere.example.com"), at(`${host}:4444`), at(`x.${host}`)],
      again: body => ({ [kind]: { ...(body[kind] as Body), [name]: SECRET } }),
      name,
    };
  };

  /** The secret that is stored, however it is. */
  async function stored(path: string): Promise<string> {
    const id = path.split("/").at(-1) ?? "";
    const source = await Sources(system.worker.mongo).findById(id).lean();
    const row = await Webhooks(system.worker.mongo).findById(id).lean<Webhook | null>();
    const sealed = source?.configured_props ?? row?.settings ?? row?.headers;
    return sealed ? system.worker.secrets.open(sealed) : "";
  }

  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    const stranger = await system.user();
    const code = (type: string, word: string, key: string) =>
      `export default { name: "Secretive", version: "0.0.1", type: "${type}", key: "${key}", props: {
        token: { type: "string", secret: true, optional: true }, acme: { type: "app", app: "acme", optional: true } },
        run() { return "${word}"; } };`;
    const save = async (by: Api, text: string) =>
      (await by.expect(201, "POST", "/components", { body: { component_code: text } })).id as string;
    const SECRETS = { token: SECRET };

    const url = "https://hooks.example.com/a";
    cases.webhook = {
      make: async () => {
        const options = { query: { url }, body: { headers: { "x-api-key": SECRET } } };
        return `/webhooks/${(await api.expect(201, "POST", "/webhooks", options)).id}`;
      },
      keeps: [{ url }, { url: "https://HOOKS.example.com:443/b?c=d" }, { name: "renamed" }],
      moves: [
        { url: "https://elsewhere.example.com/a" },
        { url: "http://hooks.example.com/a" },
        { url: "https://hooks.example.com:8443/a" },
        { url: "https://hooks.example.com.evil.example/a" },
      ],
      again: body => ({ ...body, headers: { "x-api-key": SECRET } }),
      name: "headers",
    };
    const redis = { url: "redis://redis.example.com/", stream: "s" };
    cases["Redis stream"] = destination("redis_stream", redis, "password");
    const amqp = { url: "amqp://broker.example.com/", queue: "q" };
    cases["RabbitMQ queue"] = destination("rabbitmq", amqp, "password");
    for (const type of ["source", "action"]) {
      const own = await save(api, code(type, "own", `own-${type}`));
      const other = await save(api, code(type, "other", `other-${type}`));
      const newer = await save(api, code(type, "newer", `own-${type}`));
      const foreign = await save(stranger, code(type, "foreign", `foreign-${type}`));
      await publishComponent(system.worker, foreign);
      const within = (body: Body): Body => (type === "source" ? body : { action: body });
      const path = type === "source" ? "/sources" : "/destinations";
      cases[type] = {
        make: async () => {
          const body = within({ component_id: own, configured_props: SECRETS });
          return `${path}/${(await api.expect(201, "POST", path, { body })).id}`;
        },
        keeps: [
          within({ component_id: own }),
          within({ component_code: code(type, "edited", `own-${type}`) }),
          within({ files: { "a/main.mjs": code(type, "edited again", `own-${type}`) }, entry: "a/main.mjs" }),
          { name: "renamed" },
        ],
        moves: [
          within({ component_id: other }),
          within({ component_id: newer }),
          within({ component_id: foreign }),
          within({ key: `foreign-${type}` }),
          within({ key: `other-${type}` }),
        ],
        again: body => {
          const given = (type === "source" ? body : body.action) as Body;
          return within({ ...given, configured_props: SECRETS });
        },
        name: "token",
      };
    }
  });
  after(() => system.stop());

  for (const kind of ["webhook", "Redis stream", "RabbitMQ queue", "source", "action"]) {
    it(`of a ${kind} stays where it is, and goes to no other server or code unless it is given again`, async () => {
      const { make, keeps, moves, again, name } = cases[kind] as Case;
      const path = await make();
      for (const body of keeps) {
        const updated = await api.expect(200, "PUT", path, { body });
        expect(updated.secrets_removed, JSON.stringify(body)).to.deep.equal([]);
        expect(await stored(path), JSON.stringify(body)).to.include(SECRET);
      }
      for (const body of moves) {
        const moved = await make();
        const updated = await api.expect(200, "PUT", moved, { body });
        expect(updated.secrets_removed, JSON.stringify(body)).to.deep.equal([name]);
        expect(await stored(moved), JSON.stringify(body)).not.to.include(SECRET);
        const given = await make();
        const second = await api.expect(200, "PUT", given, { body: again(body) });
        expect(second.secrets_removed, JSON.stringify(body)).to.deep.equal([]);
        expect(await stored(given), JSON.stringify(body)).to.include(SECRET);
      }
    });
  }

  it("of a bucket is asked for again with the address of another server", async () => {
    const url = "https://s3.example.com/bucket";
    const s3 = { url, region: "eu-central-1", access_key_id: "id", secret_access_key: SECRET };
    const { id } = await api.expect(201, "POST", "/destinations", { body: { s3 } });
    const update = (settings: Body) => api.request("PUT", `/destinations/${id}`, { body: { s3: settings } });
    const moved = { url: "https://elsewhere.example.com/bucket" };
    const { status, body } = await update(moved);
    expect([status, body.errors[0].path]).to.deep.equal([400, "s3.secret_access_key"]);
    expect((await update({ url: "https://s3.example.com/other" })).status).to.equal(200);
    expect((await update({ ...moved, secret_access_key: SECRET })).body.data.secrets_removed).to.deep.equal(
      [],
    );
  });

  it("that a component needs is asked for again with another component, and nothing has changed", async () => {
    const code = (word: string) => `export default { name: "Needs", version: "0.0.1", props: {
      token: { type: "string", secret: true } }, run() { return "${word}"; } };`;
    const source = await api.createSource({ component_code: code("a"), configured_props: { token: SECRET } });
    const other = await api.expect(201, "POST", "/components", { body: { component_code: code("b") } });
    const { status, body } = await api.request("PUT", `/sources/${source.id}`, {
      body: { component_id: other.id },
    });
    expect([status, body.errors[0].path]).to.deep.equal([400, "configured_props.token"]);
    expect(await api.expect(200, "GET", `/sources/${source.id}`)).to.deep.include({
      component_id: source.component_id,
      secrets_set: ["token"],
    });
  });

  it("of a connection stays with another component, because every member can name the connection again", async () => {
    const { id: authProvisionId } = await api.expect(201, "POST", "/connections", {
      body: { app: "acme", fields: { api_key: SECRET } },
    });
    const code = (word: string) => `export default { name: "Connected", version: "0.0.1", props: {
      acme: { type: "app", app: "acme" } }, run() { return "${word}"; } };`;
    const configured_props = { acme: { authProvisionId } };
    const source = await api.createSource({ component_code: code("a"), configured_props });
    const { id } = await api.expect(201, "POST", "/components", { body: { component_code: code("b") } });
    const updated = await api.expect(200, "PUT", `/sources/${source.id}`, { body: { component_id: id } });
    expect(updated).to.deep.include({ configured_props, secrets_removed: [] });
  });
});
