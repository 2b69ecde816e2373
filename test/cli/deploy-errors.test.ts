// runs-long: npm test has test/cli/deploy.test.ts, with one error
import { expect } from "chai";
import { headwater } from "./command.ts";
import { type DeployFolder, openDeployFolder } from "./deploy-folder.ts";

describe("errors of headwater deploy", () => {
  let open: DeployFolder;
  let api: DeployFolder["api"];
  let env: DeployFolder["env"];

  before(async () => {
    open = await openDeployFolder({ workers: false });
    ({ api, env } = open);
  });
  after(() => open.close());

  const save = (name: string, code: string) => open.save(name, code);

  it("are reported in one line, with exit code 1", async () => {
    const needy = await save(
      "needy.mjs",
      'export default { name: "Needy", version: "1", props: { who: "string" }, run() {} };',
    );
    const several = await save(
      "other.mjs",
      'import { word } from "./parts/word.mjs"; export default { name: "Other", version: word, run() {} };',
    );
    const broken = await save("broken.mjs", "export default {\n  run() { const = 1 },\n};");
    const { HEADWATER_API_KEY: _, ...keyless } = env;
    const cases: [string[], Record<string, string>, RegExp][] = [
      [[needy, "--key", "hw_wrong"], env, /returned 401/],
      [[several, "--key", "hw_wrong"], env, /returned 401/],
      [[broken], env, /broken\.mjs: line 2, column \d+/],
      [[needy], keyless, /no API key: run headwater login, or set it with --key/],
      [[needy, "--url", "http://127.0.0.1:1"], env, /no response from http:\/\/127\.0\.0\.1:1/],
    ];
    for (let at = 0; at < cases.length; at += 4) {
      await Promise.all(
        cases.slice(at, at + 4).map(async ([args, settings, message]) => {
          const { code, stdout, stderr } = await headwater(["deploy", ...args], settings);
          expect(stderr).to.match(message);
          expect(stderr.trimEnd().split("\n")).to.have.length(1);
          expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
        }),
      );
    }
    expect((await api.request("GET", "/users/me/sources")).text).not.to.include("Needy");
  });
});
