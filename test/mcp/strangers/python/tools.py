"""Uses an MCP server with the Python SDK, unchanged, in both eras of the protocol (test/mcp/strangers/python.test.ts).

MCP_URL and HEADWATER_API_KEY name the server and the account. Prints what it has found, as JSON.
"""

import asyncio
import json
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def plain(result):
    """What the server has sent, under the names of the protocol."""
    return result.model_dump(by_alias=True, mode="json")


async def use(mode):
    headers = {"Authorization": f"Bearer {os.environ['HEADWATER_API_KEY']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(os.environ["MCP_URL"], http_client=http)
        async with Client(transport, mode=mode) as client:
            tools = plain(await client.list_tools())["tools"]
            failed = []
            for tool in tools:
                # check_component runs code; the others without arguments only read.
                if tool["inputSchema"].get("required") or tool["name"] == "check_component":
                    continue
                if plain(await client.call_tool(tool["name"], {}))["isError"]:
                    failed.append(tool["name"])
            listed = plain(await client.call_tool("list_sources", {}))
            absent = plain(await client.call_tool("get_source", {"source": "dc_none"}))
            resource = plain(await client.read_resource("headwater://docs/agents"))
            prompt = plain(await client.get_prompt("why_not_arrived", {"source": "one"}))
            return {
                "version": client.protocol_version,
                "tools": len(tools),
                "failed": failed,
                "sources": [source["name"] for source in listed["structuredContent"]["data"]],
                "absent": absent["isError"],
                "page": resource["contents"][0]["text"].split("\n")[0],
                "prompt": "one" in json.dumps(prompt["messages"]),
            }


async def main():
    print(json.dumps({mode: await use(mode) for mode in ["auto", "legacy"]}))


asyncio.run(main())
