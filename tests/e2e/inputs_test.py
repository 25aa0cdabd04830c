"""What can be given besides traces: values of one's own, tables of nsys stats in a folder, binary reports; and what is
never given back: secrets that stand in exports and traces."""
import json
import pathlib
import sqlite3
import stat
import tempfile
import unittest

from service import Service, run, sha, trace

KERNELS = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n{0},{1},1,{1},{1},{1},{1},0.0,k\n"
TIMES = "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n100.0,1000,1,1000.0,1000.0,1000,1000,0.0,[CUDA memcpy HtoD]\n"
SIZES = "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n0.008,1,0.008,0.008,0.008,0.008,0.000,[CUDA memcpy HtoD]\n"


def value_of(rows, metric):
    return next(row for row in rows if row["metric"] == metric)


def export_with(path: pathlib.Path, secret):
    """A small export; `secret(where)` gives what stands in a place that nobody should see."""
    process = (1 << 48) + (100 << 24)
    db = sqlite3.connect(path)
    db.executescript(f"""
      CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
      INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, '{secret("StringIds")}');
      CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
        streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
      INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 1, 7, 1, {process}, 1, 1);
      CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
        correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
      INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, 0, {process + 7}, 1, 2, 0);
      CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
      INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES
        (1, 'a', 'NvDriverVersion', 1, '550.54'), (1, 'a', 'DeviceEnvironment', 2, 'HF_TOKEN={secret("environment")}'),
        (1, 'a', 'Hostname', 3, '{secret("host")}'), (1, '{secret("state")}', 'User', 4, '{secret("user")}');
      CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
      INSERT INTO PROCESSES VALUES ({process}, 100, '/home/{secret("process")}/python');
      CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
      INSERT INTO ThreadNames VALUES (3, 1, {process + 7});
      CREATE TABLE ANALYSIS_FILE (id INTEGER, filename TEXT, content BLOB);
      INSERT INTO ANALYSIS_FILE VALUES (1, '/home/{secret("file")}/a', '{secret("content")}');
      CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
      INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.1.1.204'), ('EXPORT_SCHEMA_VERSION', '3.24.14'),
        ('EXPORT_HOST_NAME', '{secret("export_host")}'), ('EXPORT_USER', '{secret("export_user")}'),
        ('EXPORT_INPUT_FILE', '/home/{secret("input_path")}/r.nsys-rep');
      CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
      INSERT INTO META_DATA_CAPTURE VALUES ('COMMAND_LINE', 'python train.py --key {secret("command")}');
      CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
      INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1, '{secret("utc")}', '{secret("local")}');
      CREATE TABLE TARGET_INFO_NIC_INFO (name TEXT); INSERT INTO TARGET_INFO_NIC_INFO VALUES ('{secret("nic")}');
      CREATE TABLE OSRT_FILE_ACCESS_EVENTS (path TEXT); INSERT INTO OSRT_FILE_ACCESS_EVENTS VALUES ('{secret("osrt")}');
      CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT,
        globalPid INTEGER);
      INSERT INTO DIAGNOSTIC_EVENT VALUES
        (1, 0, 1, 2, 'Events were lost while writing /home/{secret("diagnostic_path")}/x.qdstrm', {process}),
        (1, 0, 1, 3, 'Buffer overflow, events lost for {secret("user_at")}@host.example', {process}),
        (1, 0, 1, 1, 'Environment: TOKEN={secret("diagnostic_info")}', {process});
    """)
    db.commit()
    db.close()


def kineto_with(path: pathlib.Path, secret):
    path.write_text(json.dumps({
        "schemaVersion": 1, "traceName": f"/home/{secret('trace_name')}/t.json", "trace_id": secret("trace_id"),
        "host_name": secret("host_name"), "user": secret("user"), "env": {"HF_TOKEN": secret("env")},
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100"}],
        "distributedInfo": {"backend": secret("backend"), "rank": 0, "world_size": 1, "master_addr": secret("master"),
                            "pg_config": [{"pg_desc": secret("pg")}]},
        "INFO": [secret("info")], "job_config": secret("job"),
        "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": secret("process_name")}},
            {"ph": "X", "cat": "python_function", "name": f"/home/{secret('path')}/train.py(12): main", "pid": 1, "tid": 1,
             "ts": 0, "dur": 9},
            {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 0, "dur": 9,
             "args": {"Call stack": secret("stack"), "Concrete Inputs": [secret("inputs")]}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
             "args": {"correlation": 1, "cbid": secret("cbid")}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 5, "dur": 10,
             "args": {"device": 0, "stream": 7, "correlation": 1, "kernel_file": f"/home/{secret('kernel_file')}/k.py"}}]}))


