"""tarry plot: regret curves of real results, and what it refuses."""
import json
import math
import os
import unittest
import xml.etree.ElementTree as xml
import zlib

import fabricated
from lab import LabTest, SMALL, answer, run, tarry

POLICIES = ["phased-stochastic", "lints", "uniform"]
OPTIONS = [part for name in POLICIES for part in ("--policy", name)]
SVG = "{http://www.w3.org/2000/svg}"


def texts(path):
    """All texts of an SVG file that is well-formed XML."""
    return ["".join(e.itertext()).strip()
            for e in xml.parse(path).iter(SVG + "text")]


def png_size(data):
    """Width and height, after a check of every part's checksum."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, kinds = 8, []
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        part, check = data[at + 4:at + 8 + size], data[at + 8 + size:][:4]
        assert zlib.crc32(part) == int.from_bytes(check, "big")
        kinds.append(part[:4])
        at += 12 + size
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND"
    return [int.from_bytes(data[i:i + 4], "big") for i in (16, 20)]


class Plot(LabTest):
    @classmethod
    def setUpClass(cls):
        cls.result = run(*SMALL, *OPTIONS)

    def save(self, result, name="result.json"):
        return self.write(name, json.dumps(result))

    def plot(self, *arguments, out="out.svg", says="", **more):
        done = tarry("plot", *arguments, "--out", self.path(out), **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(says, done.stdout)
        if says == "":
            self.assertEqual(done.stdout, "")
        return self.path(out)

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_the_limit_is_drawn_where_a_run_was_asked_for_it(self):
        world = ["--instance", "basis:arms=3,best=-0.5,gap=0.5", "--loss",
                 "rademacher"]
        result = run(*SMALL, *OPTIONS, *world, "--runs", "1", "--limit")
        limit = result["limit"]
        bound = answer("bound", *world, "--policy", "phased-mab")["limit"]
        self.assertAlmostEqual(limit["constant"], bound["constant"], places=9)
        self.assertEqual(limit["instances"], 1)
        first, last = limit["curve"][0], limit["curve"][-1]
        self.assertEqual(first, [1, 0])
        self.assertEqual(last[0], result["config"]["horizon"])
        self.assertAlmostEqual(
            last[1], bound["constant"] * math.log(last[0]), places=9)
        self.assertEqual(limit["at_horizon"], last[1])
        self.assertIn("limit, c log t", texts(self.plot(self.save(result))))
        self.assertNotIn("limit, c log t",
                         texts(self.plot(self.save(self.result))))

    def test_svg_names_axes_policies_and_world(self):
        seen = texts(self.plot(self.save(self.result)))
        for text in ["round", "regret", *POLICIES]:
            self.assertIn(text, seen)
        self.assertIn("sphere:dim=3,arms=6, rademacher, exponential:mean=100",
                      " ".join(seen))  # a title may take several lines

    def test_pdf_and_png_are_whole(self):
        source = self.save(self.result)
        pdf = self.read(self.plot(source, out="a.pdf"))
        self.assertTrue(pdf.startswith(b"%PDF-"))
        self.assertTrue(pdf.rstrip().endswith(b"%%EOF"))
        width, height = png_size(self.read(self.plot(source, out="a.png")))
        self.assertGreater(min(width, height), 900)

    def marks(self, points, log):
        """Places of the marks on the page, from left to right."""
        axis = {"label": "l", "log": log}
        figure = {"id": "f", "x": axis, "y": axis, "series": [
            {"name": "n", "kind": "points", "points": points}]}
        source = self.save({"rows": [{"figures": [figure]}]})
        root = xml.parse(self.plot(source, "--figure", "f")).getroot()
        places = {tuple(map(float, use.get("transform")[10:].split(")")[0]
                            .split(",")))
                  for use in root.iter(SVG + "use")
                  if use.get("transform", "").startswith("translate")}
        lowest = max(y for _, y in places)  # the one in the key
        return sorted(p for p in places if p[1] < lowest)

    def test_marks_lie_where_the_numbers_say(self):
        for log, points in ((False, [[0, 0], [50, 10], [100, 40]]),
                            (True, [[1, 1], [10, 10], [100, 1e4]])):
            (x0, y0), (x1, y1), (x2, y2) = self.marks(points, log)
            self.assertGreater(x1 - x0, 100)
            self.assertAlmostEqual(x2 - x1, x1 - x0, delta=0.1)
            self.assertGreater(y0 - y1, 40)
            self.assertAlmostEqual(y1 - y2, 3 * (y0 - y1), delta=0.2)

    def test_long_names_make_room_for_themselves(self):
        def width(name):
            result = {"policies": [{"name": name, "curve": [[1, 2, 1, 3]]}]}
            return int(xml.parse(self.plot(self.save(result))).getroot()
                       .get("width"))
        self.assertEqual(width("short"), width("lints:lambda=2"))
        self.assertGreater(width("x" * 100), 100 * 6)

    def test_policies_can_be_selected(self):
        seen = texts(self.plot(self.save(self.result), "--policy", "lints",
                               "--title", "Just <one> & 'only'"))
        self.assertIn("lints", seen)
        self.assertNotIn("uniform", seen)
        self.assertIn("Just <one> & 'only'", seen)

    def test_log_axes_say_what_they_leave_out(self):
        result = {"config": {}, "policies": [
            {"name": "p", "curve": [[1, 0, 0, 0], [10, 2, -1, 5],
                                    [100, 5, 4, 6]]}]}
        self.plot(self.save(result), "--log", says="Left out: 1 point with a")
        self.plot(self.save(result))

    def test_the_figure_itself_as_json(self):
        figure = answer("plot", self.save(self.result), "--policy", "lints")
        self.assertEqual([s["name"] for s in figure["series"]], ["lints"])
        self.assertEqual(figure["series"][0]["points"],
                         self.result["policies"][1]["curve"])
        self.assertEqual(os.listdir(self.folder), ["result.json"])

    def test_every_option_changes_its_part_of_the_figure(self):
        curve = [[1, 2, 1, 3], [9, 4, 3, 5]]
        bounds = [[1, 0.5, 0.4, 0.6, 0.1], [9, 0.3, 0.2, 0.4, 0.05]]
        limit = [[1, 0], [9, 7]]
        source = self.save({
            "config": {"instance": "i", "loss": "l", "delay": "d"},
            "policies": [{"name": "p", "curve": curve,
                          "certificate": {"curve": bounds}}],
            "limit": {"curve": limit}})
        for log in (False, True):
            for certificate in (False, True):
                for title in (None, "T"):
                    figure = answer(
                        "plot", source, *["--log"] * log,
                        *["--certificate"] * certificate,
                        *["--title", title] * (title is not None))
                    self.assertEqual(figure["title"], title or "i, l, d")
                    self.assertEqual(figure["x"],
                                     {"label": "round", "log": log})
                    self.assertEqual(figure["y"], {
                        "label": "certified gap" if certificate else "regret",
                        "log": log})
                    self.assertEqual(
                        [(x["name"], x["points"]) for x in figure["series"]],
                        [("p", [b[:4] for b in bounds]),
                         ("p: true gap", [[b[0], b[4]] for b in bounds])]
                        if certificate else
                        [("p", curve), ("limit, c log t", limit)])

    def test_standard_input_is_a_dash(self):
        self.plot("-", input=json.dumps(self.result))
        self.assertTrue(texts(self.path("out.svg")))

    def test_certificates_are_drawn_where_there_are_some(self):
        source = self.save(self.result)
        self.refused("plot", source, "--certificate", "--out",
                     self.path("c.svg"), says="no policy has a certificate")
        result = run("--instance", "sphere:dim=2,arms=4", "--horizon", "2000",
                     "--runs", "3", "--policy", "uniform", "--policy",
                     "phased-stochastic:constants=tight")
        seen = texts(self.plot(self.save(result), "--certificate"))
        self.assertIn("certified gap", seen)
        self.assertIn("phased-stochastic:constants=tight: true gap", seen)
        self.assertNotIn("regret", seen)
        self.refused("plot", self.path("result.json"), "--certificate",
                     "--policy", "uniform", "--out", self.path("c.svg"),
                     says="policy 'uniform' has no certificate")

    def test_of_several_worlds_one_is_chosen(self):
        plan = {"policy": ["lints", "ucb-delayed"], "horizon": 2000, "runs": 2,
                "points": 5, "worlds": [
                    {"name": "calm", "delay": "none"},
                    {"name": "late", "delay": "two-point:high=500,p=0.1"}]}
        source = self.save(run(self.write("plan.json", json.dumps(plan))))
        out = ["--out", self.path("w.svg")]
        self.refused("plot", source, *out,
                     says=["result.json", "--world", "calm, late"])
        self.refused("plot", source, *out, "--world", "mad",
                     says=["no world 'mad'", "calm, late"])
        self.assertFalse(os.path.exists(self.path("w.svg")))
        seen = texts(self.plot(source, "--world", "late"))
        self.assertIn("sphere, rademacher, two-point:high=500,p=0.1", seen)
        self.refused("plot", self.save(self.result), *out, "--world", "calm",
                     says="no worlds")

    def test_figures_of_the_paper(self):
        source = self.save(fabricated.results())
        seen = texts(self.plot(source, "--figure", "adversarial-sigma",
                               says="Each mark is"))
        self.assertIn("Phase overhead against σ_max", seen)
        self.refused("plot", source, "--figure", "none", "--out",
                     self.path("x.svg"), says=["result.json", "'none'"])

    def test_bad_input_is_named(self):
        out = ["--out", self.path("x.svg")]
        self.refused("plot", self.path("none.json"), *out,
                     says=["none.json", "No such file"])
        self.refused("plot", self.write("cut.json", '{\n"policies": [\n'), *out,
                     says=["cut.json:3:"])
        self.refused("plot", self.write("b.json", "[1, 2]"), *out,
                     says=["b.json", "no policies"])
        self.refused("plot", self.write("c.json", '{"policies": []}'), *out,
                     says=["c.json", "no policy has a curve"])
        self.refused("plot", self.write("d.json", json.dumps(
            {"policies": [{"name": "p", "curve": [[1, 2], ["x", 3]]}]})), *out,
            says=["d.json", "'p'", "point 1"])
        for point in ([1, -1e308], [1.1e300, 1], [1, 1, 0, 1e308]):
            self.refused("plot", self.write("e.json", json.dumps(
                {"policies": [{"name": "p", "curve": [[1, 2], point]}]})),
                *out, says=["e.json", "'p'", "point 1", "too large to draw"])
        source = self.save(self.result)
        self.refused("plot", source, *out, "--policy", "none",
                     says=["no policy 'none'", ", ".join(POLICIES)])
        self.refused("plot", source, "--out", self.path("x.gif"),
                     says=".svg, .pdf or .png")
        self.refused("plot", source, says="--out")
        self.assertFalse(os.path.exists(self.path("x.svg")))

    def test_without_gnuplot_one_line_says_so(self):
        self.refused("plot", self.save(self.result), "--out",
                     self.path("x.svg"), code=1, says="gnuplot",
                     env={**os.environ, "PATH": self.folder})
        self.assertEqual(os.listdir(self.folder), ["result.json"])

    def test_help_has_examples(self):
        done = tarry("plot", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("tarry plot result.json --out regret.svg", done.stdout)


if __name__ == "__main__":
    unittest.main()
