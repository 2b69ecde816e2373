import { expect } from "chai";
import type { Model } from "mongoose";
import { routes } from "../../src/app.ts";
import { heedsIfMatch } from "../../src/http/preconditions.ts";
import { Connections } from "../../src/models/connection.ts";
import { Sources } from "../../src/models/source.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { type Webhook, Webhooks } from "../../src/models/webhook.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { noteFailure, noteSuccess } from "../../src/webhooks/health.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { type Owner, THINGS, type World } from "./things.ts";

/** Two changes of different fields of a thing; the field that each sets. */
interface Case {
  path: string;
  rows: (world: World) => Model<{ _id: string }>;
  first: [body: object, field: string];
  second: [body: object, field: string];
}

const rowsIn = (collection: unknown) => (world: World) =>
  (collection as typeof Webhooks)(world.system.worker.mongo) as unknown as Model<{ _id: string }>;
const labels = {
  first: [{ name: "first" }, "name"],
  second: [{ description: "second" }, "description"],
} as const;

/** By what the access rule of their routes calls them. */
const CASES: Record<string, Case> = {
  webhook: { path: "/webhooks", rows: rowsIn(Webhooks), ...structuredClone(labels) } as Case,
  destination: { path: "/destinations", rows: rowsIn(Webhooks), ...structuredClone(labels) } as Case,
  source: {
    path: "/sources",
    rows: rowsIn(Sources),
    first: [{ name: "first" }, "name"],
    second: [{ configured_props: { city: "Bern" } }, "configured_props"],
  },
  subscription: {
    path: "/subscriptions",
    rows: rowsIn(Subscriptions),
    first: [{ filter: { a: 1 } }, "filter"],
    second: [{ function: "export default event => event;" }, "function"],
  },
  connection: {
    path: "/connections",
    rows: rowsIn(Connections),
    first: [{ name: "first" }, "name"],
    second: [{ events: { names: ["{{body.type}}"] } }, "events"],
  },
  workflow: {
    path: "/workflows",
    rows: rowsIn(Workflows),
    first: [{ name: "first" }, "name"],
    second: [{ name: "second" }, "name"],
  },
};

