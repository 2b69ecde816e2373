// runs-long: npm test has test/cli/walk.test.ts and the commands of test/cli that are quick

import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { findCaller } from "../../src/accounts/api-keys.ts";
import { createUser } from "../../src/accounts/users.ts";
import { INSTALLATION } from "../../src/audit/record.ts";
import { findPublished } from "../../src/components/components.ts";
import { saveComponent } from "../../src/components/save.ts";
import { eventOf } from "../../src/events/read.ts";
import { newId } from "../../src/lib/ids.ts";
import { AuditEntries } from "../../src/models/audit-entry.ts";
import { Components } from "../../src/models/component.ts";
import { Memberships } from "../../src/models/organization.ts";
import { createWorkflow } from "../../src/workflows/workflows.ts";
import { start as startEmissions } from "../../workers/emissions.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { environmentOf } from "../workers/worker-process.ts";
import { type CommandResult, headwater } from "./command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** An address on which nothing listens. */
const NOWHERE = "127.0.0.1:1";

/** Expects an error: its exit code, one or a few plain lines on stderr, nothing on stdout. */
function expectError(result: CommandResult, code: 1 | 2 | 78, message: RegExp): void {
  const { stdout, stderr } = result;
  expect(stderr).to.match(message);
  expect(result.code, stderr).to.equal(code);
  expect(stdout).to.equal("");
  expect(stderr).not.to.match(/^\s+at |node:internal|\.ts:\d+/m);
  if (code === 1) expect(stderr.trimEnd().split("\n"), stderr).to.have.length(1);
}

