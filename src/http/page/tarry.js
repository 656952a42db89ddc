/* The dashboard of `tarry serve`: asks the service every few seconds and shows
 * what it says.  Nothing is computed here that the service does not say, but
 * shares and differences. */
"use strict";

const PAUSE_MS = 3000, LIST_MS = 15000, RECENT = 16;
const $ = id => document.getElementById(id);
const charts = {};  // by the id of their place: {plot, key}
const page = {name: null, experiment: null, overview: null, timer: 0, turn: 0};

/* ---- asking ------------------------------------------------------------- */

class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || "HTTP status " + status);
    this.status = status;
  }
}

async function ask(method, path, body) {
  const headers = {Accept: "application/json"};
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = "Bearer " + token;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method, headers, cache: "no-store", redirect: "manual",
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.type === "opaqueredirect")  // its address cannot be read here
    throw new Refusal(307, {detail: "Another process of this service owns the experiment: look at the page there."});
  const text = await answer.text();
  let json = {};
  try { json = text ? JSON.parse(text) : {}; } catch (e) { json = {detail: text.slice(0, 200)}; }
  if (!answer.ok) throw new Refusal(answer.status, json);
  return json;
}

const at = (...parts) => "/v1/experiments/" + parts.map(encodeURIComponent).join("/");

/* ---- words -------------------------------------------------------------- */

const nothing = "–";
const isNumber = x => typeof x === "number" && isFinite(x);
const whole = n => isNumber(n) ? n.toLocaleString("en") : nothing;
const real = x => !isNumber(x) ? nothing :
  x === 0 ? "0" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e6 ? String(+x.toPrecision(4)) : x.toExponential(2);
const percent = x => isNumber(x) ? (100 * x).toFixed(x < 0.0995 ? 1 : 0) + " %" : nothing;

function span(seconds) {
  if (!isNumber(seconds)) return nothing;
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  for (const [size, name] of units)
    if (seconds >= size) return +(seconds / size).toPrecision(3) + " " + name;
  return +(1000 * seconds).toPrecision(3) + " ms";
}

const clock = seconds => new Date(1000 * seconds).toLocaleString(undefined, {hour12: false});

/* An element with its attributes and children; texts are never read as HTML. */
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      e.setAttribute(key, value === true ? "" : value);
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}

/* ---- experiments -------------------------------------------------------- */

