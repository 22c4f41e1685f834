"""The assistant of the memory: its tasks, their prompts and answers, by models or by rules."""
