"""The Stream connection, and gateways that misbehave: nothing lost, nothing doubled, it lives on."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time

import aiohttp
import pytest
from pipimem import Pipimem
from pipimem.bots.dingtalk import api as api_module
from pipimem.bots.dingtalk.api import DingTalkApi
from pipimem.bots.dingtalk.bot import DingTalkBot
from pipimem.bots.dingtalk.frames import Ack, Credentials
from pipimem.bots.dingtalk.gateway import StreamGateway, backoff
from pipimem.errors import SettingsError

from tests.interfaces.bots.conftest import Running, ScriptedReplies, said_in
from tests.servers.dingtalk import CLIENT_ID, CLIENT_SECRET, TICKET, FakeDingTalk

pytestmark = pytest.mark.anyio


async def answered(dingtalk: FakeDingTalk, text: str) -> None:
    """Whether the bot is alive: it answers."""
    await dingtalk.say(text)
    await dingtalk.until(lambda: any(said.text == f"re: {text}" for said in dingtalk.said))


async def test_it_subscribes_to_messages_cards_and_events(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """With the app's id and secret, over HTTP; the ticket opens the WebSocket."""
    async with running(replies=ScriptedReplies()):
        (body,) = dingtalk.opened
    assert (body["clientId"], body["clientSecret"]) == (CLIENT_ID, CLIENT_SECRET)
    assert body["subscriptions"] == [
        {"type": "EVENT", "topic": "*"},
        {"type": "CALLBACK", "topic": "/v1.0/im/bot/messages/get"},
        {"type": "CALLBACK", "topic": "/v1.0/card/instances/callback"},
    ]


async def test_a_ping_is_echoed_with_its_data(running: Running, dingtalk: FakeDingTalk) -> None:
    """Or the gateway takes the client for dead."""
    async with running(replies=ScriptedReplies()):
        name = await dingtalk.frame("SYSTEM", "ping", '{"opaque": "0f1e"}')
        ack = await dingtalk.acked(name)
    assert ack == {
        "code": 200,
        "message": "OK",
        "headers": {"messageId": name, "contentType": "application/json"},
        "data": '{"opaque": "0f1e"}',
    }


async def test_a_disconnect_is_followed_by_a_connection_at_once(
    workspace: object, dingtalk: FakeDingTalk
) -> None:
    """The gateway moves its clients; no pause is due."""
    pauses: list[int] = []

    def pause(failures: int) -> float:
        pauses.append(failures)
        return 0.01

    async with Pipimem(workspace, "offline") as pipimem:  # type: ignore[arg-type]
        credentials = Credentials(CLIENT_ID, CLIENT_SECRET, dingtalk.url)
        bot = DingTalkBot(pipimem, credentials, replies=ScriptedReplies(), pause=pause)
        stop = asyncio.Event()
        task = asyncio.create_task(bot.run(stop))
        await dingtalk.connected(1)
        await answered(dingtalk, "before")
        await dingtalk.disconnect()
        await dingtalk.connected(2)
        assert pauses == []
        await answered(dingtalk, "after")
        # One that is asked to leave each time before anything came does wait.
        await dingtalk.disconnect()
        await dingtalk.connected(3)
        await dingtalk.disconnect()
        await dingtalk.connected(4)
        await dingtalk.disconnect()
        await dingtalk.connected(5)
        assert pauses == [2]
        stop.set()
        await task


async def test_a_gateway_that_sends_the_bot_on_and_on_does_not_drive_it(
    workspace: object, dingtalk: FakeDingTalk
) -> None:
    """With a message on each connection nothing fails, and yet a pause is due after a few."""
    pauses: list[int] = []

    def pause(failures: int) -> float:
        pauses.append(failures)
        return 0.01

    async with Pipimem(workspace, "offline") as pipimem:  # type: ignore[arg-type]
        credentials = Credentials(CLIENT_ID, CLIENT_SECRET, dingtalk.url)
        bot = DingTalkBot(pipimem, credentials, replies=ScriptedReplies(), pause=pause)
        stop = asyncio.Event()
        task = asyncio.create_task(bot.run(stop))
        for number in range(1, 9):
            await dingtalk.connected(number)
            await dingtalk.acked(await dingtalk.say(f"round {number}"))
            await dingtalk.disconnect()
        await dingtalk.connected(9)
        stop.set()
        await task
    assert len(pauses) >= 3


def test_the_pauses_grow_up_to_a_minute() -> None:
    """About 1, 2, 4 … 60 s, never at the same moment as all others."""
    for failures, about in ((1, 1), (2, 2), (5, 16), (7, 60), (2000, 60)):
        assert all(0.75 * about <= backoff(failures) <= 1.25 * about for _ in range(50))
    assert len({backoff(3) for _ in range(20)}) > 1


