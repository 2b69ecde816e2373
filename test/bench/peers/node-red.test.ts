import { expect } from "chai";
import { flowTo } from "../../../bench/peers/node-red.ts";

interface FlowNode {
  id: string;
  type: string;
  func?: string;
  url?: string;
  wires?: string[][];
}

const flow = flowTo("http://127.0.0.1:4000/0") as FlowNode[];
const ofType = (type: string) => flow.find(node => node.type === type);

describe("the flow that Node-RED is measured with", () => {
  it("goes from a request to the function, and from there to the response and to the receiver", () => {
    const typeOf = (id: string) => flow.find(node => node.id === id)?.type;
    expect(ofType("http in")?.wires?.flat().map(typeOf)).to.deep.equal(["function"]);
    expect(ofType("function")?.wires?.flat().map(typeOf)).to.deep.equal(["http response", "http request"]);
    expect(ofType("http request")?.url).to.equal("http://127.0.0.1:4000/0");
  });

  it("adds one field to the event, and the id without which the receiver takes it for a stray", () => {
    const run = new Function("msg", ofType("function")?.func ?? "");
    const [response, sent] = run({ _msgid: "a1", req: "req", res: "res", payload: { n: 1 } });
    expect(response).to.deep.equal({ req: "req", res: "res", payload: "" });
    expect(sent.payload).to.deep.equal({ n: 1, peer: true });
    expect(sent.headers).to.include({ "webhook-id": "a1" });
  });
});