/** docs/rest-api.md#revisions */
describe("the revision of a resource", () => {
  let world: World;
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let owner: Owner;

  before(async () => {
    receiver = await startReceiver();
    system = await startSystem();
    world = { system, receiver };
    api = await system.user();
    owner = { api };
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const put = (path: string, body: object, ifMatch?: string) =>
    api.request("PUT", path, { body, ...(ifMatch !== undefined && { headers: { "if-match": ifMatch } }) });
  const make = async (what: string) => `${CASES[what]?.path}/${await THINGS[what]?.make(world, owner)}`;

  it("is counted for everything that a PUT with a path of its own changes", () => {
    const changed = routes.filter(({ method, access }) => method === "PUT" && access.kind === "resource");
    const heeding = changed.filter(heedsIfMatch).map(({ access }) => "what" in access && access.what);
    expect(heeding).to.have.members(Object.keys(CASES));
    // The state of an issue is all that is ever changed of it: who sets it says what it is, whatever it was.
    expect(changed.filter(route => !heedsIfMatch(route)).map(({ path }) => path)).to.deep.equal([
      "/issues/{id}",
    ]);
  });

  for (const [what, { rows, first, second }] of Object.entries(CASES)) {
    describe(`of a ${what}`, () => {
      it("is the ETag of every response with it, and grows with each change", async () => {
        const path = await make(what);
        const found = await api.request("GET", path);
        expect(found.headers.get("etag")).to.equal('"1"');
        expect(found.body.data.revision).to.equal(1);
        for (const [i, [body]] of [first, second].entries()) {
          const changed = await put(path, body);
          expect(changed.status, changed.text).to.equal(200);
          expect(changed.headers.get("etag")).to.equal(`"${i + 2}"`);
          expect(changed.body.data.revision).to.equal(i + 2);
        }
        expect((await api.request("GET", path)).headers.get("etag")).to.equal('"3"');
      });

      it("is required by If-Match, and the problem names what was changed since", async () => {
        const path = await make(what);
        expect((await put(path, first[0], '"1"')).status).to.equal(200);
        const stale = await put(path, second[0], '"1"');
        expect(stale.status).to.equal(412);
        expect(stale.body).to.deep.include({
          type: "/docs/errors#precondition-failed",
          revision: 2,
          changed: [first[1]],
        });
        expect(stale.body.detail).to.include(first[1]);
        expect((await api.request("GET", path)).body.data.revision).to.equal(2);
        for (const tag of ['"1", "2"', 'W/"3"', "*"]) {
          expect((await put(path, second[0], tag)).status, tag).to.equal(200);
        }
        for (const tag of ["3", '"x"', '"1" "2"']) {
          const { status, body } = await put(path, first[0], tag);
          expect(status, tag).to.equal(400);
          expect(body.errors[0]).to.include({ in: "header", path: "If-Match" });
        }
        const wrong = await api.request("DELETE", path, { headers: { "if-match": '"1"' } });
        expect(wrong.status).to.equal(412);
        const etag = (await api.request("GET", path)).headers.get("etag") ?? "";
        const right = await api.request("DELETE", path, { headers: { "if-match": etag } });
        expect(right.status, right.text).to.equal(204);
      });

      it("lets one of several changes of it be made, and all of those that don't name it", async () => {
        const path = await make(what);
        const bodies = [first[0], second[0], first[0], second[0]];
        const responses = await Promise.all(bodies.map(body => put(path, body, '"1"')));
        expect(responses.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412, 412]);
        const unconditional = await Promise.all(bodies.map(body => put(path, body)));
        expect(unconditional.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
        // What a subscription has already does not change it.
        const last = what === "subscription" ? 3 : 6;
        expect((await api.request("GET", path)).body.data.revision).to.equal(last);
      });

      it("lets it be changed or deleted by those who name it at once, and never both", async () => {
        const paths = await Promise.all(Array.from({ length: 8 }, () => make(what)));
        const both = await Promise.all(
          paths.map(async path => {
            const [changed, deleted] = await Promise.all([
              put(path, first[0], '"1"'),
              api.request("DELETE", path, { headers: { "if-match": '"1"' } }),
            ]);
            return `${changed.status} ${deleted.status}`;
          }),
        );
        expect(both, both.join(", ")).to.satisfy((all: string[]) =>
          all.every(one => ["200 412", "404 204", "412 204"].includes(one)),
        );
      });

      it("is 1 for a row of an earlier release", async () => {
        const path = await make(what);
        const _id = path.split("/").at(-1);
        await rows(world).updateOne({ _id }, { $unset: { revision: 1, revisions: 1 } });
        expect((await api.request("GET", path)).headers.get("etag")).to.equal('"1"');
        expect((await put(path, first[0], '"2"')).status).to.equal(412);
        expect((await put(path, first[0], '"1"')).headers.get("etag")).to.equal('"2"');
        const stale = await put(path, second[0], '"1"');
        expect(stale.body.changed).to.deep.equal([first[1]]);
      });
    });
  }

  it("is sent when the thing is created, too", async () => {
    const created = await api.request("POST", "/webhooks", { body: { url: receiver.url } });
    expect(created.headers.get("etag")).to.equal('"1"');
  });

  it("grows with the rotation of a key, and not with health", async () => {
    const path = await make("webhook");
    const rotated = await api.request("POST", `${path}/rotate_signing_key`, { body: {} });
    expect(rotated.headers.get("etag")).to.equal('"2"');
    const { mongo } = system.worker;
    const read = () => Webhooks(mongo).findById(path.split("/").at(-1)).lean<Webhook>();
    await noteFailure(system.worker, (await read()) as Webhook);
    await noteSuccess(system.worker, (await read()) as Webhook);
    expect((await api.request("GET", path)).headers.get("etag")).to.equal('"2"');
    expect((await put(path, { name: "x" }, '"1"')).body.changed).to.deep.equal(["signing_key"]);
  });
});
