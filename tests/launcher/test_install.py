"""The stamps and checks of the installation."""

import os

import pytest

from launcher import frontend, install
from launcher.env_file import load_env_file
from launcher.errors import LaunchError


def test_old_python_is_named_with_a_way_out():
    with pytest.raises(LaunchError, match=r"3\.11 or newer is needed.*this is 3\.9"):
        install.check_version((3, 9))


def test_packages_of_the_tests_are_enough_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "STAMP", tmp_path / "stamp")
    assert not install.is_installed(install.RUNTIME)

    install.STAMP.write_text(install.digest(install.DEV))
    assert install.is_installed(install.RUNTIME)

    install.STAMP.write_text(install.digest(install.RUNTIME))
    assert install.is_installed(install.RUNTIME)
    assert not install.is_installed(install.DEV)


def test_npm_comes_from_the_wheel_where_there_is_no_node(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")

    node, script = frontend.npm_command()

    assert node.endswith("/bin/node")
    assert script.endswith("npm-cli.js")


def test_env_file_sets_what_the_environment_does_not(tmp_path, monkeypatch):
    monkeypatch.setenv("FB_GIVEN", "environment")
    monkeypatch.setenv("FB_QUOTED", "")
    monkeypatch.delenv("FB_QUOTED")
    (tmp_path / "env").write_text("# why\n\nFB_GIVEN=file\nFB_QUOTED='a b'\n")

    load_env_file(tmp_path / "env")

    assert os.environ["FB_GIVEN"] == "environment"
    assert os.environ["FB_QUOTED"] == "a b"


def test_env_file_names_the_line_that_it_cannot_read(tmp_path):
    (tmp_path / "env").write_text("A=1\nnot a setting\n")

    with pytest.raises(LaunchError, match="line 2: NAME=value is expected"):
        load_env_file(tmp_path / "env")