function chosen() {
  try { return decodeURIComponent(location.hash.replace(/^#\/?/, "")); } catch (e) { return ""; }
}

function listExperiments(experiments) {
  const names = experiments.map(e => e.name);
  if (!names.includes(page.name)) page.name = names.includes(chosen()) ? chosen() : names[0] || null;
  $("empty").hidden = names.length > 0;
  $("experiment").hidden = names.length === 0;
  if (!names.length)
    $("recipe").textContent = "curl " + location.origin + "/v1/experiments -d '{\"name\":\"button\",\n" +
      "  \"arms\":[{\"name\":\"red\"},{\"name\":\"blue\"}]}'";
  const had = document.activeElement && document.activeElement.dataset.name;
  $("experiments").replaceChildren(...experiments.map(e => make("li", {},
    make("a", {href: "#/" + encodeURIComponent(e.name), "data-name": e.name,
               "aria-current": e.name === page.name ? "page" : null},
      e.name, make("small", {}, whole(e.decisions) + " decisions, " + whole(e.pending) + " out" +
        (e.paused ? ", paused" : ""))))));
  for (const a of $("experiments").querySelectorAll("a"))
    if (had && a.dataset.name === had) a.focus();
}

/* ---- figures at the top ------------------------------------------------- */

function tile(name, key, value, text, more) {
  return make("div", {}, make("dt", {}, name),
    make("dd", {"data-key": key, "data-value": value === null || value === undefined ? "" : value}, text,
      more ? make("small", {}, more) : null));
}

function showTiles(e, o) {
  const s = e.status;
  $("tiles").replaceChildren(
    tile("Decisions", "decisions", o.decisions, whole(o.decisions),
      o.cancelled ? whole(o.cancelled) + " cancelled" : ""),
    tile("Outcomes", "outcomes", o.outcomes, whole(o.outcomes), s.late ? whole(s.late) + " late" : ""),
    tile("Outstanding", "pending", o.pending, whole(o.pending), "at most " + whole(o.pending_max)),
    tile("Given up", "expired", o.expired, whole(o.expired), ""),
    tile("Certificate", "certificate", s.certificate, real(s.certificate), "of " + real(e.range[1] - e.range[0])),
    tile("Median delay", "median", o.delay.median, span(o.delay.median),
      isNumber(o.delay.low) ? span(o.delay.low) + " to " + (isNumber(o.delay.high) ? span(o.delay.high) : "?") : ""),
    tile("Still missing", "missing", o.delay.missing, percent(o.delay.missing), "of all decisions, so far"));
  $("certificate-line").textContent = isNumber(s.certificate)
    ? "The arm it would exploit now is " + s.exploit + "; with probability " +
      (s.confidence || "1 - 1/T") + " it is at most " + real(s.certificate) + " worse than the best."
    : "The arm it would exploit now is " + s.exploit + ". This policy states no certificate.";
}

function showDependence(d, silence, reports) {
  const verdict = d && (d.verdict || d);
  $("dependence").hidden = !verdict;
  if (!verdict) return;
  const says = {
    dependent: "Delays depend on the outcome.", independent: "Delays do not look as if they depended on the outcome.",
  }[verdict] || "It cannot be told yet whether delays depend on the outcome.";
  $("dependence").dataset.verdict = verdict;
  $("dependence").textContent = says +
    (d.why ? " " + d.why[0].toUpperCase() + d.why.slice(1) : "") +
    (isNumber(d.p_value) && d.p_value < 1 ? " (p = " + real(d.p_value) + ")" : "") + "." +
    (d.warning ? " " + d.warning[0].toUpperCase() + d.warning.slice(1) + "." : "") +
    (silence ? " " + silence[0].toUpperCase() + silence.slice(1) + "." : "") +
    (/^silent/.test(reports) ? " Reports are " + reports + "." : "");
}

function showHead(e, o) {
  $("name").textContent = e.name;
  document.title = e.name + " - tarry";
  $("made").textContent = [e.policy, e.objective, "range " + e.range.map(real).join(" to "), whole(o.n_arms) + " arms",
    e.horizon ? "horizon " + whole(e.horizon) : "", e.expire_after ? "given up after " + e.expire_after : "",
    e.default_outcome ? real(e.default_outcome.value) + " if nothing is reported within " + e.default_outcome.after : "",
    "since " + clock(o.time.start)].filter(x => x).join(" · ");
  const paused = !!(e.paused || e.status.paused);
  $("pause").textContent = paused ? "Resume" : "Pause";
  $("pause").dataset.paused = paused;
  $("progress").hidden = o.events_read >= o.events;
  $("progress").textContent = "Reading the log: " + whole(o.events_read) + " of " + whole(o.events) +
    " events. The figures below are those of the part that has been read.";
}

/* ---- arms --------------------------------------------------------------- */

function line(from, to, y, kind) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [key, value] of Object.entries({x1: from, x2: to, y1: y, y2: y, class: kind})) e.setAttribute(key, value);
  return e;
}

/* From what the mean would be if all that is missing were at one end of the
 * range to the other end (wide), its 95 % interval (narrow), and what the
 * policy says (below). */
function whisker(a, says, [low, high]) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const x = v => 4 + 192 * (Math.min(high, Math.max(low, v)) - low) / (high - low);
  svg.setAttribute("viewBox", "0 0 200 22");
  svg.setAttribute("class", "whisker");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", isNumber(a.low) ? "95 % interval " + real(a.low) + " to " + real(a.high) : "no interval");
  if (a.if_missing && isNumber(a.if_missing[0])) svg.append(line(x(a.if_missing[0]), x(a.if_missing[1]), 9, "wide"));
  if (isNumber(a.low)) svg.append(line(x(a.low), x(a.high), 9, "narrow"));
  if (says) svg.append(line(Math.max(4, x(says.lower) - 1), Math.min(196, x(says.upper) + 1), 18, "policy"));
  if (isNumber(a.mean)) {
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    for (const [key, value] of Object.entries({cx: x(a.mean), cy: 9, r: 4, class: "mean"})) dot.setAttribute(key, value);
    svg.append(dot);
  }
  return svg;
}

