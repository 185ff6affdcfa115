"""The staff pages: nothing derived can be edited, corrections need right and reason."""

# mypy: allow-untyped-calls

import pytest
from django.contrib.auth.models import Group, Permission
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from dashboard.models import Correction, IngestRequest
from tests import factories

pytestmark = pytest.mark.django_db

LISTS = [
    "repository",
    "checkpoint",
    "configkey",
    "run",
    "sweep",
    "ingestrequest",
    "correction",
    "apitoken",
    "reuselink",
    "notice",
]
DERIVED = ["configkey", "run", "sweep", "ingestrequest"]


@pytest.fixture
def staff(client, django_user_model):
    """Return a staff member who may look at everything, logged in."""
    user = django_user_model.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(
        Permission.objects.filter(
            content_type__app_label="dashboard", codename__startswith="view_"
        )
    )
    client.force_login(user)
    return user


@pytest.fixture
def rows():
    sweep = factories.SweepFactory(official=True)
    factories.IngestRequestFactory()
    factories.CorrectionFactory(run=sweep.run)
    factories.ApiTokenFactory()
    factories.ReuseLinkFactory()
    factories.NoticeFactory()
    return sweep


@pytest.mark.parametrize("name", LISTS)
def test_every_list_opens(admin_client, rows, name):
    response = admin_client.get(reverse(f"admin:dashboard_{name}_changelist"))
    assertContains(response, 'id="result_list"')


@pytest.mark.parametrize("name", DERIVED)
def test_derived_rows_cannot_be_added_or_changed(admin_client, rows, name):
    assert admin_client.get(reverse(f"admin:dashboard_{name}_add")).status_code == 403
    if name == "sweep":
        path = reverse("admin:dashboard_sweep_change", args=[rows.pk])
        assertNotContains(admin_client.get(path), 'name="_save"')
        assert admin_client.post(path, {"state": "former"}).status_code == 403


def test_a_correction_takes_its_author_from_the_login(admin_client, rows):
    Correction.objects.all().delete()
    response = admin_client.post(
        reverse("admin:dashboard_correction_add"),
        {"action": "hide", "run": rows.run_id, "reason": "bad node"},
    )
    assert response.status_code == 302
    correction = Correction.objects.get()
    assert (correction.author, correction.reason) == ("admin", "bad node")


def test_a_correction_made_twice_is_stored_once(admin_client, rows):
    fields = {"action": "hide", "run": rows.run_id, "reason": "bad node"}
    for _ in range(2):
        response = admin_client.post(reverse("admin:dashboard_correction_add"), fields)
        assert response.status_code == 302
    assert Correction.objects.count() == 1


def test_staff_outside_the_group_may_look_but_not_correct(client, staff, rows):
    path = reverse("admin:dashboard_correction_changelist")
    assertNotContains(client.get(path), "Undo the selected")
    assert client.get(reverse("admin:dashboard_correction_add")).status_code == 403
    client.post(path, _asked("undo", Correction.objects.get(), "I say so"))
    assert Correction.objects.get().undone_at is None


def test_the_group_may_hold_a_sweep_with_a_reason(client, staff, rows):
    staff.groups.add(Group.objects.get_or_create(name="triage")[0])
    path = reverse("admin:dashboard_sweep_changelist")
    refused = client.post(path, _asked("hold", rows, ""), follow=True)
    assertContains(refused, "A correction needs a reason.")
    client.post(path, _asked("hold", rows, "wrong image"))
    hold = Correction.objects.get(action="hold")
    assert (hold.config_key, hold.scenario) == (rows.config_key, "8k/1k")
    assert (hold.author, hold.reason) == ("staff", "wrong image")


def test_undo_is_an_action_with_a_reason(admin_client, rows):
    path = reverse("admin:dashboard_correction_changelist")
    admin_client.post(path, _asked("undo", Correction.objects.get(), "was fine"))
    correction = Correction.objects.get()
    assert (correction.undone_by, correction.undo_reason) == ("admin", "was fine")


def _asked(action, row, reason):
    return {"action": action, "_selected_action": [row.pk], "reason": reason}


def test_editing_a_repository_asks_for_its_runs_to_be_judged_anew(admin_client, rows):
    repository = rows.run.repository
    IngestRequest.objects.all().delete()
    path = reverse("admin:dashboard_repository_change", args=[repository.pk])
    admin_client.post(
        path,
        {
            "full_name": repository.full_name,
            "sweep_workflow": repository.sweep_workflow,
            "default_branch": "trunk",
        },
    )
    repository.refresh_from_db()
    assert repository.default_branch == "trunk"
    request = IngestRequest.objects.get()
    assert (request.kind, request.repository) == ("derive", repository.full_name)
    assert (request.github_run_id, request.requested_by) == (None, "admin")


def spellings_given(checkpoint, *given):
    """Return the fields of a checkpoint's page with new (spelling, reason) pairs."""
    fields = {
        "name": checkpoint.name,
        "spellings-TOTAL_FORMS": len(given),
        "spellings-INITIAL_FORMS": 0,
    }
    for number, (spelling, reason) in enumerate(given):
        fields[f"spellings-{number}-spelling"] = spelling
        fields[f"spellings-{number}-reason"] = reason
    return fields


def test_editing_a_checkpoint_asks_for_its_runs_to_be_named_anew(admin_client, rows):
    checkpoint = rows.checkpoint
    IngestRequest.objects.all().delete()
    path = reverse("admin:dashboard_checkpoint_change", args=[checkpoint.pk])
    admin_client.post(path, spellings_given(checkpoint, ("/m/other", "same files")))
    request = IngestRequest.objects.get()
    assert (request.kind, request.target) == ("replay", checkpoint.name)
    alias = checkpoint.spellings.get()
    assert (alias.spelling, alias.reason) == ("/m/other", "same files")
    assert alias.author == "admin"


