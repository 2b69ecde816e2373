import { expect } from "chai";
import fc from "fast-check";
import { formatEnv, parseEnv } from "../../script/lib/env-file.mjs";
import { parseProcfile, procfileFor, readProcfile } from "../../script/lib/procfile.mjs";
import { developmentSettings, localUrl, portSetting } from "../../script/lib/settings.mjs";

describe("an env file", () => {
  it("is parsed into names and values, without comments, quotes and export", () => {
    const text = "# a comment\nA=1\nexport B = two words # and why\nC=\"x # y\"\n\nD='$z'\nE=\nnonsense\n";
    expect(parseEnv(text)).to.deep.equal({ A: "1", B: "two words", C: "x # y", D: "$z", E: "" });
  });

  it("is parsed into the settings that were written", () => {
    const value = fc.stringMatching(/^[\w@%+=:,./?&# -]*$/);
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[A-Z][A-Z_]{0,9}$/), value), settings => {
        expect(parseEnv(formatEnv(settings, ["written by a test"]))).to.deep.equal({ ...settings });
      }),
    );
  });
});

describe("the settings of a development start", () => {
  it("are generated once and kept", () => {
    const first = developmentSettings({ given: {}, saved: {}, port: 3000 });
    expect(Buffer.from(first.SECRETS_KEY ?? "", "base64")).to.have.length(32);
    expect(first.ADMIN_PASSWORD).to.have.length.of.at.least(8);
    expect(developmentSettings({ given: {}, saved: first, port: 3000 })).to.deep.equal(first);
  });

  it("are overridden by given settings, an empty EGRESS_ALLOW included", () => {
    const given = { SECRETS_KEY: "mine", PUBLIC_URL: "https://example.org", EGRESS_ALLOW: "" };
    const settings = developmentSettings({ given, saved: { SECRETS_KEY: "old" }, port: 4000 });
    expect(settings).to.include({ ...given, PORT: "4000" });
  });

  it("allow deliveries to loopback if EGRESS_ALLOW is not set", () => {
    const { EGRESS_ALLOW } = developmentSettings({ given: {}, saved: {}, port: 1 });
    expect(EGRESS_ALLOW).to.equal("127.0.0.0/8,::1/128");
  });

  it("reject a PORT that is not a port, naming it", () => {
    expect(portSetting(undefined)).to.equal(3000);
    expect(portSetting("0")).to.equal(0);
    for (const wrong of ["abc", "-1", "65536", "3000x", "1e3"]) {
      expect(() => portSetting(wrong)).to.throw(`PORT is "${wrong}"`);
    }
  });

  it("have a local URL with this machine's address if the web process listens on every address", () => {
    expect(localUrl(undefined, 3000)).to.equal("http://127.0.0.1:3000");
    expect(localUrl("0.0.0.0", 3000)).to.equal("http://127.0.0.1:3000");
    expect(localUrl("::1", 3000)).to.equal("http://[::1]:3000");
  });
});

describe("a Procfile", () => {
  it("lists its processes in order", () => {
    expect(
      parseProcfile("# processes\nweb: node dist/src/server.js\n\nruns:  node a.js  --x\n"),
    ).to.deep.equal([
      { name: "web", program: "node", args: ["dist/src/server.js"] },
      { name: "runs", program: "node", args: ["a.js", "--x"] },
    ]);
  });

  it("is the small one, with a web process and one for all queues, unless --processes asks for the other", () => {
    const root = new URL("../..", import.meta.url).pathname;
    const programsOf = (args: string[]) => readProcfile(root + procfileFor(args)).map(one => one.args.at(-1));
    expect(programsOf(["--watch"])).to.deep.equal(["dist/src/server.js", "dist/workers/all.js"]);
    expect(programsOf(["--watch", "--processes"])).to.include.members([
      "dist/src/server.js",
      "dist/workers/runs.js",
    ]);
  });

  it("is rejected with the number of a line that names no process", () => {
    expect(() => parseProcfile("web: node a.js\nnode b.js\n")).to.throw("line 2");
  });
});