function cell(head, value, ...children) {
  return make("td", {"data-head": head, "data-value": isNumber(value) ? value : null}, ...children);
}

function armRow(a, i, e, o) {
  const says = (e.status.estimates || []).find(x => x.arm === a.arm);
  const active = (e.status.active || []).includes(a.arm), name = String(a.arm);
  const swatch = make("span", {class: "swatch"});
  swatch.style.background = color(i);
  return make("tr", {class: a.available ? null : "gone", "data-arm": name},
    make("th", {scope: "row"}, i < 8 ? swatch : null, name,
      !a.available ? make("span", {class: "tag"}, "withdrawn") :
        name === String(e.status.exploit) ? make("span", {class: "tag"}, "exploited") :
        e.status.phase > 0 && !active ? make("span", {class: "tag"}, "ruled out") : null),
    cell("Decisions", a.decisions, whole(a.decisions)),
    cell("Share", o.decisions ? a.decisions / o.decisions : null, o.decisions ? percent(a.decisions / o.decisions) : nothing),
    cell("Outcomes", a.outcomes, whole(a.outcomes)),
    cell("Out", a.pending, whole(a.pending)),
    cell("Mean", a.mean, real(a.mean), isNumber(a.low) ? " ± " + real((a.high - a.low) / 2) : ""),
    cell("Interval", null, whisker(a, says, e.range)),
    make("td", {class: "says", "data-head": "Policy says"}, says ? real(says.lower) + " to " + real(says.upper) : nothing),
    cell("Median delay", a.delay.median, span(a.delay.median)),
    cell("Still missing", a.delay.missing, percent(a.delay.missing)),
    make("td", {}, a.available ? make("button", {type: "button", "data-withdraw": name, "aria-label": "Withdraw " + name,
      onclick: () => withdraw(name)}, "Withdraw") : null));
}

/* Replaces rows, and keeps the focus on the button where it was. */
function fill(table, rows) {
  const had = document.activeElement && table.contains(document.activeElement)
    ? document.activeElement.getAttribute("aria-label") : null;
  table.tBodies[0].replaceChildren(...rows);
  if (had !== null)
    for (const b of table.querySelectorAll("button")) if (b.getAttribute("aria-label") === had) b.focus();
}

function showArms(e, o) {
  const kind = e.objective === "maximize" ? "reward" : "loss";
  $("mean-head").textContent = "Mean " + kind;
  $("mean-caption").textContent = "Mean " + kind + " of what was reported";
  $("arms-about").textContent = (o.n_arms > o.arms.length ? "The " + o.arms.length + " most chosen of " + whole(o.n_arms) + ". " : "") +
    "Dot and line: the mean of the outcomes that came, with its 95 % interval. Grey: where it would be if all that is missing were " +
    "at an end of the range. Below, if there is one: the policy's own estimate.";
  $("arms").classList.toggle("unsaid", !(e.status.estimates || []).length);
  fill($("arms"), o.arms.map((a, i) => armRow(a, i, e, o)));
}

/* ---- recent decisions --------------------------------------------------- */

function recentRow(d, now) {
  return make("tr", {"data-id": d.id},
    make("th", {scope: "row"}, d.id),
    cell("Arm", null, String(d.arm)),
    cell("Probability", d.probability, real(d.probability)),
    cell("Decided", d.decided, make("time", {title: clock(d.decided)}, span(Math.max(0, now - d.decided)) + " ago")),
    cell("State", null, d.state),
    cell("Outcome", d.value, real(d.value)),
    cell("Delay", d.ended === null ? null : d.ended - d.decided, d.ended === null ? nothing : span(d.ended - d.decided)),
    make("td", {}, d.state === "pending" ? make("button", {type: "button", "aria-label": "Cancel " + d.id,
      onclick: () => cancel(d.id)}, "Cancel") : null));
}

/* ---- charts ------------------------------------------------------------- */

const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const color = i => style("--c" + Math.min(i, 8));

