import { expect } from "chai";
import { AGENT_HOSTS, agentAddress } from "../../dashboard/lib/agent-hosts.ts";
import { read } from "../docs/repository.ts";

describe("the texts with which hosts of agents connect", () => {
  for (const { name, textFor } of AGENT_HOSTS) {
    it(`are those of docs/agents.md: ${name}`, () => {
      expect(read("docs/agents.md")).to.contain(textFor(agentAddress("https://headwater.example.com", null)));
    });
  }

  it("name the organization that is shown", () => {
    expect(agentAddress("https://headwater.example.com", "o_1")).to.equal(
      "https://headwater.example.com/mcp?org_id=o_1",
    );
  });
});
