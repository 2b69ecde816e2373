import { expect } from "chai";
import { addMember } from "../../src/accounts/organizations.ts";
import { routes } from "../../src/app.ts";
import { Connections } from "../../src/models/connection.ts";
import { Sources } from "../../src/models/source.ts";
import type { Api } from "../support/api.ts";
import { openOwner, openWorld } from "./open-world.ts";
import { exampleRequest, send, thingOf } from "./requests.ts";
import { type Owner, thing } from "./things.ts";

/** Keys of users, of receivers and of links, as they are shown when they are made. */
const KEYS = /hw_[0-9A-Za-z]{32}|whsec_[0-9A-Za-z+/]{20}|hw[sl]_[\w-]{43}/;

describe("what a viewer reads of an organization", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let owner: Owner;
  let vera: Api & { userId: string };
  before(async () => {
    world = await openWorld();
    owner = await openOwner(world);
    vera = await world.system.user();
    await addMember(world.system.worker, owner.orgId ?? "", vera.userId, "viewer");
  });
  after(() => world.close());

  it("has no key and no address at which a stranger could send events, in any response", async () => {
    const { mongo } = world.system.worker;
    const orgId = owner.orgId ?? "";
    await thing("source").make(world, owner);
    await thing("connection").make(world, owner);
    const seenBy = { owner: 0, viewer: 0 };
    for (const route of routes.filter(({ method, access }) => method === "GET" && access.kind !== "public")) {
      const what = thingOf(route);
      if (what !== undefined && thing(what).isPersonal) continue;
      const request = await exampleRequest(world, route, owner);
      const asked =
        route.access.kind === "owner" ? { ...request, query: { ...request.query, org_id: orgId } } : request;
      const [byOwner, byViewer] = [await send(owner.api, route, asked), await send(vera, route, asked)];
      expect(byViewer.status, `${route.id}: ${byViewer.text}`).to.equal(byOwner.status);
      const rows = [
        await Sources(mongo).find({ owner_id: orgId }).lean(),
        await Connections(mongo).find({ owner_id: orgId }).lean(),
      ].flat();
      const addresses = rows.flatMap(({ endpoint }) => endpoint ?? []);
      expect(addresses).not.to.deep.equal([]);
      const found = (text: string) => addresses.some(address => text.includes(address));
      expect(byViewer.text.match(KEYS)?.[0], route.id).to.equal(undefined);
      expect(found(byViewer.text), route.id).to.equal(false);
      seenBy.viewer += 1;
      if (found(byOwner.text)) seenBy.owner += 1;
    }
    expect(seenBy.viewer).to.be.above(50);
    expect(seenBy.owner, "lists and single ones of sources and connections").to.be.at.least(4);
  });
});
