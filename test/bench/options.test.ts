import { expect } from "chai";
import { UsageError } from "../../bench/entry.ts";
import { readOptions } from "../../bench/options.ts";

describe("the options of the benchmark", () => {
  it("name the products to be measured beside Headwater, each once", () => {
    expect(readOptions(["W4"]).peers).to.deep.equal([]);
    const args = ["W4", "W6", "--peer", "n8n", "--peer", "node-red", "--peer", "n8n"];
    expect(readOptions(args).peers).to.deep.equal(["n8n", "node-red"]);
    expect(readOptions(["--peer", "node-red"]).peers).to.deep.equal(["node-red"]);
  });

  it("reject a product that it does not know", () => {
    const reason = '--peer must be one of node-red, n8n, not "zapier"';
    expect(() => readOptions(["W4", "--peer", "zapier"])).to.throw(UsageError, reason);
  });

  it("reject a product where no workload is one that it can do", () => {
    expect(() => readOptions(["W1", "--peer", "n8n"])).to.throw(UsageError, "--peer needs W4 or W6");
  });
});
