"""Results as `tarry paper` makes them, but invented: for tests of the page."""

COMMAND = "tarry paper --quick --seed 1 --out report"


def sweep(identifier, title, label, slope, xs=(100, 200, 400, 800, 1600, 3200)):
    """A log-log sweep: marks, their fit, and the theory."""
    wobble = (1.0, 1.07, 0.96, 1.02, 0.97, 1.01)
    marks = [[x, 3 * x ** slope * w, 2.6 * x ** slope * w, 3.4 * x ** slope * w]
             for x, w in zip(xs, wobble)]
    ends = (xs[0], xs[-1])
    return {
        "id": identifier, "title": title,
        "x": {"label": label, "log": True},
        "y": {"label": "penalty in rounds", "log": True},
        "series": [
            {"name": "phased-stochastic", "kind": "points", "points": marks},
            {"name": f"fit, slope {slope - 0.02:.2f} ± 0.03", "kind": "fit",
             "points": [[x, 3 * x ** slope] for x in ends]},
            {"name": f"theory, slope {slope:g}", "kind": "theory",
             "points": [[x, 2 * x ** slope] for x in ends]}],
        "note": "Each mark is the mean over 40 runs of the regret that the "
                "delay adds; the bars are 95 % intervals.",
        "command": COMMAND}


def curves(identifier, title):
    """Regret curves of several policies with bands."""
    times = [2 ** k for k in range(1, 18)]
    policies = {"phased-stochastic": 1.0, "linucb-inflated": 1.6, "lints": 0.4,
                "otf-linucb": 2.2, "oracle": 0.1}
    return {
        "id": identifier, "title": title,
        "x": {"label": "round", "log": False},
        "y": {"label": "regret", "log": False},
        "series": [{"name": name, "kind": "band",
                    "points": [[t, c * 9 * t ** 0.5, c * 8 * t ** 0.5,
                                c * 10 * t ** 0.5] for t in times]}
                   for name, c in policies.items()],
        "note": "Mean regret over 40 runs with 95 % intervals; all policies "
                "meet the same losses and delays.",
        "command": COMMAND}


def row(identifier, title, verdict="supported", figures=(), **more):
    return {
        "id": identifier, "title": title, "group": "theorem",
        "claim": "The regret that the delay adds grows like E[d] and does not "
                 "depend on the dimension n.",
        "theory": 1, "measured": 0.982, "ci95": 0.031, "verdict": verdict,
        "because": "The slope against E[d] is 0.982 ± 0.031, and 1 lies in "
                   "that interval.",
        "checks": [
            {"name": "penalty against E[d], slope", "theory": 1,
             "measured": 0.982, "ci95": 0.031, "verdict": verdict,
             "text": "six mean delays from 100 to 3200, n = 10"},
            {"name": "penalty against n, slope", "theory": 0,
             "measured": -0.004, "ci95": 0.05, "verdict": "supported",
             "text": "n from 4 to 64, E[d] = 1000"}],
        "figures": list(figures),
        "data": [{"policy": "phased-stochastic", "mean_delay": 100 * k,
                  "penalty": 311.25 * k, "ci95": 12.5} for k in range(1, 61)],
        "seconds": 12.34, **more}


def table_row(identifier, title, here, bandits, prior, **more):
    return row(identifier, title, group="table",
               paper={"here": here, "bandits": bandits, "prior": prior,
                      "seen": {"here": [{
                          "symbol": here,
                          "exponent": more.get("measured", 0.982),
                          "ci95": more.get("ci95", 0.031)}]}}, **more)


def results():
    return {
        "config": {"scale": "quick", "seed": 1, "command": COMMAND,
                   "version": "0.1.0", "rows": 8},
        "rows": [
            table_row("stochastic", "Stochastic, arm-independent", "E[d]",
                      "E[d]", "n^{3/2} E[d]",
                      figures=[sweep("stochastic-mean",
                                     "Regret penalty against the mean delay",
                                     "E[d] in rounds", 1),
                               sweep("stochastic-dimension",
                                     "Regret penalty against the dimension",
                                     "n", 0.0, (4, 8, 16, 24, 32, 64))]),
            table_row("arm-dependent", "Stochastic, arm-dependent",
                      "max_a E[d(a)]", "max_a E[d(a)]", "",
                      verdict="unresolved",
                      figures=[curves("arm-dependent-curves",
                                      "Regret when one arm is a hundred times "
                                      "slower than the others, and is the "
                                      "best of them all")]),
            table_row("adversarial", "Adversarial, arm-independent", "σ_max",
                      "σ_max", "", figures=[sweep(
                          "adversarial-sigma", "Phase overhead against σ_max",
                          "σ_max", 1)]),
            table_row("loss-dependent", "Loss-dependent, stochastic",
                      "√n max_a E[d(a)]", "√n max_a E[d(a)]", "",
                      theory=0.5, measured=0.61, ci95=0.02,
                      verdict="contradicted",
                      because="The slope against n is 0.61 ± 0.02, and 1/2 "
                              "lies outside.",
                      figures=[sweep("loss-dependent-dimension",
                                     "First phase against the dimension", "n",
                                     0.5, (4, 8, 16, 24, 32, 64))]),
            table_row("payoff", "Delay-as-payoff", "D", "D", "D",
                      theory=None, measured=None, ci95=None),
            row("sqrt-t", "Regret grows like √T without logarithms",
                theory=0.5, measured=0.497, ci95=0.012,
                figures=[curves("sqrt-t-curves", "Regret over time")]),
            row("best-arm", "The best arm is lost with probability at most "
                "1/T", theory=0.0001, measured=0.0, ci95=3.1e-5),
        ]}
