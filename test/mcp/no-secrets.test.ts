import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";
import { callTool } from "./mcp.ts";

const CODE = `export default { name: "Asks", version: "0.0.1",
  props: { chat: { type: "app", app: "chat", optional: true }, token: { type: "string", secret: true, optional: true },
    tokens: { type: "string[]", secret: true, optional: true }, room: { type: "string", optional: true } },
  run() {} };`;
/** What its code makes of its props is known once it has run. */
const FORM = `export default { name: "Form", version: "0.0.1",
  props: { pick: { type: "string", optional: true, reloadProps: true } },
  additionalProps() { return { key: { type: "string", secret: true, optional: true } }; }, run() {} };`;
const SECRET = "hunter2-hunter2";

describe("mcp/no-secrets", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let component: string;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0", MCP: "write" });
    api = await system.user();
    component = (await call("save_component", { component_code: CODE })).structuredContent.data.id;
  });
  after(() => system.stop());

  const call = (name: string, given: object) => callTool(api, name, given, "/mcp?write=1");
  const deploy = (configured_props: object, component_id = component) =>
    call("deploy_source", { component_id, configured_props });

  it("takes no value of a secret prop, and no credentials", async () => {
    for (const configured of [
      { token: SECRET },
      { tokens: [SECRET] },
      { room: "a", token: SECRET },
      { chat: { $auth: { api_key: SECRET } } },
      { chat: { api_key: SECRET } },
      { chat: SECRET },
    ]) {
      const { isError, content } = await deploy(configured);
      expect(isError, JSON.stringify(configured)).to.equal(true);
      expect(content[0].text).to.match(/is a secret, which no agent may give|must be a connection/);
      expect(content[0].text).not.to.contain(SECRET);
    }
    expect(await api.expect(200, "GET", "/users/me/sources")).to.deep.equal([]);
  });

  it("takes connections of the account, and other props", async () => {
    const { id: authProvisionId } = await api.expect(201, "POST", "/connections", {
      body: { app: "chat", fields: { api_key: SECRET } },
    });
    const { structuredContent: listed } = await call("list_connections", {});
    expect(listed.data[0]).to.deep.include({ id: authProvisionId, app: "chat" });
    expect(JSON.stringify(listed)).not.to.contain(SECRET);
    const configured_props = { chat: { authProvisionId }, room: "a" };
    const { structuredContent, content } = await deploy(configured_props);
    expect(structuredContent?.data.configured_props, content[0].text).to.deep.equal(configured_props);

    const other = await system.user();
    const { id: theirs } = await other.expect(201, "POST", "/connections", {
      body: { app: "chat", fields: { api_key: SECRET } },
    });
    expect((await deploy({ chat: { authProvisionId: theirs } })).content[0].text).to.match(
      /has no connection/,
    );
  });

  it("holds for a source that is there, and for the component that it gets", async () => {
    const source = (await deploy({ room: "a" })).structuredContent.data.id;
    const update = (given: object) => call("update_source", { source, active: true, ...given });
    expect((await update({ configured_props: { token: SECRET } })).content[0].text).to.match(/is a secret/);
    const code = CODE.replace("0.0.1", "0.0.2").replace(
      "room:",
      "password: { type: 'string', secret: true, optional: true }, room:",
    );
    const component_id = (await call("save_component", { component_code: code })).structuredContent.data.id;
    const both = { component_id, configured_props: { password: SECRET } };
    expect((await update(both)).content[0].text).to.match(/password: is a secret/);

    await api.expect(200, "PUT", `/sources/${source}`, { body: { configured_props: { token: SECRET } } });
    const { structuredContent } = await update({ component_id });
    expect(structuredContent.data.secrets_removed, "code of an agent does not get them").to.deep.equal([
      "token",
    ]);
    const { structuredContent: changed } = await update({ configured_props: { room: "b" } });
    expect(changed.data.configured_props).to.deep.equal({ room: "b" });
  });

  it("takes no prop that a component makes, since it may be secret", async () => {
    const { id } = (await call("save_component", { component_code: FORM })).structuredContent.data;
    expect((await deploy({ key: SECRET }, id)).content[0].text).to.match(/key: may be a secret/);
    expect((await deploy({ pick: "a" }, id)).isError).to.equal(undefined);
    expect((await deploy({ other: "a" })).content[0].text).to.match(/has no such prop/);
  });

  it("says what is wrong with arguments before anything is looked up", async () => {
    expect((await call("deploy_source", { component_id: 5 })).content[0].text).to.match(/must be a string/);
    expect((await deploy([1] as object)).content[0].text).to.match(/configured_props: must be an object/);
    expect((await deploy({}, "sc_none")).content[0].text).to.match(/not found/i);
  });
});
