"""The part of the fake GitHub that is written to: comments on pull requests."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from tests.github_http import Asked

Json = dict[str, Any]
COMMENT_TOKEN = "a-token-that-may-comment"  # noqa: S105  # no secret
BOT: Json = {"id": 4242, "login": "board-bot", "type": "User"}
LONGEST = 65_536


class FakeComments:
    """Pull requests by number, and who comments there; ``comments`` are by number."""

    def __init__(self, comments: dict[int, list[Json]]) -> None:
        self.comments = comments
        self.pulls: dict[int, Json] = {}
        self.written: list[str] = []
        self.before_create: Callable[[], None] | None = None
        self._ids: Iterator[int] = count(70_001)

    def open_pull(self, number: int, sha: str, branch: str) -> Json:
        """Open a pull request; it may be changed afterwards."""
        head = {"sha": sha, "ref": branch}
        self.pulls[number] = {"number": number, "state": "open", "head": head}
        return self.pulls[number]

    def say(self, number: int, body: str, user: Json) -> Json:
        """Let somebody comment."""
        comment = {"id": next(self._ids), "user": user, "body": body}
        self.comments.setdefault(number, []).append(comment)
        return comment

    def own(self, number: int) -> list[str]:
        """Return the texts of the token's user on a pull request."""
        found = self.comments.get(number, [])
        return [item["body"] for item in found if item["user"] == BOT]

    def delete_own(self, number: int) -> None:
        """Delete these, as a person does."""
        found = self.comments[number]
        self.comments[number] = [item for item in found if item["user"] != BOT]

    def answer(self, asked: Asked) -> tuple[Any, int] | None:
        """Answer what is written, and what is asked before; None: something else."""
        for pattern, method in (
            (r"GET /user", self._user),
            (r"GET /repos/[^/]+/[^/]+/pulls/(\d+)", self._pull),
            (r"POST /repos/[^/]+/[^/]+/issues/(\d+)/comments", self._create),
            (r"PATCH /repos/[^/]+/[^/]+/issues/comments/(\d+)", self._edit),
            (r"GET /repos/[^/]+/[^/]+/issues/comments/(\d+)", self._comment),
        ):
            if found := re.fullmatch(pattern, f"{asked.method} {asked.path}"):
                return self._answered(asked, method, *map(int, found.groups()))
        return None

    def _answered(
        self, asked: Asked, method: Callable[..., tuple[Any, int]], *numbers: int
    ) -> tuple[Any, int]:
        if asked.headers.get("authorization") != f"Bearer {COMMENT_TOKEN}":
            return {"message": "Bad credentials"}, 401
        if asked.method == "GET":
            return method(*numbers)
        body: str = json.loads(asked.body)["body"]
        if len(body) > LONGEST:
            return {"message": "Validation Failed"}, 422
        self.written.append(asked.method)
        return method(*numbers, body)

    def _user(self) -> tuple[Any, int]:
        return BOT, 200

    def _pull(self, number: int) -> tuple[Any, int]:
        return _found(self.pulls.get(number))

    def _create(self, number: int, body: str) -> tuple[Any, int]:
        if self.before_create is not None:
            self.before_create()
        return self.say(number, body, BOT), 201

    def _comment(self, comment_id: int) -> tuple[Any, int]:
        return _found(self._of(comment_id))

    def _edit(self, comment_id: int, body: str) -> tuple[Any, int]:
        comment = self._of(comment_id)
        if comment is not None:
            comment["body"] = body
        return _found(comment)

    def _of(self, comment_id: int) -> Json | None:
        everywhere = [item for items in self.comments.values() for item in items]
        return next((i for i in everywhere if i["id"] == comment_id), None)


def _found(item: Json | None) -> tuple[Any, int]:
    return ({"message": "Not Found"}, 404) if item is None else (item, 200)
