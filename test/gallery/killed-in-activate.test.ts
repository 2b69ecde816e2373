// runs-long: npm test has what deactivate finds after a kill in test/gallery/vendors.test.ts, and changes whose worker is killed in test/runs/begun-change.test.ts
import { expect } from "chai";
import { publishGallery } from "../../src/gallery/publish-gallery.ts";
import { readShipped } from "../../src/gallery/shipped.ts";
import { Sources } from "../../src/models/source.ts";
import { openProcesses, type Processes } from "../flows/processes.ts";
import type { SourceView } from "../support/api.ts";
import type { Received } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import {
  type OnRequest,
  startGithub,
  startGitlab,
  startShopify,
  startStripe,
  startTelegram,
  startTypeform,
  type Vendor,
} from "./vendors.ts";

/** A vendor's imitation, and the request with which a source is registered there. */
interface Case {
  key: string;
  start(onRequest: OnRequest): Promise<Vendor<unknown>>;
  props(url: string): object;
  isRegistering(request: Received): boolean;
}

const CASES: Case[] = [
  {
    key: "headwater-github-events",
    start: onRequest => startGithub("t0ken", onRequest),
    props: api => ({ token: "t0ken", repository: "octo-org/octo-repo", api }),
    isRegistering: ({ method }) => method === "POST" || method === "PATCH",
  },
  {
    key: "headwater-gitlab-events",
    start: onRequest => startGitlab("glpat-1", onRequest),
    props: url => ({ token: "glpat-1", path: "engines/analytical", url }),
    isRegistering: ({ method }) => method === "POST" || method === "PUT",
  },
  {
    key: "headwater-shopify-events",
    start: onRequest => startShopify("shpat_1", onRequest),
    props: api => ({
      ...{ shop: "my-shop", token: "shpat_1", clientSecret: "shpss_1", topics: ["ORDERS_CREATE"], api },
    }),
    isRegistering: ({ raw }) => raw.includes("webhookSubscriptionCreate"),
  },
  {
    key: "headwater-stripe-events",
    start: onRequest => startStripe("rk_1", onRequest),
    props: api => ({ apiKey: "rk_1", api }),
    isRegistering: ({ method }) => method === "POST",
  },
  {
    key: "headwater-typeform-responses",
    start: onRequest => startTypeform("tfp_1", onRequest),
    props: api => ({ token: "tfp_1", form: "u6nXL7", api }),
    isRegistering: ({ method }) => method === "PUT",
  },
  {
    key: "headwater-telegram-updates",
    start: onRequest => startTelegram("1:t0ken", onRequest),
    props: api => ({ token: "1:t0ken", api }),
    isRegistering: ({ path }) => path.endsWith("/setWebhook"),
  },
];

/** Telegram has an entry without an address for a bot that sends nowhere. */
const registered = ({ hooks }: Vendor<unknown>) =>
  (hooks as { url?: string; uri?: string; config?: { url: string } }[])
    .map(({ url, uri, config }) => url ?? uri ?? config?.url)
    .filter(Boolean);

const SETTINGS = { SANDBOX_EGRESS_ALLOW: "127.0.0.0/8" };

for (const [found, settings] of [
  ["in time", SETTINGS],
  // The request is told within six seconds that no worker applied the change.
  ["after the request gave up", { ...SETTINGS, TIMEOUTS: "stalled:1s,hook:2s" }],
] as const) {
  describe(`a source of the gallery whose worker is killed in activate, found ${found}`, function () {
    // A busy machine may start the other worker too late for what is to be found in time.
    this.retries(2);
    let processes: Processes;
    before(async () => {
      processes = await openProcesses(settings);
      await publishGallery(processes.platform, await readShipped());
      await processes.start("web");
    });
    after(() => processes?.close());

    for (const { key, start, props, isRegistering } of CASES) {
      it(`has ${found === "in time" ? "one webhook" : "none"} at the vendor, and none once deleted: ${key}`, async () => {
        const { api, platform, running } = processes;
        let killed = false;
        const vendor = await start(request => {
          if (killed || !isRegistering(request)) return;
          killed = true;
          running.get("runs")?.kill("SIGKILL");
        });
        try {
          await processes.start("runs");
          const { component_id } = await api.expect(200, "GET", `/gallery/${key}`);
          const body = { component_id, configured_props: props(vendor.url) };
          const deployed = api.request<{ data: SourceView }>("POST", "/sources", { body });
          await until(() => killed, { what: "the request that registers" });
          await processes.kill("runs");
          expect(registered(vendor), "left behind by the worker").to.have.length(1);
          if (found === "in time") await processes.start("runs");
          const { status, body: deployment } = await deployed;
          if (found === "in time") {
            expect(status).to.equal(201);
            const source = deployment.data;
            expect(registered(vendor)).to.deep.equal([source.configured_props.http?.endpoint_url]);
            await api.expect(204, "DELETE", `/sources/${source.id}`);
          } else {
            expect(status).to.equal(503);
            await processes.start("runs");
          }
          await until(async () => (await Sources(platform.mongo).countDocuments({})) === 0, {
            what: "the end of the source",
          });
          expect(registered(vendor)).to.deep.equal([]);
        } finally {
          await processes.kill("runs");
          await vendor.close();
        }
      });
    }
  });
}
