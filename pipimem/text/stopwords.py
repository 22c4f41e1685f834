"""The words that carry grammar and no matter, in Chinese and English: they are never evidence.

Only function words: pronouns, particles, prepositions, conjunctions, question words, auxiliaries, plain adverbs of
degree. Words of time ("today", 昨天) and of intent ("next", 决定) stay evidence.
"""

from __future__ import annotations

_ENGLISH = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one ones someone somebody something anyone anybody anything everyone everybody everything nothing nobody none
who whom whose which what when where why how whoever whatever whichever wherever whenever however
and or but nor so yet if then else than because as although though while whereas unless until since whether
of at by for with without within about against between among into onto through during before after above below
to from up down
in out on off over under again toward towards upon per via
am is are was were be been being do does did doing done have has had having
will would shall should can could may might must ought ca wo sha
not no yes too very just only also even ever still quite rather really such same own each every both either
neither
all any some few many much more most other others another there here
ok okay oh hi hey hello please well let lets etc
im ive id youre hes shes theyre dont doesnt didnt isnt arent wasnt werent cant couldnt wont wouldnt shouldnt
havent hasnt
gonna wanna gotta
"""

_CHINESE = """
我 你 您 他 她 它 咱 俺 我们 你们 您们 他们 她们 它们 咱们 大家 自己 人家 别人 某 某人 本人 各位 彼此
这 那 哪 这个 那个 哪个 这些 那些 哪些 这里 那里 哪里 这儿 那儿 哪儿 这样 那样 这么 那么 这种 那种 哪种 这边
那边 此 其 该 之 每 每个 各 另 另外
谁 什么 甚么 啥 怎么 怎样 怎么样 怎么办 如何 为什么 为何 为啥 多少 几 几个 多久 多大 什么时候 啥时候 何时
是什么 有什么 干什么 干嘛 哪天 哪一个 哪位
的 地 得 了 着 过 吗 呢 吧 啊 呀 哦 噢 嗯 哎 唉 嘛 啦 哈 哈哈 呵呵 喔 哟 呗 么 罢了 而已 的话 来着 似的
是 有 在 和 与 及 以及 或 或者 还是 而 而且 并 并且 但 但是 可是 不过 然而 却 则 就 就是 才 都 也 还 又 再 只
只是 仅 仅仅 便
因为 因此 所以 由于 于是 如果 假如 要是 若 倘若 虽然 尽管 即使 哪怕 无论 不管 除了 除非 只要 只有 既 既然 不但
不仅 以便 从而 另一方面
把 被 让 给 对 对于 关于 跟 同 向 往 从 自 由 到 于 以 为 为了 按 按照 根据 通过 随着 当 比 像 如 例如 比如 等
等等 之类 之间 之中 以上 以下 其中 其他 其它 其实
不 没 没有 别 不是 是不是 有没有 能不能 会不会 可不可以 要不要 无 非 未
能 能够 会 可 可以 可能 要 应 应该 应当 必须 得 想 愿意 需要 是否 行 好 好的 对的 是的 嗯嗯 好吧 行吧
很 太 更 最 非常 十分 特别 比较 相当 极 挺 真 真的 多么 有点 有些 一些 一点 一下 一个 一种 一样 一般 一直 已
已经 曾 曾经 正 正在 刚 刚刚 将 将要 快要
那时 那时候 时候 的时候 上 下 里 中 内 外 前 后 之前 之后 以前 以后 当时
个 种 些 次 位 件 只 条 张 本 块 点 样 者 所 们 来 去 说 做 看 用 请 谢谢 你好 您好 请问
"""

_NEGATING = """
not no never none nothing nobody neither nor without
dont doesnt didnt isnt arent wasnt werent cant couldnt wont wouldnt shouldnt havent hasnt cannot
不 没 没有 别 不是 不能 不要 不会 不再 不用 不想 不必 不可 不准 不许 不行 不喜欢 不同意
无 未 非 勿 从不 从未 并非 并未 未必 尚未 禁止 取消 停止
"""

# Lower case, as the index writes words.
STOP_WORDS: frozenset[str] = frozenset(_ENGLISH.split()) | frozenset(_CHINESE.split())

# Words that turn a sentence round. Two texts that differ in one of them do not say the same.
NEGATIONS: frozenset[str] = frozenset(_NEGATING.split())
