import { type ChildProcess, spawn } from "node:child_process";
import type { Server } from "node:http";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { findProgram } from "../../script/lib/commands.mjs";
import { choosePort } from "../../script/lib/ports.mjs";
import { skipBecause } from "../support/skip.ts";
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

describe("the guide on webhooks for customers", () => {
  let folder: CodeFolder;
  let system: System;
  let customers: Customers;
  let customer: Customer;
  const given = { ...process.env };

  before(async () => {
    folder = await codeFolder();
    system = await startSystem();
    const { apiKey } = await system.user({ plan: "paid" });
    Object.assign(process.env, { PUBLIC_URL: new URL(system.baseUrl).origin, HEADWATER_API_KEY: apiKey });
    customers = await folder.load(PAGE, "customers.ts");
    customer = await customers.addCustomer("Acme");
  });
  after(async () => {
    process.env = given;
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

  describe("and its Python receiver", () => {
    let receiver: ChildProcess | undefined;
    afterEach(() => receiver?.kill());

    it("handles a genuine event, and rejects one that is signed with another key", async function () {
      const python = findProgram("python3");
      if (!python) return skipBecause(this, "there is no python3 on the PATH");
      const port = await choosePort(0);
      const url = `http://127.0.0.1:${port}/python`;
      const { webhookId, signingKey } = await customers.addEndpoint(customer, url, ["user.removed"]);
      const lines: string[] = [];
      receiver = spawn(python, [await folder.write(PAGE, "receiver.py")], {
        env: { ...given, SIGNING_KEY: signingKey, PORT: String(port) },
        stdio: ["ignore", "pipe", "inherit"],
      });
      createInterface({ input: receiver.stdout as NodeJS.ReadableStream }).on("line", line =>
        lines.push(line),
      );
      await until(() => lines.includes(`listens ${port}`), { what: "a receiver that listens" });
      await customers.publish(customer, "user-2", "user.removed", { name: "Bob" });
      const received = await until(() => lines.find(line => line.startsWith("received")));
      const [, id = "", text = ""] = /^received (dlv_\w+) (.*)$/.exec(received) ?? [];
      expect(id).not.to.equal("");
      expect(JSON.parse(text)).to.deep.include({ type: "user.removed", data: { name: "Bob" } });

      const { Headwater } = await import("../../clients/typescript/src/index.ts");
      const { PUBLIC_URL = "", HEADWATER_API_KEY = "" } = process.env;
      const { orgId = "" } = customer;
      const account = new Headwater({ url: PUBLIC_URL, apiKey: HEADWATER_API_KEY, orgId });
      const body = '{"type":"user.removed"}';
      const headers = {
        "webhook-id": "dlv_1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
        "webhook-signature": "v1,AAAA",
      };
      expect((await fetch(url, { method: "POST", headers, body })).status).to.equal(401);
      expect((await fetch(url, { method: "POST", body })).status).to.equal(401);
      const { attempts } = await until(async () => {
        for await (const one of account.webhooks.deliveries(webhookId, { state: "delivered" }))
          return account.deliveries.get(one.id);
        return undefined;
      });
      expect(attempts.map(({ status }) => status)).to.deep.equal([204]);
    });
  });
});
