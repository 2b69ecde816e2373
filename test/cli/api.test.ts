// runs-long: npm test has test/clients, and test/cli/walk.test.ts

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { commandsWith, startHeadwater } from "./command.ts";

describe("headwater api", () => {
  let system: System;
  let api: Api;
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    folder = await mkdtemp(join(tmpdir(), "headwater-api-"));
  });
  after(async () => {
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const { printed, failure, misuse } = commandsWith(() => env);

  it("sends any request with its query and its body, and prints the data, or the page of a list", async () => {
    const file = join(folder, "changes.json");
    await writeFile(file, '{"description": "From a file"}');
    const made = JSON.parse(await printed("api", "POST", "/webhooks?url=https://example.com/1&name=first"));
    expect(made).to.include({ name: "first", url: "https://example.com/1" });
    const changed = JSON.parse(await printed("api", "put", `/v1/webhooks/${made.id}`, "--data", `@${file}`));
    expect(changed).to.include({ id: made.id, description: "From a file" });
    const reading = startHeadwater(["api", "post", "/workflows", "--data", "-"], env);
    reading.type('{"name": "shop"}');
    reading.endInput();
    const piped = await reading.ended;
    expect([piped.code, JSON.parse(piped.stdout).name], piped.stderr).to.deep.equal([0, "shop"]);
    const page = JSON.parse(await printed("api", "get", "/users/me/webhooks?limit=1"));
    expect(page.page_info).to.include({ total_count: 1, count: 1 });
    expect(page.data[0].id).to.equal(made.id);
    expect(await printed("api", "delete", `/webhooks/${made.id}`)).to.equal("");
    expect((await api.request("GET", `/webhooks/${made.id}`)).status).to.equal(404);
  });

  it("says in one line what the server rejects, and what can't be meant", async () => {
    expect(await failure("api", "get", "/webhooks/wh_nothing")).to.match(/returned 404/);
    expect(await failure("api", "post", "/webhooks", "--data", '{"url": "ftp://x"}')).to.match(
      /returned 400.*url/,
    );
    expect(await failure("api", "get", "/nothing")).to.match(/returned 404/);
    expect(await misuse("api", "get", "/webhooks", "--data", "{}")).to.include("--data: goes with post");
    expect(await misuse("api", "post", "/webhooks", "--data", "{")).to.include("--data: must be JSON");
  });
});
