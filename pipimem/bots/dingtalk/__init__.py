"""A DingTalk bot with memory, over Stream mode: `pipimem dingtalk`."""
