import { Writable } from "node:stream";
import { expect } from "chai";
import { pino } from "pino";
import { openPlatform, type Platform } from "../../../src/platform.ts";
import { startWeb, type WebServer } from "../../../src/server.ts";
import { CLIENT, startOpenIdProvider, type TestProvider } from "../../support/openid-provider.ts";
import { type System, startSystem } from "../../support/system.ts";
import { problemOf, Visitor } from "./visitor.ts";

describe("what is kept of a sign-in with an OpenID provider", () => {
  let provider: TestProvider;
  let system: System;
  const webs: { web: Platform; server: WebServer }[] = [];
  let lines = "";
  before(async () => {
    provider = await startOpenIdProvider();
    system = await startSystem(provider.env, { workers: false });
    provider.people.set("anna", { email: "anna.secret@acme.test", email_verified: true });
    provider.people.set("eve", { email: "eve.secret@evil.test", email_verified: true });
  });
  after(async () => {
    for (const { web, server } of webs) {
      await server.close();
      await web.close();
    }
    await system?.stop();
    await provider?.stop();
  });

  /** Starts another web process whose log is kept, and returns a browser for it. */
  async function start(
    changes: Partial<NonNullable<Platform["config"]["openid"]>> = {},
  ): Promise<() => Visitor> {
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines += String(chunk);
        done();
      },
    });
    const { config } = system.web;
    const changed = { ...config, port: 0, openid: config.openid && { ...config.openid, ...changes } };
    const web = await openPlatform(changed, "web", { log: pino({ base: null, level: "trace" }, sink) });
    const server = await startWeb(web);
    webs.push({ web, server });
    const publicUrl = `http://127.0.0.1:${server.port}`;
    Object.defineProperty(web, "config", { value: { ...changed, publicUrl } });
    await provider.returnTo(publicUrl);
    return () => new Visitor(`${publicUrl}/v1`);
  }

  it("has no token, code, secret or address of a person, in logs and stores, whatever happens", async () => {
    const visitor = await start();
    const anna = visitor();
    const secrets: string[] = [];
    const keep = (url: URL) => {
      for (const name of ["code", "state", "nonce", "code_challenge"]) {
        const value = url.searchParams.get(name);
        if (value) secrets.push(value);
      }
    };
    const back = await anna.signInThere("anna", { change: keep });
    keep(back);
    secrets.push(
      ...anna
        .cookies()
        .split("; ")
        .map(pair => pair.split(/=(.*)/s)[1] ?? ""),
    );
    expect((await anna.request(back)).status).to.equal(303);
    secrets.push(
      ...anna
        .cookies()
        .split("; ")
        .map(pair => pair.split(/=(.*)/s)[1] ?? ""),
    );
    expect(problemOf(await anna.request(back))).to.equal("not-yours");
    expect(problemOf(await visitor().signIn("eve", { change: keep }))).to.equal("not-allowed");
    expect(problemOf(await visitor().signIn("anna", { change: keep, stop: true }))).to.equal("cancelled");
    provider.showsForeignKeys = true;
    expect(problemOf(await visitor().signIn("anna", { change: keep }))).to.equal("not-proven");
    provider.showsForeignKeys = false;
    const odd = visitor();
    const error = await odd.signInThere("anna", { change: keep });
    error.searchParams.delete("code");
    error.searchParams.set("error", "<script>odd</script>");
    error.searchParams.set("error_description", "a secret text");
    expect(problemOf(await odd.request(error))).to.equal("provider-error");
    const misconfigured = await start({ clientSecret: "a wrong secret" });
    expect(problemOf(await misconfigured().signIn("anna", { change: keep }))).to.equal("provider-error");

    const logged = lines;
    expect(logged)
      .to.include("invalid_client")
      .and.include("/dashboard/sign-in/return")
      .and.include("not-yours");
    const { db } = system.worker.mongo;
    const names = (await db?.listCollections().toArray()) ?? [];
    const stored = await Promise.all(names.map(({ name }) => db?.collection(name).find().toArray()));
    expect(provider.issued.length, "tokens").to.be.greaterThan(5);
    expect(secrets.length).to.be.greaterThan(10);
    const all = [
      ...secrets,
      ...provider.issued,
      CLIENT.secret,
      encodeURIComponent(CLIENT.secret),
      "a wrong secret",
    ];
    for (const secret of all) {
      expect(secret).not.to.equal("");
      expect(logged.includes(secret), `in the log: ${secret}`).to.equal(false);
      expect(JSON.stringify(stored).includes(secret), `stored: ${secret}`).to.equal(false);
    }
    for (const text of ["secret@", "a secret text", "<script>"]) expect(logged).not.to.include(text);
  });
});
