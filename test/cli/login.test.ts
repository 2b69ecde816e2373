// runs-long: npm test has test/cli/walk.test.ts, which signs in, and test/cli/remote
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";
import { headwater, withInput } from "./command.ts";

describe("headwater login", () => {
  let system: System;
  let folder: string;
  let env: Record<string, string>;
  let server: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    server = new URL(system.baseUrl).origin;
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-login-"));
    env = { XDG_CONFIG_HOME: folder };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  after(() => system.stop());

  const file = async () => await readFile(join(folder, "headwater/profiles.json"), "utf8");

  it("keeps a key that is piped in, without showing it, and uses its server from then on", async () => {
    const api = await system.user();
    const { code, stdout, stderr } = await withInput(["login", server], env, api.apiKey);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(
      /^Signed in to http.* as user\d+.*\. Profile 127\.0\.0\.1-\d+ is used from now on\.\n$/,
    );
    expect(stdout + stderr).not.to.include(api.apiKey);
    const who = await headwater(["whoami", "--json"], env);
    expect(JSON.parse(who.stdout)).to.deep.include({ url: server, org_id: null });
    expect(JSON.parse(who.stdout).user.id).to.equal(api.userId);
    expect(who.stdout).not.to.include(api.apiKey);
    const out = await headwater(["logout"], env);
    expect(out.stderr).to.include("stays valid");
    expect(await file()).not.to.include("hw_");
    expect((await api.request("GET", "/users/me")).status).to.equal(200);
  });

  it("makes a key of its own from a sign-in link, which logout revokes", async () => {
    const api = await system.user();
    const { url } = await api.expect(201, "POST", "/sign_in_links");
    const { code, stderr } = await headwater(["login", url, "--profile", "mine"], env);
    expect(code, stderr).to.equal(0);
    const { api_key: key, key_id: id } = JSON.parse(await file()).profiles.mine;
    expect(key).to.match(/^hw_/).and.not.to.equal(api.apiKey);
    expect(await api.expect(200, "GET", "/sessions")).to.deep.equal([]);
    const again = await headwater(["login", url], env);
    expect([again.code, again.stderr]).to.deep.equal([1, again.stderr]);
    expect(again.stderr).to.match(/returned 401: .*link/);
    expect((await headwater(["logout", "--profile", "mine"], env)).code).to.equal(0);
    const keys = (await api.request("GET", "/api_keys")).body.data as {
      id: string;
      revoked_at: number | null;
    }[];
    expect(keys.find(one => one.id === id)?.revoked_at).to.be.a("number");
  });

  it("changes nothing for a key that the server does not know", async () => {
    const { code, stdout, stderr } = await withInput(["login", server], env, `hw_${"x".repeat(32)}`);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    expect(stderr).to.match(/returned 401: the API key is unknown or revoked/);
    expect(await file().catch(() => "none")).to.equal("none");
  });

  it("names what is wrong with what it was given", async () => {
    const cases: [string[], string, RegExp, code: 1 | 2][] = [
      [["login"], "", /url: which server\?/, 2],
      [["login", "example.com"], "", /url: example\.com is not an http or https URL/, 2],
      [["login", server], "", /nothing was given/, 1],
      [["login", server, "--profile", "a b"], "x", /--profile: must be 1 to 64 letters/, 2],
      [["--profile", "a b", "login", server], "x", /--profile: must be 1 to 64 letters/, 2],
      [["login", "http://127.0.0.1:1"], "hw_x", /no response from http:\/\/127\.0\.0\.1:1/, 1],
    ];
    // So that the command does not offer the server that `npm start` left in this folder.
    const without = { ...env, MONGODB_URL: "mongodb://127.0.0.1:1/" };
    const results = await Promise.all(cases.map(([args, line]) => withInput(args, without, line)));
    for (const [index, [, , message, code]] of cases.entries()) {
      expect(results[index]?.stderr).to.match(message);
      expect(results[index]?.code).to.equal(code);
    }
  });

  it("keeps several servers as profiles", async () => {
    const [one, two] = [await system.user(), await system.user()];
    await withInput(["login", server, "--profile", "one"], env, one.apiKey);
    await withInput(["login", server, "--profile", "two"], env, two.apiKey);
    const idOf = async (...args: string[]) =>
      JSON.parse((await headwater(["whoami", "--json", ...args], env)).stdout).user.id;
    expect(await idOf()).to.equal(two.userId);
    expect(await idOf("--profile", "one")).to.equal(one.userId);
    await headwater(["profile", "use", "one"], env);
    expect(await idOf()).to.equal(one.userId);
    const list = await headwater(["profile", "list"], env);
    expect(list.stdout)
      .to.match(/^\*\s+one\s+http/m)
      .and.to.match(/^\s+two\s+http/m);
    expect(list.stdout).not.to.include("hw_");
  });

  it("keeps the organization, which must be one of the user's", async () => {
    const api = await system.user();
    const org = await system.organization(api.userId);
    const wrong = await withInput(["login", server, "--org", "o_0000000000000000"], env, api.apiKey);
    expect(wrong.stderr).to.match(/--org: .* is not a member/);
    await withInput(["login", server, "--org", org], env, api.apiKey);
    expect(JSON.parse((await headwater(["whoami", "--json"], env)).stdout).org_id).to.equal(org);
  });

  it("is what --version asks for the server's version", async () => {
    const api = await system.user();
    await withInput(["login", server], env, api.apiKey);
    const { stdout } = await headwater(["--version"], env);
    expect(stdout).to.match(new RegExp(`^\\d+\\.\\d+\\.\\d+\nserver \\d+\\.\\d+\\.\\d+ \\(${server}\\)\n$`));
  });

  it("prints the version, and that the server does not respond, if it is stopped", async () => {
    const away = { ...env, HEADWATER_URL: "http://127.0.0.1:1", HEADWATER_API_KEY: "hw_x" };
    const { code, stdout, stderr } = await headwater(["--version"], away);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    expect(stderr).to.match(/^no response from http:\/\/127\.0\.0\.1:1: [^\n]+\n$/);
  });
});
