"""`haul mcp` asked by the protocol's own client. usage: check_mcp.py HAUL_MCP... -- PROFILE"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client

split = sys.argv.index("--")
server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:split])
profile = sys.argv[split + 1]


async def ask():
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert names == {"analyze", "advise", "project", "compare", "machines"}, names

        async def answer(tool, **arguments):
            text = (await session.call_tool(tool, arguments)).content[0].text
            assert len(text.split("\n")) <= 60 and max(map(len, text.split("\n"))) <= 120, text
            return text

        found = await answer("analyze", profiles=[profile])
        assert found.startswith("88.7 ms on NVIDIA A100"), found
        assert "by operator" not in found
        found = await answer("project", profiles=[profile], to=["h100-pcie5"])
        assert found.startswith("88.7 ms -> 46.3 ms on h100-pcie5"), found
        found = await answer("project", profiles=[profile], to=["h100-pcie5", "gh200"])
        assert "gh200" in found, found
        assert (await answer("advise", profiles=[profile])).startswith("88.5 ms on the recording machine")
        found = await answer("compare", before=profile, after=profile)
        assert "88.7 ms" in found, found
        assert "a100-pcie4" in await answer("machines")
        # errors are answers, and no name is an option
        found = await answer("analyze", profiles=["--help"])
        assert found.startswith("failed: ") and "--help" in found, found
        found = await answer("project", profiles=[profile], to=["no-such-gpu"])
        assert found.startswith("failed: ") and "no-such-gpu" in found, found


asyncio.run(ask())
print("haul mcp: fine")