async def test_it_connects_again_when_the_gateway_closes(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """What came before and after is answered, once each."""
    async with running(replies=ScriptedReplies()) as pipimem:
        for number in range(5):
            await answered(dingtalk, f"round {number}")
            await dingtalk.close()
            await dingtalk.connected(number + 2)
    assert [said.text for said in dingtalk.said] == [f"re: round {n}" for n in range(5)]
    assert len(await said_in(pipimem)) == 10


async def test_a_frame_that_breaks_off_is_delivered_again(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """Half of a frame is nothing; the gateway sends it to the next connection."""
    async with running(replies=ScriptedReplies()) as pipimem:
        dingtalk.break_off(b'{"specVersion":"1.0","type":"CALLBACK","headers":{')
        await dingtalk.connected(2)
        await answered(dingtalk, "whole this time")
    assert len(await said_in(pipimem)) == 2


async def test_garbage_ends_nothing(running: Running, dingtalk: FakeDingTalk) -> None:
    """What is no frame is passed over, what is no message refused, and the next one is answered."""
    no_frames = [
        "",
        "no JSON",
        "[]",
        "null",
        "42",
        "{}",
        '{"type": 3}',
        '{"type": "CALLBACK"}',
        '{"headers": []}',
        '{"type": "CALLBACK", "headers": null, "data": "{}"}',
        "[" * 100_000,
        '{"type": "SYSTEM", "headers": {"topic": 7, "messageId": []}, "data": {}}',
        b"\x00\xff binary",
    ]
    broken = [
        "no JSON",
        "[]",
        {},
        {"msgId": "a"},
        {"msgId": 3, "conversationId": []},
        {"msgId": "x" * 10_000, "conversationId": "c"},
    ]
    odd = [
        dingtalk.message("x") | {"text": None},
        dingtalk.message("x") | {"msgtype": "richText", "content": "no object"},
        dingtalk.message("x") | {"createAt": 10**30},
        dingtalk.message("x") | {"senderNick": None, "conversationTitle": {}, "sessionWebhook": 9},
        dingtalk.message("half a sign \ud83d"),
    ]
    async with running(replies=ScriptedReplies()):
        for text in no_frames:
            await dingtalk.raw(text)
        for data in broken:
            name = await dingtalk.frame("CALLBACK", "/v1.0/im/bot/messages/get", data)
            assert (await dingtalk.acked(name))["code"] == 400
        for data in odd:
            text = json.dumps(data)
            name = await dingtalk.frame("CALLBACK", "/v1.0/im/bot/messages/get", text)
            assert (await dingtalk.acked(name))["code"] == 200
        name = await dingtalk.frame("CALLBACK", "/v1.0/unknown", {})
        assert (await dingtalk.acked(name))["code"] == 404
        await answered(dingtalk, "still there")
    assert dingtalk.connections == 1


async def test_a_huge_message_is_taken_and_a_monstrous_frame_ends_its_connection(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """No frame fills the memory."""
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.acked(await dingtalk.say("长" * 300_000))
        await dingtalk.until(lambda: len(dingtalk.said) == 11)  # in pieces that DingTalk takes
        try:
            await dingtalk.say("x" * (9 << 20))
        except ConnectionError:
            pass  # the client has closed before all of it was there
        await dingtalk.connected(2)
        await answered(dingtalk, "after it")
    contents = [content for _, _, content in await said_in(pipimem)]
    assert len(contents[0]) == 50_000
    assert contents[2:] == ["after it", "re: after it"]


async def test_a_gateway_that_answers_no_ping_is_left_for_the_next(dingtalk: FakeDingTalk) -> None:
    """A connection that only looks open would keep the bot deaf."""
    dingtalk.heard_pings = False
    credentials = Credentials(CLIENT_ID, CLIENT_SECRET, dingtalk.url)
    async with aiohttp.ClientSession() as session:
        api = DingTalkApi(session, credentials, time.monotonic)
        gateway = StreamGateway(api, lambda _: Ack(), pause=lambda _: 0.01, heartbeat=0.1)
        task = asyncio.create_task(gateway.run())
        await dingtalk.connected(3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert dingtalk.pings >= 2


async def test_a_request_without_an_answer_is_given_up(
    dingtalk: FakeDingTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After ten seconds; then it is tried again."""
    monkeypatch.setattr(api_module, "_SECONDS", aiohttp.ClientTimeout(total=0.2))
    dingtalk.mute = True
    credentials = Credentials(CLIENT_ID, CLIENT_SECRET, dingtalk.url)
    async with aiohttp.ClientSession() as session:
        api = DingTalkApi(session, credentials, time.monotonic)
        gateway = StreamGateway(api, lambda _: Ack(), pause=lambda _: 0.01)
        task = asyncio.create_task(gateway.run())
        await dingtalk.until(lambda: len(dingtalk.opened) >= 2)
        dingtalk.mute = False
        await dingtalk.connected(1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_refused_credentials_end_the_start_with_what_to_check(
    workspace: object, dingtalk: FakeDingTalk
) -> None:
    """A wrong secret does not become right."""
    async with Pipimem(workspace, "offline") as pipimem:  # type: ignore[arg-type]
        wrong = Credentials(CLIENT_ID, "wrong-secret", dingtalk.url)
        with pytest.raises(
            SettingsError, match=r"HTTP 401 authFailed.*DINGTALK_CLIENT_SECRET"
        ) as e:
            await DingTalkBot(pipimem, wrong).run(asyncio.Event())
    assert "wrong-secret" not in str(e.value)


async def test_a_gateway_that_refuses_for_a_while_is_asked_again(
    running: Running, dingtalk: FakeDingTalk
) -> None:
    """500 and even 401 in the middle of the day are its trouble, not the app's."""
    async with running(replies=ScriptedReplies()):
        for status in (500, 401):
            before = len(dingtalk.opened)
            dingtalk.refuse = status
            await dingtalk.close()
            await dingtalk.until(lambda: len(dingtalk.opened) >= before + 3)  # noqa: B023
            dingtalk.refuse = 0
            connections = dingtalk.connections
            await dingtalk.connected(connections + 1)
            await answered(dingtalk, f"after {status}")


async def test_no_secret_ticket_or_token_comes_into_a_log(
    running: Running, dingtalk: FakeDingTalk, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong, at every level."""
    caplog.set_level(logging.DEBUG)
    async with running(replies=ScriptedReplies(), card_template="template.schema"):
        await answered_by_card(dingtalk)
        dingtalk.card_status = 500
        dingtalk.hook_code = 1
        await dingtalk.acked(await dingtalk.say("refused"))
        dingtalk.break_off()
        await dingtalk.connected(2)
        dingtalk.refuse = 500
        await dingtalk.close()
        before = len(dingtalk.opened)
        await dingtalk.until(lambda: len(dingtalk.opened) > before)
        dingtalk.refuse = 0
        await dingtalk.connected(3)
    logged = "\n".join(
        f"{record.getMessage()} {record.exc_text or ''}" for record in caplog.records
    )
    assert "HTTP 500" in logged
    for secret in (CLIENT_SECRET, TICKET, TICKET.rstrip("="), "token-1", "session=", "ticket="):
        assert secret not in logged
    assert CLIENT_SECRET not in repr(Credentials(CLIENT_ID, CLIENT_SECRET))


async def answered_by_card(dingtalk: FakeDingTalk) -> None:
    await dingtalk.say("by card")
    await dingtalk.until(lambda: len(dingtalk.cards) >= 3)


OFFICIAL = """
import sys, dingtalk_stream
from dingtalk_stream import AckMessage

class Handler(dingtalk_stream.ChatbotHandler):
    async def process(self, callback):
        message = dingtalk_stream.ChatbotMessage.from_dict(callback.data)
        print("heard", message.message_id, message.text.content.strip(), flush=True)
        self.reply_text(f"echo: {message.text.content.strip()}", message)
        return AckMessage.STATUS_OK, "OK"

    def reply_text(self, text, message):
        import requests
        body = {"msgtype": "markdown", "markdown": {"title": "t", "text": text}}
        requests.post(message.session_webhook, json=body, timeout=5)

class Cards(dingtalk_stream.CallbackHandler):
    async def process(self, callback):
        message = dingtalk_stream.CardCallbackMessage.from_dict(callback.data)
        action = message.content["cardPrivateData"]["actionIds"][0]
        return AckMessage.STATUS_OK, {"cardData": {"cardParamMap": {"pressed": action}}}

credential = dingtalk_stream.Credential(sys.argv[1], sys.argv[2])
client = dingtalk_stream.DingTalkStreamClient(credential)
client.register_callback_handler(dingtalk_stream.ChatbotMessage.TOPIC, Handler())
client.register_callback_handler("/v1.0/card/instances/callback", Cards())
client.start_forever()
"""


async def test_the_fake_gateway_serves_the_official_client(dingtalk: FakeDingTalk) -> None:
    """It is what our own client is tested with; DingTalk's own client takes it for DingTalk."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        OFFICIAL,
        CLIENT_ID,
        CLIENT_SECRET,
        env=os.environ | {"DINGTALK_OPENAPI_ENDPOINT": dingtalk.url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await dingtalk.connected(1)
        ack = await dingtalk.acked(await dingtalk.say("你好", message_id="msgA=="))
        assert (ack["code"], json.loads(ack["data"])) == (200, {"response": "OK"})
        assert process.stdout is not None
        assert (await process.stdout.readline()).decode() == "heard msgA== 你好\n"
        assert [said.text for said in dingtalk.said] == ["echo: 你好"]
        assert await dingtalk.click("card-1", "keep") == {"pressed": "keep"}
        pong = await dingtalk.acked(await dingtalk.frame("SYSTEM", "ping", '{"opaque": "1"}'))
        assert json.loads(pong["data"]) == {"opaque": "1"}
        await dingtalk.disconnect()
        await dingtalk.connected(2)
    finally:
        process.kill()
        await process.wait()