function axis(more) {
  return Object.assign({stroke: style("--soft"), grid: {stroke: style("--grid"), width: 1},
    ticks: {stroke: style("--grid"), width: 1}, font: "12px system-ui, sans-serif"}, more);
}

/* Draws, or gives new data to what is drawn already in the same form. */
function draw(id, key, data, options) {
  const place = $(id), width = place.clientWidth;
  const old = charts[id];
  if (!data || !data[0].length) {
    if (old) old.plot.destroy();
    delete charts[id];
    place.replaceChildren(make("p", {class: "none"}, "nothing yet"));
    return;
  }
  if (old && old.key === key) {
    if (old.plot.width !== width) old.plot.setSize({width, height: 230});
    old.plot.setData(data);
    return;
  }
  if (old) old.plot.destroy();
  place.replaceChildren();
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", place.parentNode.querySelector("figcaption").textContent);
  charts[id] = {key, plot: new uPlot(Object.assign({width, height: 230, padding: [8, 8, 0, 0],
    cursor: {drag: {x: false, y: false}}}, options), data, place)};
}

/* The middles of buckets. */
const times = (t, n) => Array.from({length: n}, (_, i) => t.start + (i + 0.5) * t.width);

/* Areas on top of one another; the topmost is drawn first. */
function drawShares(o) {
  const shares = o.time.shares, sums = o.time.decisions;
  const data = [times(o.time, sums.length)], below = sums.map(() => 0), rows = [];
  for (const s of shares) {
    s.decisions.forEach((n, b) => { below[b] += n; });
    rows.unshift(below.map((n, b) => sums[b] ? n / sums[b] : null));
  }
  const own = shares.map(s => s.decisions.map((n, b) => sums[b] ? n / sums[b] : null)).reverse();
  const colors = shares.map((s, i) => s.arm === null ? color(8) : color(i)).reverse();
  const names = shares.map(s => s.arm === null ? "others" : String(s.arm)).reverse();
  draw("chart-shares", names.join("\n"), sums.length ? data.concat(rows) : null, {
    scales: {y: {range: [0, 1]}},
    axes: [axis(), axis({values: (u, v) => v.map(x => Math.round(100 * x) + " %")})],
    series: [{}].concat(names.map((label, i) => ({label, stroke: colors[i], fill: colors[i], width: 1, spanGaps: true,
      points: {show: false}, value: (u, v, s, at) => at === null || at === undefined ? nothing : percent(shareAt(names[i], at))}))),
  });
  page.own = Object.fromEntries(names.map((name, i) => [name, own[i]]));
}

const shareAt = (name, index) => page.own[name] ? page.own[name][index] : null;

function drawLines(id, t, n, lines, options) {
  const data = [times(t, n)].concat(lines.map(l => l.values));
  draw(id, lines.map(l => l.name).join("\n"), lines.some(l => l.values.some(isNumber)) ? data : null, Object.assign({
    axes: [axis(), axis({size: 60})],
    series: [{}].concat(lines.map((l, i) => ({label: l.name, stroke: color(l.color === undefined ? i : l.color), width: 2,
      dash: l.dash, spanGaps: true, value: (u, v) => real(v)}))),
  }, options));
}

/* Each arm has delays of its own: uPlot joins them on one axis. */
function drawDelays(o) {
  const curves = o.delays.filter(d => d.curve.length);
  const tables = curves.map(d => {
    const points = [[d.curve[0][0] / 2, 1]].concat(d.curve);
    if (d.last > points[points.length - 1][0]) points.push([d.last, points[points.length - 1][1]]);
    return [points.map(p => p[0]), points.map(p => p[1])];
  });
  const arms = o.arms.map(a => String(a.arm));
  const names = curves.map(d => d.arm === null ? "all" : String(d.arm));
  const stepped = uPlot.paths.stepped({align: 1});
  draw("chart-delays", names.join("\n"), tables.length ? uPlot.join(tables) : null, {
    padding: [8, 28, 0, 0], scales: {x: {time: false, distr: 3}, y: {range: [0, 1]}},
    axes: [axis({values: (u, v) => v.map(x => x === null ? "" : span(x))}),
           axis({values: (u, v) => v.map(x => Math.round(100 * x) + " %")})],
    series: [{label: "after", value: (u, v) => span(v)}].concat(curves.map((d, i) => ({label: names[i], paths: stepped, spanGaps: true,
      stroke: d.arm === null ? style("--ink") : color(arms.indexOf(names[i])), width: d.arm === null ? 2.5 : 1.5,
      dash: d.arm === null ? [6, 4] : undefined, points: {show: false}, value: (u, v) => percent(v)}))),
  });
}