class Secrets:
    """Marks places; each mark is a word of its own."""

    def __init__(self):
        self.marks = []

    def __call__(self, where: str) -> str:
        self.marks.append(f"SECRET{where.replace('_', '')}SECRET")
        return self.marks[-1]

    def leaked(self, text: str) -> list:
        return [mark for mark in self.marks if mark.lower() in text.lower()]


class Privacy(unittest.TestCase):
    def test_nothing_of_host_user_or_environment_comes_out(self):
        for name, write in (("report.sqlite", export_with), ("trace.json", kineto_with)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder, Service() as service:
                secrets, file = Secrets(), pathlib.Path(folder) / name
                write(file, secrets)
                shown = ""
                for form in ("--json", "--markdown", "--hash"):
                    done = run("traceweir", "analyze", file, form)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    shown += done.stdout + done.stderr
                self.assertIn("gemm", shown)
                token = service.token()
                answer = service.upload(token, file.read_bytes(), sha(1))
                self.assertEqual(answer.status, 201, answer)
                shown += answer.body.decode()
                shown += service.call("GET", "/api/v1/projects/demo/runs/" + answer.json["id"], token).body.decode()
                shown += service.log_path.read_text()
                self.assertGreater(len(secrets.marks), 12)
                self.assertEqual(secrets.leaked(shown), [])
                for stored in service.data_dir.rglob("*"):
                    if stored.is_file() and "blobs" not in stored.parts and "spool" not in stored.parts:
                        self.assertEqual(secrets.leaked(stored.read_bytes().decode("latin-1")), [], stored)


class Stated(unittest.TestCase):
    def test_values_of_ones_own_are_kept_judged_and_listed(self):
        policy = 'version = 1\n[rules."custom.epoch"]\nmax = "2 s"\nworse_by = "10%"\n'
        with Service() as service, tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / ".traceweir.toml").write_text(policy)
            env = service.environment() | {"TRACEWEIR_TOKEN": service.token(), "TRACEWEIR_PROJECT": "demo"}
            answers = []
            for number, (value, unit) in enumerate([(1.5, "s")] * 6 + [(1510, "ms"), (2.5, "s")], 1):
                file = pathlib.Path(folder) / "metrics.json"
                file.write_text(json.dumps({"metrics": {"custom.epoch": {"value": value, "unit": unit, "better": "lower"}}}))
                done = run("traceweir", "gate", file, "--commit", sha(number), "--branch", "main", "--json",
                           "--policy", pathlib.Path(folder) / ".traceweir.toml", env=env)
                answers.append((done.returncode, json.loads(done.stdout)))
            self.assertEqual([code for code, _ in answers[5:]], [0, 0, 1])
            row = value_of(answers[0][1]["report"]["run"]["measurements"], "custom.epoch")
            self.assertEqual((row["value"], row["unit"], row["better"]), (1.5, "s", "lower"))
            rule = answers[6][1]["verdict"]["rules"][0]
            self.assertEqual((rule["metric"], rule["outcome"]), ("custom.epoch", "pass"))

            history = service.call("GET", "/api/v1/projects/demo/history?metric=custom.epoch&branch=main",
                                   env["TRACEWEIR_TOKEN"]).json
            self.assertEqual((history["unit"], history["better"]), ("ns", "lower"))
            self.assertEqual([p["value"] for p in history["points"]], [1.5e9] * 6 + [1.51e9, 2.5e9])

    def test_beside_a_trace_they_are_refused_with_what_to_do(self):
        with Service() as service, tempfile.TemporaryDirectory() as folder:
            env = service.environment() | {"TRACEWEIR_TOKEN": service.token(), "TRACEWEIR_PROJECT": "demo"}
            files = [pathlib.Path(folder) / "trace.json", pathlib.Path(folder) / "metrics.json"]
            files[0].write_bytes(trace("--steps", 6))
            files[1].write_text('{"metrics": {"custom.epoch": {"value": 1.5, "unit": "s", "better": "lower"}}}')
            at = ["--commit", sha(1), "--branch", "main"]
            for command in (["analyze"], ["gate", *at, "--dry-run"], ["gate", *at, "--edge"], ["gate", *at]):
                for given in (files, files[::-1]):
                    with self.subTest(command=command[:1], given=given[0].name):
                        done = run("traceweir", *command, *given, env=env)
                        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                        self.assertIn("give the values in a call of their own, to a workload of their own", done.stderr)
            for file in files:
                apart = run("traceweir", "gate", file, *at, "--workload", file.stem, "--json", env=env)
                self.assertEqual(json.loads(apart.stdout)["status"], "judged", apart.stderr)

    def test_a_misspelt_key_is_refused_with_its_place(self):
        with Service() as service:
            answer = service.upload(service.token(), b'{"metrics": {"custom.a": {"value": 1, "units": "s"}}}', sha(1))
            self.assertEqual(answer.status, 400, answer)
            self.assertIn("custom.a", answer.json["detail"])


