import { expect } from "chai";
import { publishComponent, unpublishComponent } from "../../src/components/components.ts";
import { Components } from "../../src/models/component.ts";
import type { Api, ApiResponse } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { rejection } from "./rejection.ts";

const PLACES = ["own", "X", "Z", "published"] as const;
type Place = (typeof PLACES)[number];
type Kind = "source" | "action";
type Query = Record<string, string>;

/** Every set of places that have a component with the key; an organization beside the account of a request always has one. */
const SETS = Array.from({ length: 8 }, (_, bits): Place[] => [
  ...(["own", "X", "published"] as const).filter((_, place) => bits & (2 ** place)),
  "Z",
]);

/** Its choices and the props that it makes say which it is. */
const codeOf = (
  place: Place,
  kind: Kind,
) => `export default { name: "${place}", version: "0.0.1", key: "key-${kind}", type: "${kind}",
  props: { choice: { type: "string", optional: true, options: () => ["${place}"] } },
  additionalProps: () => ({ ${place}: { type: "string", optional: true } }),
  run() {} };`;

/** What a request that names a component by a key used: its id, or the status and the text of the problem. */
type Outcome = string | { status: number; detail: string };

/** docs/decisions/0048-whose-thing-a-name-means.md */
describe("the key of a component", () => {
  let system: System;
  let api: Api & { userId: string };
  let x: string;
  const ids = {} as Record<Kind, Record<Place, string>>;
  let [sourceId, orgSourceId, actionId, orgActionId]: string[] = [];

  before(async () => {
    system = await startSystem();
    const publisher = await system.user();
    api = await system.user();
    x = await system.organization(api.userId);
    const z = await system.organization(api.userId);
    const save = async (kind: Kind, place: Place, by: Api, org_id?: string) => {
      const query: Query = org_id ? { org_id } : {};
      const options = { body: { component_code: codeOf(place, kind) }, query };
      const { id } = await by.expect(201, "POST", "/components", options);
      ids[kind] = { ...ids[kind], [place]: id };
    };
    for (const kind of ["source", "action"] as const) {
      await save(kind, "published", publisher);
      await save(kind, "own", api);
      await save(kind, "Z", api, z);
      // The newest is that of the organization.
      await save(kind, "X", api, x);
      await publishComponent(system.worker, ids[kind].published);
    }
    const deployIn = async (place: "own" | "X", query: Query) => {
      const source = await api.createSource({ component_id: ids.source[place] }, query);
      const body = { action: { component_id: ids.action[place] } };
      return [source.id, (await api.expect(201, "POST", "/destinations", { body, query })).id];
    };
    [sourceId, actionId] = await deployIn("own", {});
    [orgSourceId, orgActionId] = await deployIn("X", { org_id: x });
  });
  after(() => system.stop());

  const outcome = async (
    asked: Promise<ApiResponse<{ data: unknown; detail: string }>>,
    idOf: (data: never) => unknown,
  ) => {
    const { status, body } = await asked;
    return status < 300 ? (idOf(body.data as never) as string) : { status, detail: String(body.detail) };
  };
  const idNamed = (kind: Kind, place: unknown) => ids[kind][place as Place];

  /** Each route that takes a key, and how its response says which component it used. */
  const ROUTES: Record<
    string,
    { kind: Kind; reads?: boolean; ask: (key: string, query: Query) => Promise<Outcome> }
  > = {
    "GET /components/{key}": {
      ...{ kind: "source", reads: true },
      ask: (key, query) =>
        outcome(api.request("GET", `/components/${key}`, { query }), ({ id }: { id: string }) => id),
    },
    "POST /components/{key}/configure": {
      kind: "source",
      ask: (key, query) =>
        outcome(
          api.request("POST", `/components/${key}/configure`, { query, body: { prop_name: "choice" } }),
          ({ options }: { options: { value: string }[] }) => idNamed("source", options[0]?.value),
        ),
    },
    "POST /components/{key}/props": {
      kind: "source",
      ask: (key, query) =>
        outcome(
          api.request("POST", `/components/${key}/props`, { query, body: {} }),
          ({ dynamic_props }: { dynamic_props: { name: string }[] }) =>
            idNamed("source", dynamic_props[0]?.name),
        ),
    },
    "POST /sources": {
      kind: "source",
      ask: async (key, query) => {
        const used = await outcome(
          api.request("POST", "/sources", { query, body: { key, name: "by key" } }),
          ({ id, component_id }: { id: string; component_id: string }) => `${id} ${component_id}`,
        );
        if (typeof used !== "string") return used;
        const [id, component = ""] = used.split(" ");
        await api.expect(204, "DELETE", `/sources/${id}`);
        return component;
      },
    },
    "PUT /sources/{id}": {
      kind: "source",
      ask: (key, query) =>
        outcome(
          api.request("PUT", `/sources/${query.org_id ? orgSourceId : sourceId}`, { query, body: { key } }),
          ({ component_id }: { component_id: string }) => component_id,
        ),
    },
    "POST /destinations": {
      kind: "action",
      ask: async (key, query) => {
        const used = await outcome(
          api.request("POST", "/destinations", { query, body: { action: { key } } }),
          ({ id, action }: { id: string; action: { component_id: string } }) =>
            `${id} ${action.component_id}`,
        );
        if (typeof used !== "string") return used;
        const [id, component = ""] = used.split(" ");
        await api.expect(204, "DELETE", `/destinations/${id}`);
        return component;
      },
    },
    "PUT /destinations/{id}": {
      kind: "action",
      ask: (key, query) =>
        outcome(
          api.request("PUT", `/destinations/${query.org_id ? orgActionId : actionId}`, {
            query,
            body: { action: { key } },
          }),
          ({ action }: { action: { component_id: string } }) => action.component_id,
        ),
    },
  };
  /** Gives the key to the components of these places, and each of the others a key of its own. */
  async function place(set: readonly Place[]): Promise<void> {
    for (const kind of ["source", "action"] as const) {
      for (const one of PLACES) {
        const key = set.includes(one) ? `key-${kind}` : `other-${one}-${kind}`;
        await Components(system.worker.mongo).updateOne({ _id: ids[kind][one] }, { $set: { key } });
      }
    }
  }

  for (const set of SETS) {
    it(`that ${set.join(", ")} has means a component of the account of the request, else the published one @long`, async () => {
      await place(set);
      for (const [account, query] of [
        ["own", {}],
        ["X", { org_id: x }],
      ] as const) {
        for (const [route, { kind, reads, ask }] of Object.entries(ROUTES)) {
          const named = `${route} for ${account}`;
          const found = await ask(`key-${kind}`, { ...query });
          const fits = [account, "published" as const].filter(one => set.includes(one));
          const [first, second] = fits;
          if (first === undefined) expect(found, named).to.include({ status: 404 });
          else if (second === undefined || reads) expect(found, named).to.equal(ids[kind][first]);
          else {
            expect(found, named).to.include({ status: 409 });
            for (const one of fits) {
              expect((found as { detail: string }).detail, named).to.include(ids[kind][one]);
            }
          }
        }
        const registry = await outcome(
          api.request("GET", "/components/registry/key-source", { query: { ...query } }),
          ({ id }: { id: string }) => id,
        );
        if (set.includes("published")) expect(registry).to.equal(ids.source.published);
        else expect(registry).to.include({ status: 404 });
      }
    });
  }

  it("names no component of another organization, whose id does, and each says its owner", async () => {
    await place(["X", "Z"]);
    for (const one of ["own", "X", "Z", "published"] as const) {
      const { owner_id, published } = await api.expect(200, "GET", `/components/${ids.source[one]}`);
      if (one === "own") expect(owner_id).to.equal(api.userId);
      if (one === "X") expect(owner_id).to.equal(x);
      expect(published).to.equal(one === "published");
      expect(
        await api.expect(200, "PUT", `/sources/${sourceId}`, { body: { component_id: ids.source[one] } }),
      ).to.include({
        component_id: ids.source[one],
      });
    }
  });

  it("that is published can't be published by another account, before it is unpublished", async () => {
    await place(["own", "published"]);
    const { code, message } = await rejection(publishComponent(system.worker, ids.source.own));
    expect(code).to.equal("conflict");
    for (const id of [ids.source.own, ids.source.published]) expect(message).to.include(id);
    expect((await api.expect(200, "GET", "/components/registry/key-source")).id).to.equal(
      ids.source.published,
    );
    await unpublishComponent(system.worker, ids.source.published);
    expect((await api.request("GET", "/components/registry/key-source")).status).to.equal(404);
    await publishComponent(system.worker, ids.source.own);
    const { id, published } = await api.expect(200, "GET", "/components/registry/key-source");
    expect([id, published]).to.deep.equal([ids.source.own, true]);
    // Its owner has one component with the key, whether published or not.
    expect(await api.expect(200, "PUT", `/sources/${sourceId}`, { body: { key: "key-source" } })).to.include({
      component_id: ids.source.own,
    });
  });

  it("means the later of two that were published within the same second", async () => {
    const of = (version: string) =>
      `export default { name: "S", version: "${version}", key: "same-second", run() {} };`;
    const made: string[] = [];
    for (const version of ["0.0.1", "0.0.2"]) {
      const { id } = await api.expect(201, "POST", "/components", { body: { component_code: of(version) } });
      await publishComponent(system.worker, id);
      made.push(id);
    }
    await Components(system.worker.mongo).updateMany({ key: "same-second" }, { $set: { updated_at: 1 } });
    const { id } = await api.expect(200, "GET", "/components/registry/same-second");
    expect(id).to.equal(made[1]);
  });

  it("that two accounts have published, as an earlier release let them, means neither", async () => {
    await place(["X", "published"]);
    await Components(system.worker.mongo).updateMany(
      { _id: { $in: [ids.source.X, ids.source.published] } },
      { $set: { published: true } },
    );
    for (const [method, path, body] of [
      ["GET", "/components/key-source"],
      ["GET", "/components/registry/key-source"],
      ["POST", "/sources", { key: "key-source" }],
    ] as const) {
      const { status, body: problem } = await api.request(method, path, body ? { body } : {});
      expect(status, path).to.equal(409);
      expect(problem.detail).to.include(ids.source.X).and.include(ids.source.published);
    }
  });
});