/* Bins are four per octave; those between without anything are shown too. */
function drawAges(o) {
  const from = [], counts = [];
  for (const [low, high, n] of o.ages) {
    while (from.length && from[from.length - 1].high < low * 0.999) {
      const last = from[from.length - 1].high, octave = Math.pow(2, Math.floor(Math.log2(1000 * last) + 1e-9)) / 1000;
      from.push({low: last, high: last + octave / 4});
      counts.push(0);
    }
    from.push({low, high});
    counts.push(n);
  }
  draw("chart-ages", from.map(f => f.low).join(" "), from.length ? [from.map((_, i) => i), counts] : null, {
    scales: {x: {time: false, range: [-0.7, Math.max(1, from.length) - 0.3]}, y: {range: (u, low, high) => [0, Math.max(1, high * 1.1)]}},
    axes: [axis({values: (u, v) => v.map(x => Number.isInteger(x) && from[x] ? span(from[x].low) : ""), space: 60}), axis({size: 60})],
    series: [{label: "age", value: (u, v) => from[v] ? span(from[v].low) + " to " + span(from[v].high) : nothing},
      {label: "outstanding", stroke: color(0), fill: color(0), paths: uPlot.paths.bars({size: [0.85, 60]}),
       points: {show: false}, value: (u, v) => whole(v)}],
  });
}

function drawAll(e, o) {
  const t = o.time, n = t.decisions.length;
  drawShares(o);
  drawLines("chart-certificate", o.certificates, o.certificates.gap.length, [{name: "certificate", values: o.certificates.gap}],
    {scales: {y: {range: (u, low, high) => [0, high > 0 ? high * 1.05 : 1]}}});
  drawLines("chart-pending", t, n, [{name: "at most", values: t.pending_max, color: 1, dash: [4, 4]},
    {name: "outstanding", values: t.pending, color: 0}],
    {scales: {y: {range: (u, low, high) => [0, Math.max(1, high * 1.05)]}}});
  drawLines("chart-mean", t, n, [{name: "mean", values: t.mean, color: 2}]);
  drawDelays(o);
  drawAges(o);
}

function forgetCharts() {
  for (const id of Object.keys(charts)) {
    charts[id].plot.destroy();
    delete charts[id];
  }
}

/* ---- what people do ----------------------------------------------------- */

function say(text) {
  $("message").textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { $("message").textContent = ""; }, 6000);
}

/* Asks before something is done: fields are [name, label]; `act` gets their
 * values. */
function confirmed(title, text, fields, act) {
  $("dialog-title").textContent = title;
  $("dialog-text").textContent = text;
  $("dialog-error").textContent = "";
  $("dialog-fields").replaceChildren(...fields.map(([name, label]) =>
    make("label", {}, label, make("input", {name, required: true, autocomplete: "off", spellcheck: "false"}))));
  $("dialog-form").onsubmit = async event => {
    event.preventDefault();
    try {
      say(await act(Object.fromEntries(new FormData($("dialog-form")))));
      $("dialog").close();
      refresh();
    } catch (e) {
      $("dialog-error").textContent = e.message;
    }
  };
  $("dialog").showModal();
  const first = $("dialog-fields").querySelector("input");
  (first || $("dialog-no")).focus();
}

function withdraw(arm) {
  confirmed("Withdraw " + arm + "?", "It will never be chosen again. Outcomes of its decisions still count.", [],
    async () => { await ask("DELETE", at(page.name, "arms", arm)); return arm + " is withdrawn"; });
}

function cancel(id) {
  confirmed("Cancel " + id + "?", "It was never carried out: no outcome will come, and it does not count as missing.", [],
    async () => { await ask("POST", "/v1/decisions/" + encodeURIComponent(id) + "/cancel", {}); return id + " is cancelled"; });
}

