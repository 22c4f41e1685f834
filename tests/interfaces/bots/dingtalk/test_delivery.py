"""How answers arrive: webhook or AI card."""

from __future__ import annotations

import pytest
from pipimem import SidecarError

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies, said_in
from tests.servers.dingtalk import CLIENT_ID, FakeDingTalk

pytestmark = pytest.mark.anyio

TEMPLATE = "ai.schema"


async def test_with_a_template_the_answer_comes_on_a_streaming_card(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The card is there before the model is asked, and is closed with the answer."""
    async with running(replies=ScriptedReplies(), card_template=TEMPLATE):
        await dingtalk.say("hello")
        await dingtalk.until(lambda: len(dingtalk.cards) == 3)
    made, streamed, closed = dingtalk.cards
    assert (made.method, made.path) == ("POST", "/v1.0/card/instances/createAndDeliver")
    assert made.body["cardTemplateId"] == TEMPLATE
    assert made.body["openSpaceId"] == f"dtv1.card//IM_GROUP.{GROUP}"
    assert made.body["imGroupOpenDeliverModel"] == {"robotCode": CLIENT_ID}
    assert made.body["cardData"] == {"cardParamMap": {"content": "", "flowStatus": "2"}}
    name = made.body["outTrackId"]
    assert (streamed.method, streamed.path) == ("PUT", "/v1.0/card/streaming")
    said = {key: streamed.body[key] for key in ("outTrackId", "key", "content")}
    assert said == {"outTrackId": name, "key": "content", "content": "re: hello"}
    assert (streamed.body["isFull"], streamed.body["isFinalize"]) == (True, True)
    assert closed.body["outTrackId"] == name
    assert closed.body["cardData"]["cardParamMap"]["flowStatus"] == "3"
    assert dingtalk.said == []


async def test_a_card_of_a_direct_message_goes_to_its_person(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Who has no id in the company gets Markdown."""
    async with running(replies=ScriptedReplies(), card_template=TEMPLATE):
        await dingtalk.say("hello", channel="cidDm", conversationType="1")
        await dingtalk.until(lambda: len(dingtalk.cards) == 3)
        await dingtalk.say("hi", channel="cidDm", conversationType="1", senderStaffId="")
        await dingtalk.until(lambda: bool(dingtalk.said))
    body = dingtalk.cards[0].body
    assert body["openSpaceId"] == "dtv1.card//IM_ROBOT.staff-lin"
    assert body["imRobotOpenDeliverModel"] == {"spaceType": "IM_ROBOT"}


async def test_where_cards_fail_the_webhook_answers(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Once."""
    dingtalk.card_status = 403
    async with running(replies=ScriptedReplies(), card_template=TEMPLATE):
        await dingtalk.say("hello")
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [said.text for said in dingtalk.said] == ["re: hello"]


async def test_a_token_is_asked_for_once_and_anew_when_it_is_refused(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """It lasts two hours."""
    async with running(replies=ScriptedReplies(), card_template=TEMPLATE):
        await dingtalk.say("one")
        await dingtalk.until(lambda: len(dingtalk.cards) == 3)
        assert dingtalk.tokens == 1
        dingtalk.tokens = 5  # the old one counts no more
        await dingtalk.say("two")
        await dingtalk.until(lambda: len(dingtalk.cards) == 6)
        assert dingtalk.tokens == 6


async def test_a_webhook_that_is_not_dingtalks_is_told_nothing(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """A message cannot send what the bot says elsewhere."""
    async with running(replies=ScriptedReplies()) as pipimem:
        for address in ("https://example.com/hook", "http://oapi.dingtalk.com/x", "file:///x", ""):
            await dingtalk.say("secret", sessionWebhook=address)
        await dingtalk.say("hello", channel="cidOther")
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [role for role, _, _ in await said_in(pipimem)] == ["user"] * 4


async def test_a_model_that_fails_is_told_and_nothing_of_it_is_remembered(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """The message is."""
    replies = ScriptedReplies(error=SidecarError("the key sk-123 is wrong"))
    async with running(replies=replies) as pipimem:
        await dingtalk.say("hello")
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert "没有回应" in dingtalk.said[0].text
    assert "sk-123" not in dingtalk.said[0].text
    assert await said_in(pipimem) == [("user", "林晓", "hello")]


@pytest.mark.parametrize(
    "answer",
    [
        {"success": False, "result": None},
        {"success": True, "result": {"deliverResults": [{"success": False, "errorMsg": "no"}]}},
    ],
)
async def test_a_card_that_reached_nobody_is_no_answer(
    running: Running, dingtalk: FakeDingTalk, answer: dict[str, object]
) -> None:
    """DingTalk says so with HTTP 200; the webhook answers."""
    dingtalk.card_answer = answer
    async with running(replies=ScriptedReplies(), card_template=TEMPLATE):
        await dingtalk.say("hello")
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [said.text for said in dingtalk.said] == ["re: hello"]


async def test_a_page_of_a_proxy_is_no_success(running: Running, dingtalk: FakeDingTalk) -> None:
    """HTTP 200 with HTML: neither card nor message arrived, and nothing was said."""
    dingtalk.page = "<html>Please log in</html>"
    async with running(replies=ScriptedReplies(), card_template=TEMPLATE) as pipimem:
        await dingtalk.say("hello")
        await dingtalk.until(lambda: dingtalk.hooks_refused == 1)
        dingtalk.page = ""
        await dingtalk.say("hello again")
        await dingtalk.until(lambda: len(dingtalk.cards) == 3)
    assert [content for _, _, content in await said_in(pipimem)] == [
        "hello",
        "hello again",
        "re: hello again",
    ]


@pytest.mark.parametrize("status", [400, 401])
async def test_a_token_that_ended_is_replaced(
    running: Running, dingtalk: FakeDingTalk, status: int
) -> None:
    """DingTalk tells of it with HTTP 400, and the code InvalidAuthentication."""
    dingtalk.token_status = status
    async with running(replies=ScriptedReplies(), card_template=TEMPLATE):
        await dingtalk.say("one")
        await dingtalk.until(lambda: len(dingtalk.cards) == 3)
        dingtalk.tokens += 1  # the one that the bot holds is over
        await dingtalk.say("two")
        await dingtalk.until(lambda: len(dingtalk.cards) == 6)
    assert dingtalk.said == []
    assert dingtalk.tokens == 3


@pytest.mark.parametrize("seconds", [10**400, -1, 0])
async def test_a_token_of_an_odd_length_serves(
    running: Running, dingtalk: FakeDingTalk, seconds: int
) -> None:
    """The answer is there in any case."""
    dingtalk.token_lasts = seconds
    async with running(replies=ScriptedReplies(), card_template=TEMPLATE):
        await dingtalk.say("one")
        await dingtalk.until(lambda: len(dingtalk.cards) == 3)


@pytest.mark.parametrize("webhook", ["https://[", "http://127.0.0.1:port/", "", "no address"])
async def test_a_webhook_that_is_no_address_costs_the_answer_alone(
    running: Running, dingtalk: FakeDingTalk, webhook: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The model is shown the message with the next one, and the log has a sentence."""
    replies = ScriptedReplies()
    async with running(replies=replies):
        await dingtalk.say("my cat is Momo", sessionWebhook=webhook)
        await dingtalk.say("hello")
        await dingtalk.until(lambda: bool(dingtalk.said))
    assert [message.content for message in replies.asked[-1][1]] == ["my cat is Momo"]
    (record,) = caplog.records
    assert record.getMessage().startswith("an answer did not arrive")
