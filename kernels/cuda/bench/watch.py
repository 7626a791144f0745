"""Clocks, power and memory of the GPU while something runs on it, by nvidia-smi."""

import statistics
import subprocess
import tempfile

FIELDS = ("clocks.sm", "power.draw", "memory.used", "temperature.gpu")


class Watch:
    """Asks every 100 ms between entry and exit."""

    def __enter__(self):
        self.file = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            ["nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits", "-lms", "100", "--id=0"],
            stdout=self.file,
        )
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.file.seek(0)
        self.rows = []
        for line in self.file:
            values = line.split(",")
            if len(values) == len(FIELDS):  # the last line may be cut off
                self.rows.append([float(v) for v in values])
        self.file.close()

    def summary(self):
        """Median clock and power of the busy half of the time, and the most memory."""
        if not self.rows:
            return {}
        busy = sorted(self.rows, key=lambda r: r[1])[len(self.rows) // 2 :]
        clock, power = (statistics.median(r[i] for r in busy) for i in (0, 1))
        return {"mhz": clock, "watt": power, "peak_mib": max(r[2] for r in self.rows), "celsius": busy[-1][3]}