function cancelSome() {
  confirmed("Cancel a decision", "One that was never carried out: no outcome will come, and it does not count as missing.",
    [["id", "Its id"]], async v => {
      await ask("POST", "/v1/decisions/" + encodeURIComponent(v.id) + "/cancel", {});
      return v.id + " is cancelled";
    });
}

function admit() {
  const dim = page.experiment.dim;
  confirmed("Admit an arm", "It may be chosen from the next decision on.",
    [["name", "Its name"], ["features", (dim ? dim + " " : "") + "features, separated by commas or spaces"]], async v => {
      const features = v.features.split(/[\s,;]+/).filter(x => x).map(Number);
      if (features.some(x => !isFinite(x))) throw new Error("a feature is not a number");
      await ask("POST", at(page.name, "arms"), {name: v.name, features});
      return v.name + " is admitted";
    });
}

function pause() {
  const paused = $("pause").dataset.paused === "true";
  confirmed(paused ? "Resume?" : "Pause?", paused ? "Decisions are made again." :
    "Until it is resumed no decisions are made; outcomes are taken as ever.", [],
    async () => { await ask("POST", at(page.name, paused ? "resume" : "pause"), {}); return paused ? "resumed" : "paused"; });
}

/* ---- round and round ---------------------------------------------------- */

function show(e, o) {
  page.experiment = e;
  page.overview = o;
  $("experiment").hidden = false;
  showHead(e, o);
  showTiles(e, o);
  showDependence(e.status.dependence, e.status.silence, e.status.reports);
  showArms(e, o);
  fill($("recent"), o.recent.slice(0, RECENT).map(d => recentRow(d, o.now)));
  drawAll(e, o);
}

function complain(error) {
  const refused = error instanceof Refusal;
  $("state").textContent = refused ? error.message : "The service cannot be reached.";
  $("state").className = "bad";
  if (refused && error.status === 307) $("experiment").hidden = true;
  if (refused && (error.status === 401 || error.status === 403)) $("access").open = true;
}

/* Answers that come after a newer question are dropped. */
async function refresh() {
  const turn = ++page.turn;
  clearTimeout(page.timer);
  let wait = PAUSE_MS;
  try {
    if (page.name === null || page.name !== page.listed || Date.now() > page.listedAt + LIST_MS) {
      const list = await ask("GET", "/v1/experiments");
      if (turn !== page.turn) return;
      listExperiments(list.experiments);
      page.listed = page.name;
      page.listedAt = Date.now();
    }
    if (page.name !== null) {
      const [e, o] = await Promise.all([ask("GET", at(page.name)), ask("GET", at(page.name, "overview"))]);
      if (turn !== page.turn) return;
      show(e, o);
      if (o.events_read < o.events) wait = 50;
    }
    $("state").textContent = "as of " + new Date().toLocaleTimeString(undefined, {hour12: false});
    $("state").className = "";
  } catch (error) {
    if (turn !== page.turn) return;
    complain(error);
  }
  document.body.dataset.shown = turn;
  page.timer = setTimeout(() => { if (document.hidden) page.idle = true; else refresh(); }, wait);
}

addEventListener("hashchange", () => {
  if (!chosen() || chosen() === page.name || location.hash === "#main") return;
  page.name = chosen();
  forgetCharts();
  refresh();
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && page.idle) { page.idle = false; refresh(); } });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  forgetCharts();
  if (page.overview) show(page.experiment, page.overview);
});
let wanted = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(wanted);
  wanted = requestAnimationFrame(() => {
    for (const [id, c] of Object.entries(charts)) c.plot.setSize({width: $(id).clientWidth, height: 230});
  });
});
$("token-form").addEventListener("submit", event => {
  event.preventDefault();
  if ($("token").value) sessionStorage.setItem("token", $("token").value); else sessionStorage.removeItem("token");
  $("token").value = "";
  $("access").open = false;
  refresh();
});
$("dialog-no").addEventListener("click", () => $("dialog").close());
$("pause").addEventListener("click", pause);
$("admit").addEventListener("click", admit);
$("cancel").addEventListener("click", cancelSome);
refresh();
