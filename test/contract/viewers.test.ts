import { expect } from "chai";
import { addMember } from "../../src/accounts/organizations.ts";
import { routes } from "../../src/app.ts";
import { Connections } from "../../src/models/connection.ts";
import { Sources } from "../../src/models/source.ts";
import { Api } from "../support/api.ts";
import { openOwner, openWorld } from "./open-world.ts";
import { exampleRequest, send, thingOf } from "./requests.ts";
import { type Owner, thing } from "./things.ts";

/** Keys of users, of receivers and of links, as they are shown when they are made. */
const KEYS = /hw_[0-9A-Za-z]{32}|whsec_[0-9A-Za-z+/]{20}|hw[sl]_[\w-]{43}/;

describe("what a viewer reads of an organization, and an owner's key that reads only", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let owner: Owner;
  let vera: Api & { userId: string };
  /** Has a key of the owner's that reads only. */
  let reader: Api;
  before(async () => {
    world = await openWorld();
    owner = await openOwner(world);
    vera = await world.system.user();
    await addMember(world.system.worker, owner.orgId ?? "", vera.userId, "viewer");
    const key = await owner.api.expect(201, "POST", "/api_keys", { body: { access: "read" } });
    reader = new Api(world.system.baseUrl, key.api_key);
  });
  after(() => world.close());

  it("has no key and no address at which a stranger could send events, in any response", async () => {
    const { mongo } = world.system.worker;
    const orgId = owner.orgId ?? "";
    await thing("source").make(world, owner);
    await thing("connection").make(world, owner);
    const seenBy = { owner: 0, viewer: 0 };
    // What operators see is of all accounts.
    const kinds = new Set(["caller", "owner", "member", "resource"]);
    for (const route of routes.filter(({ method, access }) => method === "GET" && kinds.has(access.kind))) {
      const what = thingOf(route);
      if (what !== undefined && thing(what).isPersonal) continue;
      const request = await exampleRequest(world, route, owner);
      const asked =
        route.access.kind === "owner" ? { ...request, query: { ...request.query, org_id: orgId } } : request;
      const byOwner = await send(owner.api, route, asked);
      const rows = [
        await Sources(mongo).find({ owner_id: orgId }).lean(),
        await Connections(mongo).find({ owner_id: orgId }).lean(),
      ].flat();
      const addresses = rows.flatMap(({ endpoint }) => endpoint ?? []);
      expect(addresses).not.to.deep.equal([]);
      const found = (text: string) => addresses.some(address => text.includes(address));
      for (const [who, api] of Object.entries({ vera, reader })) {
        const { status, text } = await send(api, route, asked);
        expect(status, `${route.id} by ${who}: ${text}`).to.equal(byOwner.status);
        expect(text.match(KEYS)?.[0], `${route.id} by ${who}`).to.equal(undefined);
        expect(found(text), `${route.id} by ${who}`).to.equal(false);
      }
      seenBy.viewer += 1;
      if (found(byOwner.text)) seenBy.owner += 1;
    }
    expect(seenBy.viewer).to.be.above(50);
    expect(seenBy.owner, "lists and single ones of sources and connections").to.be.at.least(4);
  });
});
