"""A user who has a text in mind: types it with slips and pauses, and makes use of suggestions that are what he means.

He looks at ghost text for a moment before he has an opinion. What equals the text to come he accepts, whole or word by
word, or goes on typing; of what is right in its beginning he may take some words; the rest he types over, or dismisses.
After each acceptance he compares what stands there with what he meant, and puts it right.
"""

import asyncio
import random
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsp_complete.context.edits import edit_between
from lsp_complete.evaluation.replay import keyboard
from lsp_complete.evaluation.replay.editor import Editor
from lsp_complete.evaluation.replay.ghost import Ghost
from lsp_complete.evaluation.replay.keyboard import Writing
from lsp_complete.evaluation.replay.log import Log, Outcome, Pause, WrongJoin
from lsp_complete.evaluation.replay.oracle import Place, Truth
from lsp_complete.evaluation.replay.sources import Change, Task
from lsp_complete.evaluation.replay.typist import Moment, Typist

# What is shorter is typed sooner than it is read.
_WORTH_KEYS = 3
# Who sees that it is right mostly takes it. The shares are choices of ours.
_TAKES, _WORD_BY_WORD, _TAKES_WORDS = 0.92, 0.12, 0.5
_ESCAPE_SHARE = 0.12
# A stop in which one looks for help, not for the next key.
_PAUSE_S = 1.0
# Who stops to see what is suggested does so a second longer than the editor waits; ten times as often at the start of a
# line as at that of a word.
_LOOKING_S = 1.0
_LOOKS = {Moment.LINE_END: 1.0, Moment.BLOCK: 1.0, Moment.WORD: 0.1}
# Somebody who wants to see all that is suggested.
_EAGER = {Moment.LINE_END: 1.0, Moment.BLOCK: 1.0, Moment.WORD: 1.0, Moment.SIGN: 0.5, Moment.LETTER: 0.1}
ELSEWHERE, _GLANCES = 0.05, 0.004
_POPUP_SHARE, _POPUP_LETTERS, _POPUP_REST = 0.1, 2, 3
_WORD = re.compile(r"[A-Za-z_]\w*")
_BY_WORD = re.compile(r"\s*(?:\w+|[^\w\s]+)")
_CLOSES = 0.3
# Finding the next place to write at.
_NAVIGATION_S = (0.8, 4.0)


@dataclass(slots=True)
class _Job:
    task: Task
    unit: str
    number: int = 0
    writing: Writing | None = None
    text: str = ""

    @property
    def change(self) -> Change:
        return self.task.changes[self.number]


