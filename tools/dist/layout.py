"""Where the files of a program go below /usr: what it says of itself (pages, completions) is asked from it, nothing is kept by hand."""
import gzip
import os
import pathlib
import subprocess

SECTIONS = {"traceweir": "1", "traceweird": "8"}
# Shell → folder below share, and the file's name.
COMPLETIONS = {"bash": ("bash-completion/completions", "{}"), "zsh": ("zsh/{zsh}", "_{}"), "fish": ("fish/vendor_completions.d", "{}.fish")}


def say(program: pathlib.Path, *arguments) -> str:
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def install(source: pathlib.Path, target: pathlib.Path, mode=0o644):
    write(target, source.read_bytes(), mode)


def write(target: pathlib.Path, content: bytes, mode=0o644):
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    target.chmod(mode)


def compress(path: pathlib.Path):
    """As gzip -9n does: no name and no time in it."""
    write(path.with_name(path.name + ".gz"), gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()


def lay_out(usr: pathlib.Path, program: pathlib.Path, zsh: str):
    """Program, pages and completions. `zsh`: what the folder of its functions is called here."""
    name = program.name
    target = usr / "bin" / name
    install(program, target, 0o755)
    subprocess.run(["strip", "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note", target], check=True)
    pages = usr / f"share/man/man{SECTIONS[name]}"
    say(program, "man", "--folder", pages)
    for shell, (folder, file) in COMPLETIONS.items():
        write(usr / "share" / folder.format(zsh=zsh) / file.format(name), say(program, "completion", shell).encode())


def settle(root: pathlib.Path, epoch: int):
    """The same rights and times whoever builds, and whenever."""
    for path in sorted(root.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    for path in [*sorted(root.rglob("*"), reverse=True), root]:
        os.utime(path, (epoch, epoch), follow_symlinks=False)
