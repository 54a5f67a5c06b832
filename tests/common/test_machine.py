"""The memory of a machine and of the control groups in it, from a copy of Linux's files."""

from __future__ import annotations

from pathlib import Path

from supratok.common.machine import Memory, memory

GB = 1 << 30
MEMINFO = f"MemTotal: {16 * GB // 1024} kB\nMemFree: 1 kB\nMemAvailable: {8 * GB // 1024} kB\n"


def machine(root: Path) -> Path:
    write(root, "proc/meminfo", MEMINFO)
    return root


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_without_groups_the_machine_decides(tmp_path: Path) -> None:
    assert memory(machine(tmp_path)) == Memory(16 * GB, 8 * GB)
    write(tmp_path, "proc/self/cgroup", "0::/\n")
    assert memory(tmp_path) == Memory(16 * GB, 8 * GB)


def test_a_group_of_version_2_limits(tmp_path: Path) -> None:
    machine(tmp_path)
    write(tmp_path, "proc/self/cgroup", "0::/a/b\n")
    write(tmp_path, "sys/fs/cgroup/a/b/memory.max", "max\n")
    write(tmp_path, "sys/fs/cgroup/a/b/memory.current", f"{GB}\n")
    write(tmp_path, "sys/fs/cgroup/a/memory.max", f"{4 * GB}\n")
    write(tmp_path, "sys/fs/cgroup/a/memory.current", f"{3 * GB}\n")
    assert memory(tmp_path) == Memory(4 * GB, GB)
    stat = f"anon {GB}\ninactive_file {GB}\n"
    write(tmp_path, "sys/fs/cgroup/a/memory.stat", stat)
    assert memory(tmp_path) == Memory(4 * GB, 2 * GB)


def test_a_group_of_version_1_that_only_the_host_sees(tmp_path: Path) -> None:
    machine(tmp_path)
    write(tmp_path, "proc/self/cgroup", "5:cpu:/\n4:cpuset,memory:/docker/123\n0::/\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", f"{2 * GB}\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.usage_in_bytes", f"{3 * GB}\n")
    assert memory(tmp_path) == Memory(2 * GB, 0)
    write(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert memory(tmp_path) == Memory(16 * GB, 8 * GB)


def test_another_system_knows_less() -> None:
    found = memory(Path("no such folder"))
    assert found.available is None
    assert found.total is None or found.total > 0


def test_this_machine() -> None:
    total, available = memory()
    assert total is None or total > 0
    assert available is None or total is None or 0 <= available <= total
