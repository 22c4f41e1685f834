"""LangChain: the memory of one conversation as a middleware of an agent made by `create_agent`."""

try:
    from pipimem.adapters.langchain.agent_middleware import LangChainMiddleware
except ImportError as error:
    raise ImportError(
        "pipimem.adapters.langchain needs LangChain: pip install 'pipimem[langchain]'"
    ) from error

__all__ = ["LangChainMiddleware"]
