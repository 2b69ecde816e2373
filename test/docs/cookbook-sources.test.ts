import { createHmac } from "node:crypto";
import { expect } from "chai";
import { startMailServices } from "../gallery/mail-services.ts";
import { startDiscord } from "../gallery/message-vendors.ts";
import { startGithub, startStripe } from "../gallery/vendors.ts";
import type { Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { bodies, type Kitchen, received, startKitchen } from "./recipes.ts";
import { read } from "./repository.ts";

const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");
const ok = (body: string) => ({ status: 200, body });

describe("the cookbook's sources:", () => {
  let kitchen: Kitchen;
  before(async () => {
    kitchen = await startKitchen();
  });
  after(() => kitchen?.stop());

  /** Sends what the receiver of a source's endpoint is sent by a vendor. */
  async function post(
    slug: string,
    body: object,
    headers: (text: string) => Record<string, string>,
    status = 200,
  ) {
    const { data } = await kitchen.client.sources.list({ q: slug });
    const source = await kitchen.client.sources.get(data.find(one => one.name_slug === slug)?.id ?? "");
    const text = JSON.stringify(body);
    const response = await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers(text) },
      body: text,
    });
    expect(response.status).to.equal(status);
  }

  it("a feed in a chat", async () => {
    const [feed, slack, discord] = [await kitchen.receiver(), await kitchen.receiver(), await startDiscord()];
    const rss = (...titles: string[]) => {
      const items = titles.map(
        title => `<item><title>${title}</title><link>http://x/${title.length}</link></item>`,
      );
      return ok(`<rss version="2.0"><channel><title>News</title>${items.join("")}</channel></rss>`);
    };
    feed.script(rss("An old release"));
    try {
      const recipe = await kitchen.open("cookbook/feed-to-chat");
      await recipe.shell({
        FEED: feed.url,
        SLACK_WEBHOOK: slack.url,
        DISCORD_WEBHOOK: `${discord.url}/api/webhooks/1/t0ken`,
      });
      feed.script(rss("A party", "A new release", "An old release"));
      await recipe.shell();
      expect(await bodies(slack)).to.deep.equal([{ text: "A new release http://x/13" }]);
      await until(() => discord.hooks.length > 0);
      expect(discord.hooks).to.deep.equal([
        {
          content: "**A new release** http://x/13",
          username: "News",
          allowed_mentions: { parse: [] },
        },
      ]);
    } finally {
      await discord.close();
    }
  });

  it("the README's webhook for GitHub", async () => {
    const build = await kitchen.receiver();
    const recipe = await kitchen.open("README.md");
    await recipe.shell({ BUILD_URL: build.url });
    const [, shown] = /^```yaml\n(.*?)^```/ms.exec(read("README.md")) ?? [];
    expect(read("examples/pushes.yaml")).to.equal(shown);
    await post("shop-pushes", { ref: "refs/heads/try" }, () => ({}));
    const { data } = await kitchen.client.sources.list({ q: "shop-pushes" });
    const secret = "s3cret";
    const verify = { preset: "github", secrets: [secret] };
    await kitchen.client.sources.update(data[0]?.id ?? "", { verify });
    const signed = (by: string) => (text: string) => ({ "x-hub-signature-256": `sha256=${hmac(by, text)}` });
    await post("shop-pushes", { ref: "refs/heads/main" }, signed("guessed"), 401);
    await post("shop-pushes", { ref: "refs/heads/main" }, signed(secret));
    expect(await bodies(build)).to.deep.equal([{ ref: "refs/heads/main" }]);
  });

  it("pushes to a webhook", async () => {
    const [github, build] = [await startGithub("t0ken"), await kitchen.receiver()];
    try {
      const recipe = await kitchen.open("cookbook/pushes-to-a-webhook", { "sources.repository": github.url });
      await recipe.shell({ GITHUB_TOKEN: "t0ken", REPOSITORY: "octo-org/octo-repo", BUILD_URL: build.url });
      const secret = github.hooks[0]?.config.secret ?? "";
      for (const [ref, after] of [
        ["refs/heads/try", "c0"],
        ["refs/heads/main", "c1"],
      ]) {
        const push = { ref, after, head_commit: { message: "Mend it" }, sender: { login: "ada" } };
        await post("pushes-repository", push, text => ({
          "x-github-event": "push",
          "x-github-delivery": `d-${after}`,
          "x-hub-signature-256": `sha256=${hmac(secret, text)}`,
        }));
      }
      expect(await bodies(build)).to.deep.equal([{ commit: "c1", message: "Mend it", by: "ada" }]);
    } finally {
      await github.close();
    }
  });

  it("payments to a mail", async () => {
    const [stripe, mail] = await Promise.all([startStripe("rk_1"), startMailServices()]);
    try {
      const recipe = await kitchen.open("cookbook/payments-to-a-mail", {
        "sources.stripe": stripe.url,
        "actions.mail": mail.url,
      });
      await recipe.shell({ STRIPE_KEY: "rk_1", RESEND_KEY: "k3y" });
      const [hook] = stripe.hooks;
      expect(hook?.enabled_events).to.deep.equal(["payment_intent.succeeded"]);
      const payment = {
        ...{ id: "evt_1", type: "payment_intent.succeeded", created: 1_686_089_970, livemode: true },
        data: { object: { id: "pi_1", amount: 1290, currency: "eur" } },
      };
      const signed = (text: string) => {
        const time = Math.floor(Date.now() / 1000);
        return { "stripe-signature": `t=${time},v1=${hmac(hook?.secret ?? "", `${time}.${text}`)}` };
      };
      await post("payments-stripe", payment, signed);
      // Once more, as Stripe does when a response was lost.
      await post("payments-stripe", payment, signed);
      await until(() => mail.hooks.length > 0);
      expect(mail.hooks.map(({ content }) => content)).to.deep.equal([
        {
          from: "Shop <orders@example.com>",
          to: ["accounting@example.com"],
          subject: "Payment pi_1",
          text: "1290 eur, in the smallest unit of the currency.\nhttps://dashboard.stripe.com/payments/pi_1\n",
        },
      ]);
    } finally {
      await Promise.all([stripe.close(), mail.close()]);
    }
  });

  it("new items of an API", async () => {
    const [shop, inbox] = [await kitchen.receiver(), await kitchen.receiver()];
    const list = (...data: object[]) => shop.script(ok(JSON.stringify({ data })));
    const [first, second] = [
      { id: 1, customer: "Ada" },
      { id: 2, customer: "Bob" },
    ];
    list(first);
    const recipe = await kitchen.open("cookbook/new-items-of-an-api");
    await recipe.shell({ ORDERS_API: shop.url, ORDERS_TOKEN: "t0ken", INBOX_URL: inbox.url });
    list(second, first);
    await recipe.shell();
    expect(await bodies(inbox)).to.deep.equal([second]);
    expect(shop.requests.map(({ headers }) => headers.authorization)).to.include("Bearer t0ken");
  });

  it("many sources, one webhook", async () => {
    const inbox = await kitchen.receiver();
    const recipe = await kitchen.open("cookbook/many-sources-one-webhook");
    await recipe.shell({ INBOX_URL: inbox.url });
    await post("desk-forms", { n: 1 }, () => ({}));
    await post("desk-devices", { n: 2 }, () => ({}));
    const faulty = await kitchen.client.sources.create({
      name: "faulty",
      component_code: `export default { name: "Faulty", version: "1", props: { http: "$.interface.http" },
        run() { throw new TypeError("no"); } }`,
    });
    await post("faulty", {}, () => ({}));
    const sent = (await bodies(inbox, 3)) as {
      source?: string;
      content?: unknown;
      error?: { code: string };
    }[];
    expect(sent.map(({ content }) => content)).to.have.deep.members([{ n: 1 }, { n: 2 }, undefined]);
    expect(new Set(sent.map(({ source }) => source)).size).to.equal(3);
    expect(sent.find(({ error }) => error)?.error?.code).to.equal("TypeError");
    await kitchen.client.sources.delete(faulty.id);
  });

  it("a scheduled job", async () => {
    const report: Receiver = await kitchen.receiver();
    const recipe = await kitchen.open("cookbook/scheduled-job");
    await recipe.shell({ REPORT_URL: report.url, REPORT_TOKEN: "t0ken" });
    const [called] = await Promise.all([received(report), recipe.shell()]);
    const { headers, raw } = called[0] ?? expect.fail();
    expect(headers.authorization).to.equal("Bearer t0ken");
    expect(JSON.parse(raw)).to.deep.include({ report: "orders" }).and.to.have.property("due_at");
  });
});
