import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import type { Server } from "node:http";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { Headwater } from "../../clients/typescript/src/index.ts";
import { findProgram } from "../../script/lib/commands.mjs";
import { choosePort } from "../../script/lib/ports.mjs";
import { keepEnvironment } from "../support/environment.ts";
import { programOrSkip, skipBecause } from "../support/skip.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { type CodeFolder, codeFolder } from "./page-code.ts";

interface Customer {
  orgId?: string;
  emitterId: string;
}
interface Customers {
  addCustomer(name: string): Promise<Customer>;
  addEndpoint(
    customer: Customer,
    url: string,
    types: string[],
  ): Promise<{ webhookId: string; signingKey: string }>;
  publish(customer: Customer, id: string, type: string, data: object): Promise<void>;
}

const PAGE = "docs/guides/webhooks-for-customers.md";

/** Receivers that are programs of their own, each with a type of events that only it gets. */
interface OtherReceiver {
  language: string;
  type: string;
  /** Returns the program and its arguments, in which PORT is where to listen; skips the test where the language is not there. */
  commandOf(
    context: Mocha.Context,
    write: (name: string) => Promise<string>,
  ): Promise<[program: string, ...args: string[]]>;
}

const RECEIVERS: OtherReceiver[] = [
  {
    ...{ language: "Python", type: "user.removed" },
    async commandOf(context, write) {
      const python = findProgram("python3") ?? skipBecause(context, "there is no python3 on the PATH");
      return [python, await write("receiver.py")];
    },
  },
  {
    ...{ language: "Go", type: "user.renamed" },
    async commandOf(context, write) {
      const go = findProgram("go") ?? skipBecause(context, "there is no go on the PATH");
      const source = await write("receiver.go");
      const program = source.replace(/\.go$/, "");
      execFileSync(go, ["build", "-o", program, source]);
      return [program];
    },
  },
  {
    ...{ language: "Ruby", type: "user.moved" },
    async commandOf(context, write) {
      const ruby = await programOrSkip(context, "ruby");
      if (spawnSync(ruby, ["-e", 'require "webrick"']).status !== 0)
        skipBecause(context, "this ruby has no webrick");
      return [ruby, await write("receiver.rb")];
    },
  },
  {
    ...{ language: "PHP", type: "user.paid" },
    async commandOf(context, write) {
      const php = findProgram("php") ?? skipBecause(context, "there is no php on the PATH");
      return [php, "-S", "PORT", await write("receiver.php")];
    },
  },
];

describe("the guide on webhooks for customers", () => {
  let folder: CodeFolder;
  let system: System;
  let customers: Customers;
  let customer: Customer;
  const restoreEnvironment = keepEnvironment();

  before(async () => {
    folder = await codeFolder();
    system = await startSystem();
    const { apiKey } = await system.user({ plan: "paid" });
    Object.assign(process.env, { PUBLIC_URL: new URL(system.baseUrl).origin, HEADWATER_API_KEY: apiKey });
    customers = await folder.load(PAGE, "customers.ts");
    customer = await customers.addCustomer("Acme");
  });
  after(async () => {
    restoreEnvironment();
    await system?.stop();
    await folder.delete();
  });

  it("leads to a verified event in the TypeScript receiver, of the types that the customer wants", async () => {
    const port = await choosePort(0);
    const { signingKey } = await customers.addEndpoint(customer, `http://127.0.0.1:${port}/ts`, [
      "invoice.paid",
    ]);
    Object.assign(process.env, { SIGNING_KEY: signingKey, PORT: String(port) });
    const lines: unknown[][] = [];
    const { log } = console;
    console.log = (...line) => lines.push(line);
    let receiver: Server | undefined;
    try {
      ({ receiver } = await folder.load<{ receiver: Server }>(PAGE, "receiver.ts"));
      await customers.publish(customer, "user-1", "user.added", { name: "Ada" });
      await customers.publish(customer, "invoice-1", "invoice.paid", { total: 17 });
      // The same event again, as after a call without a response.
      await customers.publish(customer, "invoice-1", "invoice.paid", { total: 17 });
      const [, id, text] = await until(() => lines.find(([first]) => first === "received"));
      expect(id).to.match(/^dlv_/);
      expect(JSON.parse(String(text))).to.deep.include({ type: "invoice.paid", data: { total: 17 } });
      expect(lines).to.have.lengthOf(1);
    } finally {
      console.log = log;
      receiver?.closeAllConnections();
      receiver?.close();
    }
  });

  for (const { language, type, commandOf } of RECEIVERS) {
    describe(`and its ${language} receiver`, () => {
      let running: ChildProcess | undefined;
      afterEach(() => running?.kill());

      it("handles a genuine event, and rejects one that is signed with another key", async function () {
        const [program, ...args] = await commandOf(this, name => folder.write(PAGE, name));
        const port = await choosePort(0);
        const url = `http://127.0.0.1:${port}/hook`;
        const { webhookId, signingKey } = await customers.addEndpoint(customer, url, [type]);
        const lines: string[] = [];
        running = spawn(
          program,
          args.map(word => (word === "PORT" ? `127.0.0.1:${port}` : word)),
          {
            env: { ...process.env, SIGNING_KEY: signingKey, PORT: String(port), TMPDIR: folder.path },
            stdio: ["ignore", "pipe", "ignore"],
          },
        );
        createInterface({ input: running.stdout as NodeJS.ReadableStream }).on("line", line =>
          lines.push(line),
        );
        const body = `{"type":"${type}"}`;
        const statusOf = async (headers = {}) => (await fetch(url, { method: "POST", headers, body })).status;
        expect(await until(() => statusOf(), { what: "a receiver that listens" })).to.equal(401);
        const headers = {
          "webhook-id": "dlv_1",
          "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
          "webhook-signature": "v1,AAAA",
        };
        expect(await statusOf(headers)).to.equal(401);
        await customers.publish(customer, `${language}-1`, type, { name: "Bob" });
        const received = await until(() => lines.find(line => line.startsWith("received")));
        const [, id = "", text = ""] = /^received (dlv_\w+) (.*)$/.exec(received) ?? [];
        expect(id).not.to.equal("");
        expect(JSON.parse(text)).to.deep.include({ type, data: { name: "Bob" } });

        const { PUBLIC_URL = "", HEADWATER_API_KEY = "" } = process.env;
        const { orgId = "" } = customer;
        const account = new Headwater({ url: PUBLIC_URL, apiKey: HEADWATER_API_KEY, orgId });
        const { attempts } = await until(async () => {
          for await (const one of account.webhooks.deliveries(webhookId, { state: "delivered" }))
            return account.deliveries.get(one.id);
          return undefined;
        });
        expect(attempts.map(({ status }) => status)).to.deep.equal([204]);
        expect(lines.filter(line => line.startsWith("received"))).to.have.length(1);
      });
    });
  }
});