def test_who_edits_a_spelling_last_is_its_author(admin_client, rows):
    checkpoint = rows.checkpoint
    changed, kept = factories.CheckpointAliasFactory.create_batch(
        2, checkpoint=checkpoint
    )
    fields = spellings_given(
        checkpoint, (changed.spelling, "seen on the node"), (kept.spelling, kept.reason)
    )
    fields |= {"spellings-INITIAL_FORMS": 2}
    for number, alias in enumerate((changed, kept)):
        fields[f"spellings-{number}-id"] = alias.pk
        fields[f"spellings-{number}-checkpoint"] = checkpoint.pk
    path = reverse("admin:dashboard_checkpoint_change", args=[checkpoint.pk])
    assert admin_client.post(path, fields).status_code == 302
    changed.refresh_from_db()
    kept.refresh_from_db()
    assert (changed.reason, changed.author) == ("seen on the node", "admin")
    assert kept.author == "someone"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([("/m/other", "")], "This field is required."),
        ([("/m/other", " ")], "This field is required."),
        ([(" ", "same files")], "This field is required."),
        ([("/m/other", "a"), ("/M/Other", "b")], "Given twice: /m/other"),
        ([("/M/KNOWN", "same files")], "is violated"),
    ],
)
def test_a_spelling_is_given_once_and_with_its_reason(admin_client, rows, given, said):
    factories.CheckpointAliasFactory(
        spelling="/m/known", checkpoint__name="org-b/Model"
    )
    path = reverse("admin:dashboard_checkpoint_change", args=[rows.checkpoint.pk])
    response = admin_client.post(path, spellings_given(rows.checkpoint, *given))
    assertContains(response, said)
    assert not rows.checkpoint.spellings.exists()


def test_a_checkpoint_shows_what_its_name_says_and_built_in_spellings(admin_client):
    checkpoint = factories.CheckpointFactory(name="nvidia/DeepSeek-R1-0528-NVFP4-v2")
    listed = admin_client.get(reverse("admin:dashboard_checkpoint_changelist"))
    for text in ("nvidia", "NVFP4-V2", "DeepSeek-R1-0528"):
        assertContains(listed, f">{text}</td>")
    path = reverse("admin:dashboard_checkpoint_change", args=[checkpoint.pk])
    page = admin_client.get(path)
    assertContains(page, "deepseek-r1-fp4 (served under this name")
    assertNotContains(page, "DatabaseDefault")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"action": "hide", "attempt": 1}, "Hiding takes a whole run"),
        ({"action": "hold"}, "give its config key and scenario"),
        ({"action": "exclude", "concurrency": 77}, "names no point"),
    ],
)
def test_a_correction_of_nothing_is_refused_beside_its_fields(
    admin_client, rows, asked, said
):
    path = reverse("admin:dashboard_correction_add")
    fields = {"run": rows.run_id, "reason": "bad node", **asked}
    assertContains(admin_client.post(path, fields), said)
    assert Correction.objects.count() == 1


@pytest.mark.parametrize("name", ["EXAMPLE/Bench", "../x", "a/..", "nothing"])
def test_a_repository_is_named_once_and_as_the_forge_does(admin_client, rows, name):
    fields = {"full_name": name, "sweep_workflow": "w.yml", "default_branch": "main"}
    path = reverse("admin:dashboard_repository_add")
    assertContains(admin_client.post(path, fields), "errornote")


@pytest.mark.parametrize("ids", [(0, 5), (5, -1)])
def test_a_pairing_names_two_runs(admin_client, rows, ids):
    fields = {"repository": rows.run.repository_id, "evidence": "by hand"}
    fields |= dict(zip(("merge_run_id", "source_run_id"), ids, strict=True))
    path = reverse("admin:dashboard_reuselink_add")
    assertContains(admin_client.post(path, fields), "greater than or equal to 1")


def test_a_pairing_needs_a_repository_that_can_be_asked(admin_client):
    odd = factories.RepositoryFactory(full_name="a/..")
    fields = {"repository": odd.pk, "merge_run_id": 5, "source_run_id": 6}
    path = reverse("admin:dashboard_reuselink_add")
    assertContains(admin_client.post(path, fields), "errornote")


@pytest.mark.parametrize("chosen", ["x", "9" * 30, "-1", ""])
@pytest.mark.parametrize(
    ("name", "action"),
    [("sweep", "hold"), ("apitoken", "revoke"), ("notice", "delete_selected")],
)
def test_an_action_on_no_row_is_answered(admin_client, rows, name, action, chosen):
    path = reverse(f"admin:dashboard_{name}_changelist")
    fields = {"action": action, "_selected_action": [chosen], "reason": "r"}
    assertContains(admin_client.post(path, fields, follow=True), "No such row")


@pytest.mark.parametrize("chosen", ["x", "\0", "9" * 30, "'", "1e400"])
@pytest.mark.parametrize("name", ["correction", "notice"])
def test_a_form_about_what_is_no_row_is_refused(admin_client, rows, name, chosen):
    path = reverse(f"admin:dashboard_{name}_add")
    answer = admin_client.post(path, {"run": chosen, "config_key": chosen})
    assertContains(answer, "errorlist")


@pytest.mark.parametrize("model", ["user", "group"])
def test_forged_accounts_are_refused_with_a_sentence(admin_client, model):
    answer = admin_client.post(
        reverse(f"admin:auth_{model}_changelist"),
        {"action": "delete_selected", "_selected_action": ["1", "x' OR 1=1"]},
        follow=True,
    )
    assertContains(answer, "No such row was listed.")
