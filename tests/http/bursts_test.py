"""Uploads that come at once: their series are settled together (decision 061), and what is in the baseline in the end is what it is
where they come one by one."""
import concurrent.futures
import random
import time
import unittest

from levels import Levels
from service import sha

# Per commit, oldest first, the values of its runs. 140 fails; a commit with one that fails has none in the baseline.
COMMITS = [[100], [100.4, 99.8], [99.6], [100.2], [100], [140], [100.1], [99.9, 141], [99.7], [100.3], [100.2, 100], [139, 100], [99.8], [100]]


class Bursts(Levels):
    def counted(self, project):
        return sorted((point["commit"], point["value"], point["in_baseline"]) for point in self.page(project)["points"])

    def send(self, project, number, value):
        parents = {"parents": sha(number - 1)} if number > 1 else {}
        return self.upload(project, number, value, **parents)

    def until_counted(self, project, wanted, seconds=20):
        deadline = time.monotonic() + seconds
        while (counted := self.counted(project)) != wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        return counted

    def test_the_baseline_is_that_of_uploads_one_by_one(self):
        runs = [(number, value) for number, values in enumerate(COMMITS, 1) for value in values]
        self.tokens("one-by-one")
        self.policy("one-by-one", "")
        for number, value in runs:
            self.send("one-by-one", number, value)
        wanted = self.counted("one-by-one")
        self.assertEqual(len(wanted), len(runs))
        left_out = {commit for commit, _, in_baseline in wanted if not in_baseline}
        self.assertEqual(left_out, {sha(6), sha(8), sha(12)})
        for seed in range(4):
            project = f"burst-{seed}"
            with self.subTest(project), concurrent.futures.ThreadPoolExecutor(8) as pool:
                self.tokens(project)
                self.policy(project, "")
                shuffled = list(runs)
                if seed > 0:
                    random.Random(seed).shuffle(shuffled)
                list(pool.map(lambda run, name=project: self.send(name, *run), shuffled))
                self.assertEqual(self.until_counted(project, wanted), wanted)


if __name__ == "__main__":
    unittest.main()
