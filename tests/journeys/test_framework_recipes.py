"""The recipes of docs/guide/frameworks.md, run as they stand there, with the real libraries.

`tests/interfaces/recipes.sh` builds an environment that has these; elsewhere they are passed over.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pipimem import Pipimem

from tests.cases import each
from tests.runtime.building import settings, workspace

DOCS = Path(__file__).parents[2] / "docs" / "guide"
PAGES = [DOCS / "frameworks.md", DOCS / "zh-CN" / "frameworks.md"]
TOLD = "I'm allergic to peanuts, please remember that."
ASKED = "Is there anything about peanuts?"

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)


@pytest.fixture
async def pipimem(root: Path) -> AsyncIterator[Pipimem]:
    async with Pipimem(root, "offline", settings=settings()) as opened:
        yield opened


def code(page: Path, heading: str) -> str:
    """The first block of Python under a heading."""
    section = page.read_text("utf-8").split(f"\n### {heading}\n")[1]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found
    return found[1]


def recipe(heading: str) -> SimpleNamespace:
    """The names that the recipe under a heading defines."""
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(code(PAGES[0], heading), heading, "exec", dont_inherit=True), names)
    return SimpleNamespace(**names)


def said(root: Path) -> list[str]:
    """All transcripts of the workspace, by channel."""
    logs = sorted((root / "channels").rglob("log.jsonl"))
    lines = [line for log in logs for line in log.read_text("utf-8").splitlines()]
    return [match[1] for line in lines if (match := re.search(r'"content": "(.*)"}$', line))]


@each("heading", ["Google ADK", "Microsoft Agent Framework", "NoneBot 2"])
def test_a_recipe_is_the_same_in_both_languages(heading: str) -> None:
    """Only the one in English is run."""
    assert code(PAGES[0], heading) == code(PAGES[1], heading)


async def test_google_adk_loads_what_an_earlier_session_said(pipimem: Pipimem, root: Path) -> None:
    """Sessions are added twice, which stores nothing twice; another user gets nothing."""
    pytest.importorskip("google.adk")
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.adk.tools import preload_memory
    from google.genai.types import Content, Part

    sent: list[str] = []

    class Model(BaseLlm):
        async def generate_content_async(self, request: Any, *_: Any, **__: Any) -> Any:
            sent.append("\n".join(part.text for one in request.contents for part in one.parts))
            yield LlmResponse(content=Content(role="model", parts=[Part(text="Noted.")]))

    memory, sessions = (
        recipe("Google ADK").PipimemMemoryService(pipimem),
        InMemorySessionService(),
    )
    agent = LlmAgent(name="pipi", model=Model(model="scripted"), tools=[preload_memory])
    runner = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=memory)
    for user, text in (("dana", TOLD), ("dana", ASKED), ("tom", ASKED)):
        session = await sessions.create_session(app_name="app", user_id=user)
        message = Content(role="user", parts=[Part(text=text)])
        async for _ in runner.run_async(user_id=user, session_id=session.id, new_message=message):
            pass
        session = await sessions.get_session(app_name="app", user_id=user, session_id=session.id)
        for _ in range(2):
            await memory.add_session_to_memory(session)
    assert "I'm allergic to peanuts" in sent[1]
    assert "allergic" not in sent[2]
    assert said(root) == [TOLD, "Noted.", ASKED, "Noted.", ASKED, "Noted."]


async def test_microsofts_agent_is_told_and_offered_tools(pipimem: Pipimem, root: Path) -> None:
    """The second run calls a tool, and its answer is not stored as something said."""
    framework = pytest.importorskip("agent_framework")
    sent: list[tuple[str, int]] = []
    call = framework.Content.from_function_call(
        call_id="1", name="memory_search", arguments='{"query": "peanuts"}'
    )
    answers: list[Any] = ["Noted.", call, "Peanuts."]

    class Client(framework.FunctionInvocationLayer, framework.BaseChatClient):  # type: ignore[misc, name-defined]
        def _inner_get_response(self, *, messages: Any, options: Any, **_: Any) -> Any:
            text = "\n".join([options["instructions"], *(one.text for one in messages)])
            sent.append((text, len(options["tools"])))
            return self._answer(answers.pop(0))

        async def _answer(self, content: Any) -> Any:
            message = framework.Message("assistant", [content])
            return framework.ChatResponse(messages=[message])

    channel = await pipimem.channel("room")
    provider = recipe("Microsoft Agent Framework").PipimemProvider(channel)
    agent = framework.Agent(Client(), "You are pipi.", context_providers=[provider])
    for text in (TOLD, ASKED):
        session = agent.create_session()
        await agent.run(text, session=session)
        assert "allergic" not in str(session.state).replace(TOLD, "")
        await channel.reset()
    assert "## Your memory" in sent[0][0]
    assert "I'm allergic to peanuts" in sent[1][0]
    assert [count for _, count in sent] == [5, 5, 5]
    assert said(root) == [TOLD, "Noted.", ASKED, "Peanuts."]


async def test_a_plugin_of_nonebot_hears_groups_and_answers(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message to nobody is stored, one to the bot is answered; a person alone has a channel."""
    nonebot = pytest.importorskip("nonebot")
    from tests.journeys.nonebot_platform import Adapter, Bot, Event, handle_event

    prompts: list[str] = []

    async def your_llm(prompt: str, text: str) -> str:
        prompts.append(prompt)
        return f"You said {text}"

    monkeypatch.chdir(root.parent)
    nonebot.init(driver="~none", log_level="ERROR")
    driver = nonebot.get_driver()
    names: dict[str, Any] = {"__name__": "recipe", "your_llm": your_llm}
    exec(compile(code(PAGES[0], "NoneBot 2"), "nonebot", "exec", dont_inherit=True), names)
    bot = Bot(Adapter(driver), "bot")
    await driver._lifespan.startup()
    for event in (
        Event(text=TOLD, user="dana", group_id=7, message_id=1, me=False),
        Event(text=ASKED, user="tom", group_id=7, message_id=2),
        Event(text="hello", user="eve", message_id=1),
    ):
        await handle_event(bot, event)
    await driver._lifespan.shutdown()
    assert bot.replies == [f"You said {ASKED}", "You said hello"]
    assert "## Your memory" in prompts[0]
    assert said(root) == ["hello", "You said hello", TOLD, ASKED, f"You said {ASKED}"]
    assert "I'm allergic to peanuts" in "".join(
        file.read_text("utf-8") for file in (root / "channels").rglob("MEMORY.md")
    )
