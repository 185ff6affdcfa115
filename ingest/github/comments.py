"""What is written on GitHub: comments on pull requests, by the token's own user."""

from ingest.github.api import GitHub, JsonObject, as_object


class CommentingGitHub(GitHub):
    """A repository whose pull requests are commented; every method raises GitHubError.

    What is written is sent once: after UnreachableError whoever wrote looks whether
    it is there before writing again.
    """

    def user_id(self) -> int | None:
        """Return the id of the user whose token this is."""
        url = self._transport.url("/user")
        return id_of(as_object(self._transport.fetch(url)["body"], "/user"))

    def pull(self, number: int) -> JsonObject:
        """Return a pull request of this repository."""
        return self._object(f"/pulls/{number}")

    def comment(self, comment_id: int) -> JsonObject:
        """Return a comment."""
        return self._object(f"/issues/comments/{comment_id}")

    def create_comment(self, number: int, text: str) -> JsonObject:
        """Comment on a pull request."""
        return self._written("POST", f"/issues/{number}/comments", text)

    def edit_comment(self, comment_id: int, text: str) -> JsonObject:
        """Replace the text of a comment."""
        return self._written("PATCH", f"/issues/comments/{comment_id}", text)

    def _written(self, method: str, path: str, text: str) -> JsonObject:
        body = self._transport.send(method, self._url(path), {"body": text})
        return as_object(body, path)


def id_of(item: object) -> int | None:
    """Return the id of what GitHub sent, such as a user or a comment."""
    value = item.get("id") if isinstance(item, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
