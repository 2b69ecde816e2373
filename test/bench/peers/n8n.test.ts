import { expect } from "chai";
import { workflowTo } from "../../../bench/peers/n8n.ts";

interface Workflow {
  nodes: { name: string; parameters: Record<string, unknown> }[];
  connections: Record<string, { main: { node: string }[][] }>;
}

const { nodes, connections } = workflowTo("http://127.0.0.1:4000/0") as Workflow;
const parametersOf = (name: string) => nodes.find(node => node.name === name)?.parameters;

describe("the workflow that n8n is measured with", () => {
  it("goes from a webhook that responds at once through the code to the receiver", () => {
    const next = (name: string) => connections[name]?.main.flat().map(({ node }) => node);
    expect(next("Webhook")).to.deep.equal(["Code"]);
    expect(next("Code")).to.deep.equal(["HTTP Request"]);
    expect(parametersOf("Webhook")).to.include({ httpMethod: "POST", responseMode: "onReceived" });
    expect(parametersOf("HTTP Request")).to.include({ method: "POST", url: "http://127.0.0.1:4000/0" });
  });

  it("adds one field to the event", () => {
    const run = new Function("$input", String(parametersOf("Code")?.jsCode));
    const items = run({ all: () => [{ json: { body: { n: 1 } } }] });
    expect(items).to.deep.equal([{ json: { n: 1, peer: true } }]);
  });
});
