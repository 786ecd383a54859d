"""The streams of many ranks with Dask: a task extracts a report, a tree of tasks merges them, the last one prepares the job.

    python3 dask_job.py OUT REPORT...

The scheduler is that of the process, unless DASK_SCHEDULER names one; reports and OUT must be visible to all workers."""
import os
import subprocess
import sys

import dask


def run(*command):
    subprocess.run(command, check=True)


def stream_of(out, report):
    return os.path.join(out, "streams", report.strip("/").replace("/", "_") + ".nsysx")


def extract(out, report):
    stream = stream_of(out, report)
    dump = os.path.join(os.path.dirname(report), "dump")
    run("nsysx-extract", "-q", "-a", "-b", "-z", "--host", *(("-x", dump) if os.path.isdir(dump) else ()), "-o", stream, "--", report)
    return stream


def merge(streams):
    """One stream of several; of those, the ones that are merged streams themselves are no longer needed."""
    if len(streams) == 1:
        return streams[0]
    merged = streams[0] + ".merged"
    run("nsysx-merge", "-q", "-b", "-z", "-o", merged, *streams)
    for stream in streams:
        if stream.endswith(".merged"):
            os.remove(stream)
    return merged


def tree(parts, size):
    return [dask.delayed(merge)(parts[i:i + size]) for i in range(0, len(parts), size)]


def main(out, reports):
    if len({stream_of(out, report) for report in reports}) < len(reports):
        sys.exit("dask_job.py: two reports would have one stream, as a_b/r.sqlite and a/b_r.sqlite would")
    os.makedirs(os.path.join(out, "streams"), exist_ok=True)
    if "DASK_SCHEDULER" in os.environ:
        import distributed
        distributed.Client(os.environ["DASK_SCHEDULER"])
    parts = tree([dask.delayed(extract)(out, report) for report in reports], 64)
    while len(parts) > 1:
        parts = tree(parts, 8)
    run("nsysx-prepare", "-q", "-z", "-o", os.path.join(out, "steady.nsysx"), parts[0].compute())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
