import { expect } from "chai";
import { changedProps, compareProps, withMadeProps } from "../../../src/cli/apply/props.ts";

const component = {
  configurable_props: [
    { name: "chat", type: "app" },
    { name: "http", type: "$.interface.http" },
    { name: "events", type: "$.interface.apphook" },
    { name: "timer", type: "$.interface.timer" },
    { name: "note", type: "string" },
  ],
};
/** As the server shows them: interfaces have values without being configured. */
const shown = {
  chat: { authProvisionId: "apn_1" },
  http: { endpoint_url: "https://x.example/in/a" },
  events: { endpoint_url: "https://x.example/in/apn_1-a", event_names: ["push"] },
  timer: { cron: null, interval_seconds: 900 },
};
const compare = (wanted: Record<string, unknown>, more: { values?: object; made?: string[] } = {}) => {
  const current = {
    configured_props: { ...shown, ...more.values },
    secrets_set: [],
    dynamic_props: (more.made ?? []).map(name => ({ name, type: "string" })),
  };
  const known = withMadeProps(component, current);
  const { changes, left } = compareProps({ wanted, raw: wanted }, current, known, []);
  return { changes, sent: changedProps(wanted, left, known) };
};
const WANTED = { chat: { authProvisionId: "apn_1" } };

describe("the props of a file beside those of the server", () => {
  it("are the same if only interfaces have values of their own", () => {
    expect(compare(WANTED)).to.deep.equal({ changes: [], sent: WANTED });
  });

  it("lack what has a value there, which is removed", () => {
    const { changes, sent } = compare(WANTED, { values: { note: "old" } });
    expect(changes).to.deep.equal([{ field: "props.note", to: null }]);
    expect(sent).to.deep.equal({ ...WANTED, note: null });
  });

  it("lack what the code made for it, too", () => {
    const { changes, sent } = compare(WANTED, { values: { column: "a" }, made: ["column"] });
    expect(changes).to.deep.equal([{ field: "props.column", to: null }]);
    expect(sent).to.deep.equal({ ...WANTED, column: null });
  });
});
