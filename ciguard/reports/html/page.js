"use strict";
// Texts of cases are not trusted. They come as JSON and enter the page by `textContent` only.
(() => {
  const PAGE = 50;
  const byId = (id) => document.getElementById(id);
  const json = (id) => JSON.parse(byId(id)?.textContent ?? "null");
  const head = json("head");
  const rows = json("rows");
  const list = byId("list");
  const chips = [...document.querySelectorAll(".chip")];
  const fields = {
    text: byId("text"),
    severity: byId("severity"),
    kind: byId("kind"),
    part: byId("part"),
  };
  const slug = (name) => name.replaceAll(" ", "-");
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

  /** Make an element whose children are elements or texts; markup in texts has no effect. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  }

  // --- details: a chunk of them is parsed when a user opens a bucket ----------------------------
  const chunks = new Map();
  function detailsOf(index) {
    const number = Math.floor(index / head.chunk);
    if (!chunks.has(number)) chunks.set(number, json(`details-${number}`) ?? []);
    return chunks.get(number)[index % head.chunk];
  }

  // --- one bucket ------------------------------------------------------------------------------
  const mark = (status) => make("i", { class: `mark ${status}`, "aria-hidden": "true" }, head.marks[status]);

  /** Return the parts of a dotted name, with a possible line break after each part. */
  const breakable = (name) => name.split(/(?<=[._])/).flatMap((part) => [part, make("wbr")]);

  function grid(row) {
    const cells = row.grid.map(([target, status]) => {
      const shows = row.on.includes(target) ? " shows" : "";
      const cell = make("span", { class: `cell${shows}` }, mark(status));
      cell.title = `${head.targets[target]}: ${status}`;
      return cell;
    });
    const says = row.grid.map(([target, status]) => `${head.targets[target]} ${status}`).join(", ");
    return make("span", { class: "grid", role: "img", "aria-label": says || "no outcomes" }, ...cells);
  }

  function bucket(index) {
    const row = rows[index];
    const issue =
      row.issue && make("span", { class: "quiet" }, row.issue.startsWith("#") ? row.issue : "has an issue");
    const box = make(
      "details",
      { class: "bucket" },
      make(
        "summary",
        {},
        make(
          "span",
          { class: "line" },
          make("span", { class: `pill ${slug(row.state)}` }, head.states[row.state]),
          make("span", { class: `severity ${row.severity}` }, row.severity),
          make("span", { class: "quiet" }, head.classes[row.class]),
          issue,
          grid(row),
        ),
        make("span", { class: "api" }, ...breakable(row.api)),
        make("span", { class: "says" }, row.says),
      ),
    );
    box.addEventListener("toggle", () => {
      if (box.open && box.children.length === 1) box.append(body(index));
    });
    return box;
  }

  /** Return the element of a cause: its first bucket, and a line that opens the other buckets. */
  function cause(indices) {
    const [first, ...others] = indices.map(bucket);
    if (!others.length) return first;
    const says = `${others.length.toLocaleString("en")} more with the same cause`;
    return make(
      "div",
      { class: "cause" },
      first,
      make("details", { class: "members" }, make("summary", {}, says), ...others),
    );
  }

  function body(index) {
    const row = rows[index];
    const more = detailsOf(index);
    const parts = make("div", { class: "body" });
    if (!more) {
      const command = `ciguard show ${row.id.slice(-16, -8)}`;
      parts.append(
        make("p", {}, "The details do not fit into this page. ", make("code", {}, command), " shows them."),
      );
      return parts;
    }
    parts.append(
      ...evidence(row, more),
      ...origin(more),
      ...derivation(more),
      ...outcomes(more),
      ...script(more),
      ...stack("Native stack, innermost first", more.native),
      ...grouping(row, more),
      about(row, more),
    );
    return parts;
  }

  const heading = (text) => make("h3", {}, text);
  const code = (lines) => make("pre", { tabindex: "0" }, lines);
  const stack = (title, lines) => (lines.length ? [heading(title), code(lines.join("\n"))] : []);
  const pairs = (entries) =>
    make(
      "dl",
      { class: "pairs" },
      ...entries.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text))),
    );

  function evidence(row, more) {
    const sides = [
      ["Expected", more.expected],
      ["Observed", more.observed],
    ].filter(([, text]) => text);
    const law = [
      ["Invariant", more.law],
      ["Source", more.source],
    ].filter(([, text]) => text);
    return [
      more.message.endsWith(row.says) ? null : make("p", {}, more.message),
      sides.length
        ? make(
            "div",
            { class: "sides" },
            ...sides.map(([name, text]) =>
              make("div", { class: name.toLowerCase() }, heading(name), make("p", {}, text)),
            ),
          )
        : null,
      law.length ? pairs(law) : null,
    ].filter(Boolean);
  }

  // --- the origin of a layer's case -------------------------------------------------------------
  function origin({ origin: from }) {
    if (!from) return [];
    const entries = [
      ["Seed model", from.model],
      ["Mutations", mutations(from)],
      ["Suspect layer", from.suspect],
      ["Compared", from.checked],
    ].filter(([, content]) => content);
    const chart = from.chart ? [deviations(from.chart)] : [];
    return [heading("Origin"), pairs(entries), ...chart];
  }

  function mutations(from) {
    if (!from.mutations.length) return from.model && "none: the seed model itself";
    const items = from.mutations.map((text) => make("li", {}, text));
    if (from.more_mutations) items.push(make("li", { class: "quiet" }, `${from.more_mutations.toLocaleString("en")} more`));
    return make("ol", { class: "mutations" }, ...items);
  }

  // --- the origin of a program ------------------------------------------------------------------
  function derivation({ derivation: from }) {
    if (!from) return [];
    const treeLink = from.node && make("a", { href: `#derived-${from.node}` }, "in its derivation tree");
    const entries = treeLink ? [...from.rows, ["Shown", treeLink]] : from.rows;
    const parts = entries.length ? [heading("Origin"), pairs(entries)] : [];
    if (!from.diff.length) return parts;
    const lines = from.diff.map(([kind, text, isCall]) =>
      make("span", { class: isCall ? `${kind} call` : kind }, `${text}\n`),
    );
    return [...parts, heading("Difference from the parent program"), make("pre", { class: "diff", tabindex: "0" }, ...lines)];
  }

  /** Open the elements around the target of a link to a derivation tree: some browsers do not. */
  function unfold() {
    const body = location.hash.startsWith("#derived-") && byId(location.hash.slice(1));
    if (!body) return;
    for (let box = body.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    body.scrollIntoView({ block: "nearest" });
    body.focus({ preventScroll: true });
  }

  /** Make an SVG element; positions and lengths are percentages, so that texts are not scaled. */
  function shape(tag, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function deviations({ rows, ticks }) {
    const rules = () => ticks.map(([, at]) => shape("line", { x1: `${at}%`, x2: `${at}%`, y2: "100%", class: "rule" }));
    const bars = rows.map((row) => {
      if (typeof row === "number") return make("li", { class: "left-out" }, `${plural(row, "layer")} left out`);
      const [name, rate, length, isSuspect] = row;
      const suspectTag = make("span", { class: "role" }, "suspect");
      const bar = length ? [shape("rect", { width: `${length}%`, height: "100%", rx: "2", class: "bar" })] : [];
      return make(
        "li",
        { class: isSuspect ? "layer suspect" : "layer" },
        make("span", { class: "name" }, ...breakable(name), ...(isSuspect ? [" ", suspectTag] : [])),
        shape("svg", { "aria-hidden": "true" }, ...rules(), ...bar),
        make("span", { class: "rate" }, rate),
      );
    });
    const numbers = ticks.map(([text, at], place) =>
      shape("text", { x: `${at}%`, y: "11", class: place === ticks.length - 1 ? "tick end" : "tick" }, text),
    );
    const scale = make("li", { class: "layer", "aria-hidden": "true" }, shape("svg", {}, ...numbers));
    return make(
      "figure",
      { class: "deviations" },
      heading("Growth of the deviation by layer, R_a"),
      make("ol", {}, ...bars, scale),
      make(
        "figcaption",
        {},
        "How much the difference between the elected target and the most different other target grows at each layer, " +
          "in the order of the model. The scale is logarithmic; values of 0 and less have no bar.",
      ),
    );
  }

  function outcomes(more) {
    if (!more.outcomes.length) return [];
    const entries = more.outcomes.map((outcome) => {
      const entry = make(
        "li",
        { class: outcome.role === "shows the defect" ? "outcome shows" : "outcome" },
        mark(outcome.status),
        make(
          "div",
          {},
          make("b", {}, head.targets[outcome.target]),
          " ",
          outcome.role && make("span", { class: "role" }, outcome.role),
          make("p", {}, outcome.text),
        ),
      );
      if (outcome.stack.length || outcome.log) {
        entry.lastChild.append(
          make(
            "details",
            { class: "plain" },
            make("summary", {}, "Stack and log"),
            ...stack("Python stack, innermost first", outcome.stack),
            ...stack("End of the output", outcome.log ? [outcome.log] : []),
          ),
        );
      }
      return entry;
    });
    return [heading("Outcomes"), make("ul", { class: "outcomes" }, ...entries)];
  }

  function script(more) {
    const again = make("p", { class: "again" }, make("code", {}, more.command), copyButton(more.command, "Copy command"));
    const parts = [
      make(
        "div",
        { class: "titled" },
        heading("Minimal script"),
        more.script ? copyButton(more.script, "Copy script") : null,
      ),
    ];
    if (more.script_note) parts.push(make("p", { class: "quiet" }, more.script_note));
    if (more.script) parts.push(code(more.script));
    return more.script || more.script_note ? [...parts, again] : [heading("Run the case again"), again];
  }

  function grouping(row, more) {
    const entries = [["fingerprint", row.id], ...more.grouping];
    if (more.aliases.length) entries.push(["older fingerprints", more.aliases.join(", ")]);
    return [
      make(
        "details",
        { class: "plain" },
        make("summary", {}, "Fingerprint: what findings of this bucket share"),
        pairs(entries),
      ),
    ];
  }

  function about(row, more) {
    const entries = [
      ["Tested", row.part],
      ["Oracle", row.kind],
      ...more.facts,
      ...more.past.map(([when, what]) => [what, when]),
    ];
    if (row.issue) entries.push(["Issue", link(more.issue_address, row.issue)]);
    if (more.cause) entries.push(["Cause", more.cause]);
    entries.push(["Realism", more.realism]);
    if (more.siblings.length)
      entries.push([
        "Same cause",
        make("span", {}, ...more.siblings.flatMap((id) => [make("a", { href: `#${encodeURIComponent(id)}` }, id), " "])),
      ]);
    if (more.uses.length)
      entries.push(["Used in", make("span", {}, ...more.uses.flatMap((place) => [make("code", {}, place), " "]))]);
    entries.push(["Link", make("a", { href: `#${encodeURIComponent(row.id)}` }, "to this bucket")]);
    return pairs(entries);
  }

  // Only https addresses become links; others stay texts.
  const link = (href, text) =>
    href.startsWith("https://") ? make("a", { href, rel: "noopener noreferrer", target: "_blank" }, text) : text;

  function copyButton(text, label) {
    const button = make("button", { type: "button", class: "copy" }, label);
    button.addEventListener("click", async () => {
      button.textContent = (await copyText(text)) ? "Copied" : "Select and copy by hand";
      setTimeout(() => (button.textContent = label), 2000);
    });
    button.setAttribute("aria-live", "polite");
    return button;
  }

  async function copyText(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Without permission or without a clipboard, an older method copies the text.
      const area = make("textarea", { class: "offscreen", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  // --- filters -----------------------------------------------------------------------------------
  const haystacks = rows.map((row) =>
    [
      row.id,
      row.state,
      row.severity,
      head.classes[row.class],
      row.kind,
      row.part,
      row.api,
      row.says,
      row.issue,
      ...row.grid.map(([target]) => head.targets[target]),
      ...row.on.map((target) => head.targets[target]),
    ]
      .join(" ")
      .toLowerCase(),
  );
  /** Indices of the rows that match the filters, grouped by cause. */
  let shown = [];
  let drawn = 0;

  function chosen() {
    const states = new Set(chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.state));
    const words = fields.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const maxRank = fields.severity.value ? head.severities.indexOf(fields.severity.value) : Infinity;
    const [, sort, kind] = /^(class|kind)=(.*)$/.exec(fields.kind.value) ?? [];
    const part = fields.part.value;
    const isChosen = (row, index) =>
      (!states.size || states.has(row.state)) &&
      head.severities.indexOf(row.severity) <= maxRank &&
      (!sort || row[sort] === kind) &&
      (!part || row.part === part) &&
      words.every((word) => haystacks[index].includes(word));
    return rows.map((_, index) => index).filter((index) => isChosen(rows[index], index));
  }

  function byCause(indices) {
    const groups = new Map();
    for (const index of indices) {
      const key = rows[index].cause ?? rows[index].id;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(index);
    }
    return [...groups.values()];
  }

  function filter() {
    const indices = chosen();
    shown = byCause(indices);
    drawn = 0;
    list.replaceChildren();
    draw();
    const all = indices.length === rows.length;
    const counted = all
      ? plural(rows.length, "bucket")
      : `${indices.length.toLocaleString("en")} of ${plural(rows.length, "bucket")}`;
    byId("count").textContent =
      shown.length < indices.length ? `${counted}, ${plural(shown.length, "distinct cause")}` : counted;
    byId("reset").hidden = all;
  }

  function draw() {
    list.append(...shown.slice(drawn, drawn + PAGE).map(cause));
    drawn = Math.min(shown.length, drawn + PAGE);
    if (!shown.length)
      list.append(make("p", { class: "nothing" }, rows.length ? "No bucket matches the filters." : "There are no buckets."));
    const rest = shown.length - drawn;
    const button = byId("more");
    button.hidden = !rest;
    button.textContent = `Show ${Math.min(rest, PAGE)} more (${rest.toLocaleString("en")} left)`;
  }

  function more() {
    const first = drawn;
    draw();
    list.children[first].querySelector("summary").focus();
  }

  function reset() {
    for (const chip of chips) chip.ariaPressed = "false";
    for (const field of Object.values(fields)) field.value = "";
    filter();
  }

  /** Show the bucket that the address of the page names. */
  function follow() {
    const named = location.hash.slice(1);
    const row = rows.find(({ id }) => id === named || encodeURIComponent(id) === named);
    if (!row) return;
    reset();
    fields.text.value = row.id;
    filter();
    list.firstChild.open = true;
    list.firstChild.firstChild.focus();
    list.firstChild.scrollIntoView({ block: "start" });
  }

  const option = (value, text) => make("option", { value }, text);
  fields.severity.append(
    option("", "any"),
    ...head.severities.slice(0, -1).map((name, at) => option(name, at ? `${name} and above` : name)),
  );
  fields.part.append(option("", "any"), ...head.parts.map((name) => option(name, name)));
  const classes = Object.keys(head.classes).filter((name) => rows.some((row) => row.class === name));
  fields.kind.append(
    option("", "any"),
    make("optgroup", { label: "Class" }, ...classes.map((name) => option(`class=${name}`, head.classes[name]))),
    make("optgroup", { label: "Oracle" }, ...head.kinds.map((name) => option(`kind=${name}`, name))),
  );
  let waiting = 0;
  fields.text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  for (const name of ["severity", "kind", "part"]) fields[name].addEventListener("change", filter);
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
      filter();
    });
  }
  for (const control of [...chips, ...Object.values(fields)]) control.disabled = false;
  byId("reset").addEventListener("click", reset);
  byId("more").addEventListener("click", more);
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  /** Scroll a wide tree to its first linked sign, or to its middle without one. */
  function centre(tree) {
    const place = tree.querySelector(".tree-scroll");
    const mark = place.querySelector("a.sign .hit");
    const middle = mark ? mark.cx.baseVal.value : place.scrollWidth / 2;
    place.scrollLeft = middle - place.clientWidth / 2;
  }

  for (const tree of document.querySelectorAll(".tree")) {
    tree.addEventListener("toggle", () => tree.open && centre(tree), { once: true });
    if (tree.open) centre(tree);
  }
  for (const sign of document.querySelectorAll("a.sign")) sign.addEventListener("click", () => setTimeout(unfold));
  window.addEventListener("hashchange", follow);
  window.addEventListener("hashchange", unfold);
  filter();
  follow();
  unfold();
})();
