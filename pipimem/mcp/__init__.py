"""The MCP server: `pipimem mcp`. Its library is the extra `mcp`, and loads on use."""