class Folders(unittest.TestCase):
    def analyze(self, *arguments):
        done = run("traceweir", "analyze", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_tables_of_one_capture_are_one_rank(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for rank in (0, 1):
                (folder / f"rank{rank}_cuda_gpu_kern_sum.csv").write_text(KERNELS.format(100.0, 1000 + rank))
                (folder / f"rank{rank}_cuda_gpu_mem_time_sum.csv").write_text(TIMES)
                (folder / f"rank{rank}_cuda_gpu_mem_size_sum.csv").write_text(SIZES)
                (folder / f"rank{rank}_cuda_api_sum.csv").write_text("Time (%),Total Time (ns),Num Calls,Name\n1.0,1,1,c\n")
            (folder / "notes.md").write_text("no trace")
            report = self.analyze(folder)
            self.assertEqual(len(report["ranks"]), 2)
            rows = report["run"]["measurements"]
            self.assertEqual(value_of(rows, "launch.kernel_p50")["value"], 1000.5)
            self.assertEqual(value_of(rows, "memcpy.h2d_bandwidth")["value"], 8.0)

            one = [folder / f"rank0_cuda_gpu_{part}_sum.csv" for part in ("mem_size", "kern", "mem_time")]
            self.assertEqual(len(self.analyze(*one)["ranks"]), 1)
            plain = [folder / "a.csv", folder / "b.csv"]
            plain[0].write_text(TIMES), plain[1].write_text(KERNELS.format(100.0, 7))
            self.assertEqual(len(self.analyze(*plain)["ranks"]), 1)

    def test_a_folder_without_a_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("traceweir", "analyze", folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("no trace", done.stderr)


class BinaryReports(unittest.TestCase):
    """With a stand-in for nsys: the real one is not free software."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.report = self.folder / "job.nsys-rep"
        self.report.write_bytes(b"\x0a\x05....QuadDCommon....")
        export_with(self.folder / "made.sqlite", lambda where: "x")

    def nsys(self, body: str) -> pathlib.Path:
        program = self.folder / "nsys"
        program.write_text("#!/bin/sh\n" + body)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    def analyze(self, *more, **variables):
        env = {"PATH": "/usr/bin:/bin", "TMPDIR": str(self.folder)} | variables
        return run("traceweir", "analyze", self.report, "--json", *more, env=env)

    def test_exported_and_read(self):
        good = self.nsys(f'[ "$1 $2 $3 $4" = "export --type sqlite --output" ] || exit 9\ncp {self.folder}/made.sqlite "$5"\n')
        for arguments, variables in ((["--nsys", good], {}), ([], {"TRACEWEIR_NSYS": str(good)}),
                                     ([], {"PATH": f"{self.folder}:/usr/bin:/bin"})):
            done = self.analyze(*arguments, **variables)
            self.assertEqual(done.returncode, 0, done.stderr)
            rank = json.loads(done.stdout)["ranks"][0]
            self.assertEqual(rank["trace"]["format"], "nsys_sqlite")
            self.assertEqual(rank["trace"]["name"], "job.nsys-rep")
        self.assertEqual([p.name for p in self.folder.glob("traceweir-*")], [])

    def test_no_nsys_failing_nsys_slow_nsys(self):
        for arguments, says in ((["--nsys=off"], "nsys export --type sqlite --output job.sqlite job.nsys-rep"),
                                ([], "nsys export --type sqlite --output job.sqlite job.nsys-rep"),
                                (["--nsys", "/nonexistent/nsys"], "cannot run"),
                                (["--nsys", self.nsys("echo 'wrong version' >&2; exit 3\n")], "exit code 3")):
            done = self.analyze(*arguments)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(says, done.stderr)
        self.assertIn("wrong version", self.analyze("--nsys", self.folder / "nsys").stderr)
        slow = self.analyze("--nsys", self.nsys("exec sleep 60\n"), "--nsys-time-max=1")
        self.assertIn("longer than 1 s", slow.stderr)
        self.assertEqual([p.name for p in self.folder.glob("traceweir-*")], [])

    def test_the_service_refuses_and_says_what_to_run(self):
        with Service() as service:
            answer = service.upload(service.token(), self.report.read_bytes(), sha(1))
            self.assertEqual(answer.status, 415, answer)
            self.assertIn("nsys export --type sqlite", answer.json["detail"])


if __name__ == "__main__":
    unittest.main()
