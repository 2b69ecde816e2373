import { join } from "node:path";
import { expect } from "chai";
import { Components } from "../../src/models/component.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { type CommandResult, headwater } from "./command.ts";
import { type DeployFolder, openDeployFolder } from "./deploy-folder.ts";

describe("headwater deploy", () => {
  let open: DeployFolder;
  let api: DeployFolder["api"];
  let env: DeployFolder["env"];
  let folder: string;

  before(async () => {
    open = await openDeployFolder();
    ({ api, env, folder } = open);
    await save("props.json", '{"who": "anna"}');
  });
  after(() => open.close());

  const save = (name: string, code: string) => open.save(name, code);

  /** Returns what a deployment printed, which must succeed. */
  function printed({ code, stdout, stderr }: CommandResult) {
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout);
  }

  const emitted = async (sourceId: string) =>
    (
      await until(async () => {
        const rows = await api.summaries(sourceId);
        return rows.length > 0 && rows;
      })
    ).map(({ event }) => event.raw_event ?? event);

  it("deploys a file, prints its URL and the next steps, and updates the source of that name", async () => {
    const code = (word: string) =>
      `export default { name: "My Hook", version: "1", props: { http: "$.interface.http", who: "string" }, run(event) { this.$emit({ word: "${word}", who: this.who, n: event.body.n }); } };`;
    const file = await save("hook.mjs", code("first"));
    const result = await headwater(["deploy", file, "--props", join(folder, "props.json")], env);
    const source = printed(result);
    expect(source).to.include({ name: "my-hook", deployed: "created" });
    expect(result.stderr).to.include(`headwater source events ${source.id} --follow`);
    expect(result.stderr).to.include(`headwater subscription create ${source.id} wh_`);
    expect(result.stderr).not.to.include(api.apiKey);
    const send = (n: number) =>
      fetch(source.endpoint_url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ n }),
      });
    await send(1);
    expect(await emitted(source.id)).to.deep.equal([{ word: "first", who: "anna", n: 1 }]);

    await save("hook.mjs", code("second"));
    const again = printed(await headwater(["deploy", file], env));
    expect(again).to.include({ id: source.id, deployed: "updated", endpoint_url: source.endpoint_url });
    await send(2);
    const event = await until(async () => (await emitted(source.id)).find(({ n }) => n === 2));
    expect(event).to.deep.equal({ word: "second", who: "anna", n: 2 });
  });

  it("deploys a local file with its relative imports, with an API key alone, and keeps its secrets when it is edited", async () => {
    const remote = { HEADWATER_URL: open.system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    const file = await save(
      "several.mjs",
      `import { word } from "./parts/word.mjs";
       export default { name: "Several", version: "1", props: { timer: "$.interface.timer", who: "string" }, run() { this.$emit({ word, who: this.who }); } };`,
    );
    const source = printed(
      await headwater(
        ["deploy", file, "--props", join(folder, "props.json"), "--name", "Named Here"],
        remote,
      ),
    );
    expect(source).to.deep.include({
      name: "Named Here",
      timer: { cron: null, interval_seconds: 900 },
      deployed: "created",
    });
    expect(await emitted(source.id)).to.deep.equal([{ word: "imported", who: "anna" }]);
    expect(await Components(open.system.web.mongo).findById(source.component_id).lean()).to.include({
      owner_id: api.userId,
      user_id: api.userId,
    });
    await save(
      "several.mjs",
      `import { word } from "./parts/word.mjs";
       export default { name: "Several", version: "2", props: { timer: "$.interface.timer", who: { type: "string", secret: true } }, run() { this.$emit({ word, now: this.who }); } };`,
    );
    const secret = await save("secret.json", '{"who": "berta"}');
    printed(await headwater(["deploy", file, "--props", secret, "--name", "Named Here"], remote));
    await save(
      "several.mjs",
      `import { word } from "./parts/word.mjs";
       export default { name: "Several", version: "3", props: { timer: "$.interface.timer", who: { type: "string", secret: true } }, run() { this.$emit({ word, then: this.who }); } };`,
    );
    const edited = printed(await headwater(["deploy", file, "--name", "Named Here"], remote));
    expect(edited).to.include({ id: source.id, deployed: "updated" });
    const { configured_props, secrets_set } = await api.expect(200, "GET", `/sources/${source.id}`);
    expect([configured_props.who, secrets_set]).to.deep.equal([undefined, ["who"]]);
  });

  it("deploys from an address, following its relative imports", async () => {
    const files: Record<string, string> = {
      "/src/main.mjs": `import { word } from "../lib/word.mjs";
        export default { name: "From Address", version: "1", props: { timer: "$.interface.timer" }, run() { this.$emit(word); } };`,
      "/lib/word.mjs": 'export const word = "fetched";',
    };
    const server: Receiver = await startReceiver(({ path }) => {
      const body = files[path];
      return body === undefined ? 404 : { status: 200, headers: { "content-type": "text/javascript" }, body };
    });
    try {
      const source = printed(await headwater(["deploy", `${new URL(server.url).origin}/src/main.mjs`], env));
      expect(source).to.include({ name: "from-address", deployed: "created" });
      expect(await emitted(source.id)).to.deep.equal(["fetched"]);
    } finally {
      await server.close();
    }
  });

  it("reports an error in one line, with exit code 1", async () => {
    const needy = await save(
      "needy.mjs",
      'export default { name: "Needy", version: "1", props: { who: "string" }, run() {} };',
    );
    const { code, stdout, stderr } = await headwater(["deploy", needy], env);
    expect(stderr).to.match(/returned 400: .*who.*is required/);
    expect(stderr.trimEnd().split("\n")).to.have.length(1);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    expect((await api.request("GET", "/users/me/sources")).text).not.to.include("Needy");
  });
});
