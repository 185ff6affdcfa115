"""Command: tell the verdict on a run in the comment on its pull request."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingest.claims import AlreadyRunningError
from ingest.comments import NoCommentError, comment_run
from ingest.github import GitHubError
from ingest.management.commands.ingest_run import run_id


class Command(BaseCommand):
    help = (
        "Tell the verdict on a stored run in the one comment on its pull request. "
        "Needs FRONTIERBOARD_PR_COMMENTS=1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run_id", type=run_id)
        parser.add_argument(
            "--again",
            action="store_true",
            help="write it anew, even where a person deleted it or the PR is closed",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            outcome = comment_run(options["run_id"], again=options["again"])
        except (AlreadyRunningError, GitHubError, NoCommentError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(str(outcome))
