"""Bots for chat platforms: `pipimem dingtalk`. Their libraries are extras, and load on use."""
