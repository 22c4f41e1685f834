"""What a day's budget still allows embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pipimem.errors import BudgetSpent
from pipimem.settings import BudgetSettings
from pipimem.sidecar.account import Account, midnight
from pipimem.sidecar.purse import counts_money, counts_tokens
from pipimem.store.workspace import WorkspaceStore


@dataclass(frozen=True, slots=True)
class Allowance:
    """The day's budget of a workspace, as embedding asks for it: by what is spent and under way, without a hold of its own."""

    workspace: WorkspaceStore
    settings: BudgetSettings
    wall: Callable[[], datetime]

    def grant(self, tokens: int) -> None:
        """Let a request of so many tokens pass. Raises `BudgetSpent`."""
        if not (counts_money(self.settings) or counts_tokens(self.settings)):
            return
        now = self.wall()
        account = Account.opened(self.settings, now, self.workspace.usages(midnight(now)))
        whole, _ = account.purse.budgets("", self.workspace.books.held().values())
        if whole.share >= 1 or whole.spent.tokens + tokens > whole.limit.tokens:
            raise BudgetSpent(
                f"Today's budget of {whole.told()} has no room for embedding {tokens:,} tokens. Until midnight recall "
                "goes by words alone; raise the limit in pipimem.toml, [budget], or wait."
            )