describe("headwater, the command line", () => {
  let platform: TestPlatform;
  let env: Record<string, string>;
  let folder: string;
  let withoutStores: Promise<[CommandResult, CommandResult]>;
  before(async () => {
    platform = await openTestPlatform();
    env = environmentOf(platform.config);
    folder = await mkdtemp(join(tmpdir(), "headwater-cli-"));
    // These commands wait for the stores for a while: started here, checked in the last test.
    withoutStores = Promise.all([
      headwater(["user", "create", "--email", "a@example.test"], { ...env, REDIS_URL: `redis://${NOWHERE}` }),
      headwater(["key", "list", newId("u")], { ...env, MONGODB_URL: `mongodb://${NOWHERE}/x` }),
    ]);
  });
  after(async () => {
    await withoutStores;
    await platform.destroy();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]) => headwater(args, env);

  /** Returns what a command printed, which must succeed: one JSON value and nothing else. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its result
  async function done(...args: string[]): Promise<any> {
    const { code, stdout, stderr } = await run(...args);
    expect(stderr, args.join(" ")).to.equal("");
    expect(code).to.equal(0);
    return JSON.parse(stdout);
  }

  it("creates users, keys and organizations, and prints JSON", async () => {
    const member = await createUser(platform, { email: "member@example.test" });
    const user = await done("user", "create", "--email", "anna@example.test", "--plan", "paid");
    expect(Object.keys(user)).to.deep.equal(["id", "api_key"]);
    expect(await findCaller(platform, user.api_key)).to.include({ userId: user.id });

    const [key, org] = await Promise.all([
      done("key", "create", user.id),
      done("org", "create", "--name", "Acme", "--owner", user.id),
    ]);
    expect(await findCaller(platform, key.api_key)).to.include({ keyId: key.id });

    const [revoked, signedOut, added, listed] = await Promise.all([
      done("key", "revoke", key.id),
      done("user", "sign-out", user.id),
      done("org", "add-member", org.id, member.id),
      done("key", "list", user.id),
    ]);
    expect(revoked.revoked_at).to.be.closeTo(Date.now() / 1000, 60);
    expect(await findCaller(platform, key.api_key)).to.equal(null);
    expect(signedOut).to.deep.equal({ id: user.id, ended_sessions: 0, revoked_keys: 0 });
    expect(added).to.deep.equal({ id: org.id, user_id: member.id });
    expect(await Memberships(platform.mongo).countDocuments({ org_id: org.id })).to.equal(2);
    const [operator, viewer] = [
      await done("user", "operator", member.id),
      await done("org", "set-role", org.id, member.id, "viewer"),
    ];
    expect(operator).to.deep.equal({ id: member.id, operator: true });
    expect(await done("user", "operator", member.id, "--off")).to.include({ operator: false });
    expect(viewer).to.deep.equal({ id: org.id, user_id: member.id, role: "viewer" });
    expect(listed.map(({ id }: { id: string }) => id))
      .to.include(key.id)
      .and.to.have.length(2);
    expect(JSON.stringify(listed)).not.to.include("hw_");

    await done("org", "add-member", org.id, member.id);
    const entries = await AuditEntries(platform.mongo).find({ "actor.kind": "operator" }).lean();
    const actionsOf = (id: string) =>
      entries.flatMap(({ owner_id, action }) => (owner_id === id ? [action] : [])).sort();
    expect(actionsOf(org.id)).to.deep.equal(["member.joined", "member.updated", "organization.created"]);
    expect(actionsOf(member.id)).to.deep.equal(["user.operator_ended", "user.operator_granted"]);
    const ofUser = [
      "api_key.created",
      "api_key.revoked",
      "organization.created",
      "user.created",
      "user.signed_out",
    ];
    expect(actionsOf(user.id)).to.deep.equal(ofUser);
    const all = [...actionsOf(org.id), ...actionsOf(member.id), ...actionsOf(user.id)];
    // What concerns two accounts is one change of the installation.
    expect(actionsOf(INSTALLATION)).to.have.members(all.filter((action, at) => all.indexOf(action) === at));
    const stored = JSON.stringify(entries);
    for (const secret of [user.api_key, key.api_key]) expect(stored).not.to.include(secret);
  });

  it("emits an event once, even if the same id is repeated", async () => {
    const { id: userId } = await createUser(platform, { email: "emitter@example.test" });
    const { id } = await createWorkflow(platform, { ownerId: userId, name: "Flow" });
    const emit = () => done("emit", id, "--event", '{"n":1}', "--id", "order:1");
    const [first, again, other] = await Promise.all([
      emit(),
      emit(),
      done("emit", id, "--event", "null", "--name", "other"),
    ]);
    expect([first, again]).to.deep.equal([{ emit_id: "order:1" }, { emit_id: "order:1" }]);
    expect(other.emit_id).to.match(/^emit_\w{16}$/);

    const worker = startEmissions(platform);
    try {
      const { rows } = await until(async () => {
        const page = await platform.eventLog.page(id, "emits", { limit: 100 });
        const left = await platform.queues
          .get("emissions")
          ?.getJobCountByTypes("waiting", "active", "delayed");
        return left === 0 && page.rows.length >= 2 && page;
      });
      expect(rows.map(row => [eventOf(row).value, row.metadata.name])).to.have.deep.members([
        [{ n: 1 }, ""],
        [null, "other"],
      ]);
    } finally {
      await worker.close(3000);
    }
  });

  it("publishes a local file with its relative imports; repeating it returns the same component", async () => {
    await mkdir(join(folder, "parts"));
    await writeFile(join(folder, "parts/word.mjs"), 'export const word = "imported";\n');
    await writeFile(
      join(folder, "published.mjs"),
      `import { word } from "./parts/word.mjs";
export default { name: "From a file", version: "1.2.3", key: "from-a-file", run() { this.$emit(word); } };\n`,
    );
    const published = await done("component", "publish", join(folder, "published.mjs"));
    expect(published).to.deep.include({ key: "from-a-file", name: "From a file", version: "1.2.3" });
    const found = await findPublished(platform, "from-a-file");
    expect(found).to.include({ _id: published.id, published: true });
    expect((await done("component", "publish", join(folder, "published.mjs"))).id).to.equal(published.id);
  });

  it("publishes a saved component by its id", async () => {
    const saver = { ownerId: "u_1", userId: "u_1" };
    const code = 'export default { name: "Saved", version: "0.0.1", key: "saved-one", run() {} };';
    const { _id } = await saveComponent(platform, saver, { component_code: code });
    expect(await done("component", "publish", _id)).to.deep.equal({
      id: _id,
      key: "saved-one",
      name: "Saved",
      version: "0.0.1",
    });
    expect((await findPublished(platform, "saved-one"))?._id).to.equal(_id);
  });

  it("reports a missing or invalid object: exit code 1, one line", async () => {
    await writeFile(join(folder, "broken.mjs"), "export default {\n  run() { const = 1 },\n};\n");
    await writeFile(join(folder, "keyless.mjs"), 'export default { name: "No key", version: "1" };\n');
    await writeFile(join(folder, "throws.mjs"), 'throw new Error("first\\nsecond");\nexport default {};\n');
    const failing: [string[], RegExp][] = [
      [["user", "create", "--email", "nobody"], /email: must be an email address/],
      [["key", "create", newId("u")], /user not found/],
      [["emit", newId("dc"), "--event", "1"], /emitter dc_\w+ not found/],
      [["emit", newId("p"), "--event", "1", "--name", "$mine"], /name must be a channel/],
      [["component", "publish", join(folder, "absent.mjs")], /nothing was found at .*absent\.mjs/],
      [["component", "publish", join(folder, "broken.mjs")], /broken\.mjs: line 2, column 1\d/],
      [["component", "publish", join(folder, "keyless.mjs")], /needs a key/],
      [["component", "publish", join(folder, "throws.mjs")], /first/],
    ];
    const results: CommandResult[] = [];
    for (let at = 0; at < failing.length; at += 3) {
      results.push(...(await Promise.all(failing.slice(at, at + 3).map(([args]) => run(...args)))));
    }
    for (const [index, [, message]] of failing.entries())
      expectError(results[index] as CommandResult, 1, message);
    expect(await Components(platform.mongo).countDocuments({ name: "No key", published: true })).to.equal(0);
  });

  it("reports wrong usage: exit code 2, with the error and a hint at the help", async () => {
    const misused: [string[], RegExp][] = [
      [[], /Usage: headwater/],
      [["nope"], /unknown command 'nope'/],
      [["user", "create", "--email", "a@example.test", "--plan", "gold"], /plan.*gold.*free, paid/],
      [["emit", "p_1", "--event", "{"], /--event.*must be JSON/],
    ];
    const results = await Promise.all(misused.map(([args]) => headwater(args)));
    for (const [index, [, message]] of misused.entries())
      expectError(results[index] as CommandResult, 2, message);
  });

  it("prints the help of each command and its version without settings or stores", async () => {
    const helpOf = [
      ["--help"],
      ["user", "create", "--help"],
      ["emit", "--help"],
      ["component", "publish", "-h"],
      ["dev", "--help"],
      ["deploy", "--help"],
    ];
    const [version, ...helps] = await Promise.all([["--version"], ...helpOf].map(args => headwater(args)));
    // Of a development start of this checkout it says something, too.
    expect(version?.code).to.equal(0);
    expect(version?.stdout).to.match(/^\d+\.\d+\.\d+\n/);
    for (const help of helps) {
      expect(help).to.include({ code: 0, stderr: "" });
      expect(help.stdout).to.match(/^Usage: headwater/);
    }
    expect(helps[1]?.stdout).to.match(/--email <email>[\s\S]*--plan <plan>[\s\S]*"free", "paid"/);
  });

  it("names the missing settings if there is no development start", async () => {
    // In a copy of the project, because a development start may be running in this one.
    const project = join(folder, "project");
    for (const name of ["src", "dist", "bin", "clients/typescript/src"]) {
      await cp(join(root, name), join(project, name), { recursive: true });
    }
    await cp(join(root, "package.json"), join(project, "package.json"));
    await symlink(join(root, "node_modules"), join(project, "node_modules"));
    const result = await headwater(["key", "list", newId("u")], {}, project);
    expectError(result, 78, /MONGODB_URL is not set.*REDIS_URL is not set.*SECRETS_KEY is not set/);

    await mkdir(join(project, ".data"));
    const lines = Object.entries(env).map(([name, value]) => `${name}="${value}"`);
    await writeFile(join(project, ".data/dev.env"), `# kept by npm start\n${lines.join("\n")}\n`);
    expectError(await headwater(["key", "list", newId("u")], {}, project), 1, /user not found/);
  });

  it("says in one line which store does not respond", async () => {
    const [redis, mongo] = await withoutStores;
    expectError(redis, 1, /Redis did not respond/);
    expectError(mongo, 1, /MongoDB/);
  });
});