class User:
    def __init__(
        self,
        editor: Editor,
        typist: Typist,
        truth: Truth,
        rng: random.Random,
        log: Log,
        is_over: Callable[[], bool],
        elsewhere: float = ELSEWHERE,
        patience_s: float = 0.0,
        is_eager: bool = False,
    ) -> None:
        self._editor, self._typist, self._truth = editor, typist, truth
        self._random, self._log, self._is_over = rng, log, is_over
        self._elsewhere, self._patience_s, self._is_eager = elsewhere, patience_s, is_eager
        self._loop = asyncio.get_running_loop()
        self._num_blind = 0
        self._judged: tuple[int, str] | None = None

    async def work(self, tasks: Sequence[Task]) -> None:
        """Until all is written, or it is over."""
        jobs = deque(_Job(task, keyboard.unit_of(task.before), text=task.before) for task in tasks)
        while jobs and not self._is_over():
            job = jobs.popleft()
            self._editor.visit(job.task.path, job.task.language, job.text)
            if await self._write(job):
                self._editor.save()
                if self._random.random() < _CLOSES:
                    self._editor.close()
            else:
                job.text = self._editor.buffer.text
                jobs.insert(self._random.randint(0, 2), job)

    async def _write(self, job: _Job) -> bool:
        """Whether the file is done; else something else is looked at first."""
        while job.number < len(job.task.changes):
            if job.writing is None:
                await self._begin(job)
            else:
                self._editor.move(job.writing.cursor)
            while job.writing is not None and not job.writing.is_done:
                if self._is_over() or self._wants_elsewhere(job.writing):
                    return False
                await self._step(job)
            job.number, job.writing = job.number + 1, None
        return True

    def _wants_elsewhere(self, writing: Writing) -> bool:
        is_line_end = writing.is_clean and writing.coming.startswith("\n") and bool(writing.left)
        return is_line_end and self._random.random() < self._elsewhere

    async def _begin(self, job: _Job) -> None:
        change, editor = job.change, self._editor
        await asyncio.sleep(self._random.uniform(*_NAVIGATION_S))
        editor.move(change.start)
        if change.num_removed:
            editor.put("", end=change.start + change.num_removed)
        text = editor.buffer.text
        self._follow(job, Writing(text[: change.start], change.text, text[change.start :]))

    async def _step(self, job: _Job) -> None:
        """One key, or what a suggestion makes unnecessary."""
        writing = _of(job)
        if await self._waited(job, self._interval_s(keyboard.moment(writing))):
            return
        if self._random.random() < _GLANCES and writing.is_clean and not self._editor.popup:
            await self._glance(writing)
        if self._editor.popup:
            self._take_popup(job)
        elif writing.is_clean or not self._blindly(job):
            self._press(job)

    def _interval_s(self, moment: Moment) -> float:
        interval_s = self._typist.interval_s(moment)
        share = _EAGER.get(moment, 0.0) if self._is_eager else self._editor.profile.looks * _LOOKS.get(moment, 0.0)
        looks = self._random.random() < share
        return max(interval_s, self._editor.profile.asks_s + _LOOKING_S) if looks else interval_s

    async def _glance(self, writing: Writing) -> None:
        self._editor.move(max(0, writing.cursor - self._random.randint(50, 500)))
        await asyncio.sleep(self._random.uniform(*_NAVIGATION_S))
        self._editor.move(writing.cursor)

    def _press(self, job: _Job) -> None:
        writing = _of(job)
        stroke = keyboard.next_stroke(writing, job.unit)
        slip = self._typist.slip(stroke.text) if writing.is_clean and stroke.num_right == 0 else None
        if slip is not None:
            self._num_blind = slip.num_more
            stroke = keyboard.Stroke(slip.key)
        elif writing.is_clean:
            self._maybe_popup(writing, stroke)
        self._strike(job, stroke)

    def _blindly(self, job: _Job) -> bool:
        """A slip that is not noticed yet: the next letter of the word comes behind it."""
        writing = _of(job)
        key = writing.goal[len(writing.left) : len(writing.left) + 1]
        if self._num_blind <= 0 or not key.isalnum():
            self._num_blind = 0
            return False
        self._num_blind -= 1
        self._strike(job, keyboard.Stroke(key))
        return True

    def _strike(self, job: _Job, stroke: keyboard.Stroke) -> None:
        writing, editor = _of(job), self._editor
        now = keyboard.pressed(writing, stroke)
        start, end = writing.cursor - stroke.num_left, writing.cursor + stroke.num_right
        if stroke.is_move:
            editor.move(now.cursor)
        else:
            editor.put(stroke.text + stroke.behind, now.cursor, start=start, end=end)
        self._follow(job, now)

    def _follow(self, job: _Job, writing: Writing) -> None:
        job.writing = writing
        assert self._editor.buffer.text == writing.text, "the buffer is not what was written"
        done = writing.num_right
        self._truth.places[job.task.path] = Place(writing.head, writing.goal, writing.tail, done)

    # The pop-up

    def _maybe_popup(self, writing: Writing, stroke: keyboard.Stroke) -> None:
        """After some letters of a word the editor offers the rest of it."""
        word = re.search(r"\w*$", writing.left)
        start = len(writing.left) - len(word.group() if word else "")
        whole = _WORD.match(writing.goal, start)
        num_typed = len(writing.left) + 1 - start
        if not whole or num_typed != _POPUP_LETTERS or len(whole.group()) - num_typed < _POPUP_REST:
            return
        if stroke.text.isalnum() and self._random.random() < _POPUP_SHARE:
            self._editor.popup = len(writing.head) + start, whole.group()

    def _take_popup(self, job: _Job) -> None:
        writing, popup = _of(job), self._editor.popup
        self._editor.popup = None
        if popup is not None and writing.is_clean:
            num_typed = writing.cursor - popup[0]
            self._strike(job, keyboard.Stroke(popup[1], num_left=num_typed))

    # Suggestions

    async def _waited(self, job: _Job, interval_s: float) -> bool:
        """Wait for the next key. Gives True where a suggestion was taken instead of it."""
        await self._answered()
        until_s, editor = self._loop.time() + interval_s, self._editor
        is_pause, key_s = interval_s >= _PAUSE_S, editor.key_s
        while (now_s := self._loop.time()) < until_s:
            ghost = editor.ghost
            seen_s = self._opinion_s(ghost)
            editor.changed.clear()
            if ghost is not None and seen_s <= now_s:
                self._judged = ghost.start, ghost.text
                if await self._judge(job, ghost, key_s if is_pause else None):
                    return True
                continue
            await self._changed(min(until_s, seen_s) - now_s)
        if is_pause and editor.ghost is not None:
            self._felt(editor.ghost, key_s)
        return False

    async def _answered(self) -> None:
        until_s = self._loop.time() + self._patience_s
        while self._editor.is_asking and (left_s := until_s - self._loop.time()) > 0:
            self._editor.changed.clear()
            await self._changed(left_s)

    async def _changed(self, seconds: float) -> None:
        """Until something is drawn, for so long at most."""
        handle = self._loop.call_later(seconds, self._editor.changed.set)
        await self._editor.changed.wait()
        handle.cancel()

    def _opinion_s(self, ghost: Ghost | None) -> float:
        if ghost is None or self._judged == (ghost.start, ghost.text) or self._editor.popup:
            return float("inf")
        return ghost.at_s + self._typist.notice_s(ghost.visible.strip().count("\n") + 1)

    def _felt(self, ghost: Ghost, key_s: float) -> None:
        self._log.pauses.append(Pause(max(0.0, ghost.at_s - key_s) * 1000, ghost.request_id))

    async def _judge(self, job: _Job, ghost: Ghost, paused_s: float | None) -> bool:
        """Whether some of it was taken."""
        writing, text = _of(job), ghost.visible
        if paused_s is not None:
            self._felt(ghost, paused_s)
        num_right = len(_common(text, writing.coming)) if writing.is_clean else 0
        is_worth = keyboard.num_keys(text[:num_right].rstrip()) >= _WORTH_KEYS
        if num_right == len(text) and is_worth and self._random.random() < _TAKES:
            return await self._take(job, ghost)
        words = _words(text[:num_right], text)
        if len(words) > 1 and is_worth and self._takes_words():
            return await self._take_words(job, ghost, words)
        if num_right < len(text):
            self._log.outcomes.setdefault(ghost.request_id, Outcome.REJECTED)
            if self._random.random() < _ESCAPE_SHARE:
                self._editor.dismiss()
        return False

    def _takes_words(self) -> bool:
        return self._editor.profile.by_word and self._random.random() < _TAKES_WORDS

    async def _take(self, job: _Job, ghost: Ghost) -> bool:
        words = _words(ghost.visible, ghost.visible)
        if self._editor.profile.by_word and len(words) > 1 and self._random.random() < _WORD_BY_WORD:
            return await self._take_words(job, ghost, words)
        meant = keyboard.accepted(_of(job), ghost.visible)
        self._log.num_saved += keyboard.num_keys(ghost.visible) - 1
        self._log.num_whole += 1
        self._log.outcomes[ghost.request_id] = Outcome.WHOLE
        self._editor.accept()
        self._compare(job, ghost, meant)
        return True

    async def _take_words(self, job: _Job, ghost: Ghost, words: list[str]) -> bool:
        """One by one, each with a look at what is left."""
        for word in words:
            left = self._editor.ghost
            if left is None or not left.visible.startswith(word) or (job.writing and job.writing.is_done):
                break
            if word != left.visible and not _is_free(_of(job), word):
                break
            meant = keyboard.accepted(_of(job), word)
            self._log.outcomes[left.request_id] = Outcome.PART
            self._log.num_words += 1
            self._log.num_saved += keyboard.num_keys(word) - 1
            self._editor.accept_word(word)
            self._compare(job, ghost, meant)
            await asyncio.sleep(self._random.uniform(0.15, 0.5))
        return True

    def _compare(self, job: _Job, ghost: Ghost, meant: Writing) -> None:
        """What stands there with what was meant. A difference is put right at once."""
        buffer = self._editor.buffer
        if buffer.text != meant.text:
            meant = _reclosed(meant, buffer.text) or meant
        if buffer.text != meant.text:
            around = slice(max(0, meant.cursor - 300), meant.cursor + 200)
            told = WrongJoin(buffer.path, ghost.request_id, ghost.visible, meant.text[around], buffer.text[around])
            self._log.wrong_joins.append(told)
            edit = edit_between(buffer.text, meant.text)
            new = meant.text[edit.start : edit.start + edit.length]
            self._editor.put(new, meant.cursor, start=edit.start, end=edit.end)
        elif buffer.cursor != meant.cursor:
            self._editor.move(meant.cursor)
        self._follow(job, meant)


def _of(job: _Job) -> Writing:
    assert job.writing is not None, "nothing is being written"
    return job.writing


def _reclosed(meant: Writing, text: str) -> Writing | None:
    """What was meant, with more brackets behind it that the editor has closed."""
    before, end = meant.head + meant.left, len(text) - len(meant.tail)
    is_same = text.startswith(before) and end >= len(before) and text.endswith(meant.tail)
    return keyboard.reclosed(meant, text[len(before) : end]) if is_same else None


def _is_free(writing: Writing, word: str) -> bool:
    """Whether a word goes no further than what is still to be written, nor beyond what the editor has put there."""
    done = len(writing.left) + len(word)
    return done <= len(writing.goal) and (not writing.pieces or done <= writing.pieces[0].at)


def _common(one: str, other: str) -> str:
    num = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:num]


def _words(right: str, whole: str) -> list[str]:
    """The words of a suggestion, blanks before them included, as far as all of them is right."""
    words, at = [], 0
    while match := _BY_WORD.match(whole, at):
        if match.end() > len(right):
            break
        words.append(match.group())
        at = match.end()
    if words and at < len(whole) and not whole[at:].strip() and len(right) == len(whole):
        words[-1] += whole[at:]
    return words
