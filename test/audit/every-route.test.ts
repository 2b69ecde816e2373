// runs-long: npm test has test/audit/audit-log.test.ts; a route that says nothing of its change does not compile
import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { INSTALLATION } from "../../src/audit/record.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import { AuditEntries } from "../../src/models/audit-entry.ts";
import { openWorld } from "../contract/open-world.ts";
import { exampleRequest, send, thingOf } from "../contract/requests.ts";
import { type Owner, THINGS } from "../contract/things.ts";
import { read } from "../docs/repository.ts";

/** Routes whose example emits nothing, or ends no session because it has an API key. */
const NOTHING_CHANGED = new Set(["sampleSource", "endCurrentSession", "createOpenIdSignOut"]);

/** What Headwater and the operator do without a request. */
const OWN_ACTIONS = [
  ...["webhook.disabled", "destination.disabled", "member.joined"],
  // The first by a request of the Model Context Protocol.
  ...["mcp_subscription.created", "mcp_subscription.ended", "mcp_subscription.disabled"],
  ...["user.signed_out", "user.access_withdrawn", "user.operator_granted", "user.operator_ended"],
  ...["component.published", "component.unpublished", "app.saved", "app.deleted"],
  ...["gallery_index.added", "gallery_index.removed"],
  ...["schema.migrated", "secrets.resealed", "queue.changed"],
];

const changing = routes.filter(({ method }) => method !== "GET");

describe("the audit log of every route that may change something", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  /** An organization and a member, or a user where the thing is a user's own. */
  async function ownerOf(route: AnyRoute): Promise<Owner> {
    const api = await world.system.user();
    const { kind } = route.access;
    const isPersonal = kind === "public" || kind === "caller" || THINGS[thingOf(route) ?? ""]?.isPersonal;
    return isPersonal ? { api } : { api, orgId: await world.system.organization(api.userId) };
  }

  for (const route of changing) {
    const isRecorded = Boolean(route.audit) && !NOTHING_CHANGED.has(route.id);
    it(`${isRecorded ? "has an entry" : "has none"} of ${route.id}`, async () => {
      const owner = await ownerOf(route);
      const request = await exampleRequest(world, route, owner);
      const entries = AuditEntries(world.system.worker.mongo);
      const earlier = await entries.distinct("_id");
      const response = await send(owner.api, route, request);
      expect(response.status, response.text).to.be.lessThan(300);
      const added = await entries.find({ _id: { $nin: earlier } }).lean();
      const actions = added.map(({ action }) => action);
      // What an operator makes is in the log of the installation, too.
      const logs = route.access.kind === "operator" ? 2 : 1;
      expect(actions).to.deep.equal(isRecorded ? Array(logs).fill(route.audit) : []);
      expect(added.filter(({ owner_id }) => owner_id === INSTALLATION)).to.have.length(logs - 1);
      for (const { owner_id, actor, thing, address } of added) {
        // An invitation is an organization's, which another user invites in.
        if (thingOf(route) === "invitation") expect(owner_id).to.match(/^o_/);
        else if (owner_id !== INSTALLATION) expect([owner.api.userId, owner.orgId]).to.include(owner_id);
        if (route.access.kind !== "caller" && route.access.kind !== "public") {
          expect(thing?.id, "the thing").to.be.a("string");
        }
        expect(actor.user_id).to.equal(owner.api.userId);
        expect(address).to.equal("127.0.0.1");
      }
    });
  }

  it("is described with all its actions", () => {
    const [, section = ""] = read("docs/rest-api.md").split("## Audit log\n");
    const rows =
      section
        .split("\n## ")[0]
        ?.split("\n")
        .filter(line => line.startsWith("| `")) ?? [];
    const described = rows.flatMap(row => [...(row.split("|")[1] ?? "").matchAll(/`([a-z_]+\.[a-z_]+)`/g)]);
    const known = new Set([...changing.flatMap(({ audit }) => audit ?? []), ...OWN_ACTIONS]);
    expect(described.map(([, action]) => action).sort()).to.deep.equal([...known].sort());
  });
});
