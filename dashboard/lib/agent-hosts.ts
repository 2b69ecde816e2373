/** How a host of agents connects, as docs/agents.md says it (test/dashboard/agent-hosts.test.ts). */
export interface AgentHost {
  name: string;
  /** Where the text goes. */
  where: string;
  /** Returns the text for the server's address of the Model Context Protocol. */
  textFor: (address: string) => string;
}

const CURSOR = (address: string) => `{
  "mcpServers": {
    "headwater": {
      "url": "${address}",
      "headers": { "Authorization": "Bearer \${env:HEADWATER_API_KEY}" }
    }
  }
}`;

const VS_CODE = (address: string) => `{
  "inputs": [{ "type": "promptString", "id": "headwater-key", "description": "API key of Headwater", "password": true }],
  "servers": {
    "headwater": {
      "type": "http",
      "url": "${address}",
      "headers": { "Authorization": "Bearer \${input:headwater-key}" }
    }
  }
}`;

export const AGENT_HOSTS: AgentHost[] = [
  {
    name: "Claude Code",
    where: "At a terminal",
    textFor: address =>
      `claude mcp add --transport http headwater ${address} --header "Authorization: Bearer $HEADWATER_API_KEY"`,
  },
  { name: "Cursor", where: "In .cursor/mcp.json", textFor: CURSOR },
  { name: "VS Code", where: "In .vscode/mcp.json; it asks for the key once", textFor: VS_CODE },
];

/** Returns the address that agents connect to, for an organization or for the own account. */
export const agentAddress = (origin: string, orgId: string | null): string =>
  `${origin}/mcp${orgId === null ? "" : `?org_id=${orgId}`}`;
