"""What ``--cluster`` can be, and what it cannot."""

import signal
import subprocess
import sys

import pytest

from dbpcfg.cluster import connect
from dbpcfg.cluster.address import Jobs, Local, Scheduler, _reached, jobs_cluster, parsed
from dbpcfg.errors import DbpcfgError

SLURM = """
[cluster]
kind = "slurm"
workers = 8
cores = 4
memory = "16GB"
queue = "compute"
account = "lab"
walltime = "02:00:00"
directives = ["--exclusive"]
prologue = ["module load python"]
python = "/opt/env/bin/python"
interface = "lo"
"""


def test_what_it_can_be(tmp_path):
    assert parsed("local:4") == Local(4)
    assert parsed("tcp://10.0.0.1:8786") == Scheduler("tcp://10.0.0.1:8786")
    assert parsed("tls://head:8786") == Scheduler("tls://head:8786")
    file = tmp_path / "lab.toml"
    file.write_text('[cluster]\nkind = "scheduler"\naddress = "tls://head:1"\ntls_ca = "ca.pem"\n')
    assert parsed(str(file)) == Scheduler("tls://head:1", "ca.pem")
    file.write_text(SLURM)
    found = parsed(str(file))
    assert isinstance(found, Jobs)
    assert (found.workers, found.cores, found.directives) == (8, 4, ("--exclusive",))


LOCAL, NONE = (
    "local:N needs the number of processes, such as local:4",
    "is not a cluster: give local:N",
)
ADDRESS = "is not the address of a scheduler: tcp://host:port or tls"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, f"{text!r}: {LOCAL}") for text in ("local", "local:0", "local:two", "local:-1")),
        ("local:99999", LOCAL),
        *((text, f"{text!r} {NONE}") for text in ("", "slurm")),
        *((f"{name}", f"{name!r} {ADDRESS}") for name in ("http://host:80", "tcp://host")),
        ("tcp://host:port", ADDRESS),
        ("nowhere.toml", "nowhere.toml"),
    ],
)
def test_what_it_cannot_be(text, message):
    with pytest.raises(DbpcfgError) as caught:
        parsed(text)
    assert message in str(caught.value)


JOBS, RUNNING = '[cluster]\nkind = "slurm"\n', '[cluster]\nkind = "scheduler"\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[cluster", "is not TOML"),
        ("", "must have the table [cluster] and nothing else"),
        ("cluster = 3", "must have the table [cluster]"),
        ("[cluster]\n[other]\n", "nothing else"),
        ("[cluster]\nworkers = 3", "kind must be one of scheduler, slurm, pbs, sge"),
        ('[cluster]\nkind = "cloud"', "kind must be one of scheduler, slurm"),
        (f"{JOBS}nodes = 3", "[cluster] has 'nodes', which is not one of its options"),
        (JOBS, "workers must be a whole number from 1 up, got 0"),
        (f'{JOBS}workers = "8"', "[cluster] workers must be a whole number from 1 up, got '8'"),
        (f"{JOBS}workers = true", "got True"),
        (f"{JOBS}workers = 1\nprologue = 3", "prologue must be a text, or a list of them, got 3"),
        (RUNNING, "address must be a text"),
        (f'{RUNNING}address = "local:3"', ADDRESS),
        (f'{RUNNING}address = "tcp://a:1"\nport = 3', "[cluster] has 'port'"),
    ],
)
def test_files_that_do_not_describe_a_cluster(tmp_path, content, message):
    file = tmp_path / "lab.toml"
    file.write_text(content)
    with pytest.raises(DbpcfgError) as caught:
        parsed(str(file))
    assert str(file) in str(caught.value)
    assert message in str(caught.value)


def test_the_job_script_of_slurm(tmp_path):
    file = tmp_path / "slurm.toml"
    file.write_text(SLURM)
    place = parsed(str(file))
    assert isinstance(place, Jobs)
    with jobs_cluster(place) as cluster:
        script = cluster.job_script()
    lines = script.splitlines()
    assert lines[0].startswith("#!")
    for line in ("-p compute", "-A lab", "--cpus-per-task=4", "-t 02:00:00", "--exclusive"):
        assert f"#SBATCH {line}" in lines
    assert "module load python" in lines
    assert lines[-1].startswith("/opt/env/bin/python -m distributed.cli.dask_worker tcp://")
    assert "--nworkers 4 " in lines[-1]
    assert "--nthreads 1 " in lines[-1]


def test_ctrl_c_stays_what_it_is(tmp_path, monkeypatch):
    """When it is imported, dask-jobqueue lets Ctrl-C end the program as if all were well."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "dask_jobqueue"]:
        monkeypatch.delitem(sys.modules, name)
    file = tmp_path / "slurm.toml"
    file.write_text(SLURM)
    place, before = parsed(str(file)), signal.getsignal(signal.SIGINT)
    assert isinstance(place, Jobs)
    with jobs_cluster(place):
        assert signal.getsignal(signal.SIGINT) is before


def test_no_scheduler_there(monkeypatch):
    monkeypatch.setattr("dbpcfg.cluster.address.CONNECT_SECONDS", 0.5)
    message = "cannot reach the scheduler at tcp://127.0.0.1:9"
    with pytest.raises(DbpcfgError, match=message), connect("tcp://127.0.0.1:9"):
        pass


def test_certificates_mean_encryption(monkeypatch):
    import distributed

    monkeypatch.setattr(distributed, "Client", lambda *_, security, **__: security)
    plain, secure = Scheduler("tcp://a:1"), Scheduler("tls://a:1", "ca.pem", "cert.pem", "key.pem")
    assert _reached(plain) is None
    found = _reached(secure)
    assert found.require_encryption
    assert (found.tls_ca_file, found.tls_client_cert) == ("ca.pem", "cert.pem")
    assert found.tls_client_key == "key.pem"


def test_not_a_cluster_at_all():
    with pytest.raises(DbpcfgError, match="3 is not a cluster: give local:N"), connect(3):
        pass


def _modules(program: str) -> set[str]:
    program = f"import sys; {program}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "program",
    [
        "import dbpcfg.cluster",
        "from dbpcfg.cli.app import main; sys.argv = ['dbpcfg', '--help']\ntry: main()\n"
        "except SystemExit: pass\nimport sys",
        "import dbpcfg; dbpcfg.induce(['a b', 'b a'], K=2, iterations=2, chains=1)",
    ],
)
def test_dask_is_not_imported_without_a_cluster(program):
    assert not {"dask", "distributed", "dask_jobqueue"} & _modules(program)


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DbpcfgError, match=r'pip install "dbpcfg\[cluster\]"'), connect("local:2"):
        pass
