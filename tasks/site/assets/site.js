/* Sort tables, filter the leaderboard, open the target of a link, switch light and dark. Pages are
   readable without this script. Text from data is only ever set as text. */
"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

  /* Light and dark: the system setting, unless the user has chosen. */
  const remembered = () => { try { return localStorage.getItem("evergreen-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("evergreen-theme", theme); } catch { /* private window */ } };
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (systemDark.matches ? "dark" : "light")) === "dark";
  const chosen = remembered();
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  const toggle = $("#theme");
  const nameToggle = () => { toggle.textContent = isDark() ? "Light" : "Dark"; toggle.setAttribute("aria-label", `Use ${isDark() ? "light" : "dark"} colours`); };
  toggle.hidden = false;
  nameToggle();
  systemDark.addEventListener("change", nameToggle);
  toggle.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    remember(document.documentElement.dataset.theme);
    nameToggle();
  });

  /* Sortable tables: a button in each heading; numbers sort descending first. */
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const said = cell.dataset.sort ?? cell.textContent.trim();
    const plain = said.replace(/[,$%*°<\s]/g, "").replace(/–$/, "");
    const number = plain === "" ? NaN : Number(plain.replace(/^([\d.]+)–[\d.]+$/, "$1"));
    return { number, text: said, empty: said === "" || said === "–" };
  };
  const compare = (a, b) => {
    if (a.empty || b.empty) return 0;
    if (!Number.isNaN(a.number) && !Number.isNaN(b.number)) return a.number - b.number;
    return a.text.localeCompare(b.text, "en", { numeric: true });
  };
  const sortBy = (table, column, ascending) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, place) => ({ row, place, key: keyOf(row, column) }));
    rows.sort((a, b) => (a.key.empty - b.key.empty) || (ascending ? 1 : -1) * compare(a.key, b.key) || a.place - b.place);
    body.append(...rows.map(({ row }) => row));
    $$("thead th", table).forEach((th, n) => {
      if (n === column) th.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    });
  };
  for (const table of $$("table[data-sortable]")) {
    const headings = $$("thead tr:last-child th", table);
    headings.forEach((th, column) => {
      if (!th.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const now = th.getAttribute("aria-sort");
        const first = th.classList.contains("n") && th.dataset.column !== "rank" ? "descending" : "ascending";
        sortBy(table, column, now ? now !== "ascending" : first === "ascending");
      });
    });
  }

  /* Open the target of a link; Escape returns to the link. */
  let cameFrom = null;
  const openTarget = () => {
    let named = location.hash.slice(1);
    try { named = decodeURIComponent(named); } catch { /* use it undecoded */ }
    const target = named && document.getElementById(named);
    if (!target) return;
    for (let around = target; around; around = around.parentElement) if (around.tagName === "DETAILS") around.open = true;
    const focus = target.tagName === "DETAILS" ? $("summary", target) : target;
    if (!focus.hasAttribute("tabindex") && focus.tagName !== "SUMMARY") focus.tabIndex = -1;
    focus.focus({ preventScroll: true });
    target.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", openTarget);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.claim");
    if (!link) return;
    cameFrom = link;
    if (link.hash === location.hash) openTarget();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !cameFrom) return;
    cameFrom.focus();
    cameFrom = null;
  });
  openTarget();

  /* Lists that can be filtered by outcome. */
  for (const box of $$("[data-narrows]")) {
    box.hidden = false;
    const list = document.getElementById(box.dataset.narrows);
    const select = $("select", box);
    select.addEventListener("change", () => {
      let shown = 0;
      for (const item of list.children) {
        item.hidden = select.value !== "" && item.dataset.tone !== select.value;
        shown += !item.hidden;
      }
      $("output", box).textContent = `${shown} shown`;
    });
  }

  /* The leaderboard's filters. Parts of an edition come from one file per board. */
  const form = $("#filters");
  if (!form) return;
  const select = (name) => $(`#f-${name}`, form);
  const said = $("#said");
  const boards = $$("section.board");
  const whole = new Map(boards.map((board) => [board, [...$("tbody", board).rows]]));
  const parts = new Map();
  const waiting = new Map();
  window.evergreenParts = (key, content) => { parts.set(key, content); waiting.get(key)?.(); };
  const asked = new Map();
  const load = (board) => {
    if (!asked.has(board.id)) {
      asked.set(board.id, new Promise((done) => {
        waiting.set(board.id, () => done(true));
        const script = document.createElement("script");
        script.src = board.dataset.parts;
        script.onerror = () => done(false);
        document.head.append(script);
      }));
    }
    return asked.get(board.id);
  };
  const small = (words) => { const s = document.createElement("small"); s.textContent = words; return s; };
  const partRow = (whole, part, places) => {
    const row = whole.cloneNode(true);
    [...row.cells].forEach((cell, n) => {
      const [value, sort, interval, items, title = ""] = part.cells[places[n]] ?? [];
      if (value === undefined) return;
      cell.replaceChildren(value, ...[interval, items].filter(Boolean).map(small));
      cell.dataset.sort = sort;
      cell.title = title;
    });
    return row;
  };
  let turn = 0;
  const show = async () => {
    const mine = ++turn;
    const [protocol, judge, category, when] = ["protocol", "judge", "category", "window"].map((n) => select(n).value);
    for (const option of select("judge").options) option.hidden = !boards.some((b) => b.dataset.protocol === protocol && b.dataset.judge === option.value);
    let board = boards.find((b) => b.dataset.protocol === protocol && b.dataset.judge === judge);
    if (!board) {
      board = boards.find((b) => b.dataset.protocol === protocol);
      select("judge").value = board.dataset.judge;
    }
    for (const other of boards) other.hidden = other !== board;
    const body = $("tbody", board);
    const figure = $("figure", board);
    if (figure) figure.hidden = Boolean(category || when);
    $$("thead th", board).forEach((th) => th.removeAttribute("aria-sort"));
    if (!category && !when) {
      body.replaceChildren(...whole.get(board));
      said.textContent = "";
      return;
    }
    const there = board.dataset.parts && (await load(board));
    if (mine !== turn) return; // another filter was chosen meanwhile
    if (!there) {
      said.textContent = "There are no figures by category or time for this board.";
      return;
    }
    const file = parts.get(board.id);
    const part = file.parts[`${category}|${when}`];
    if (!part) {
      body.replaceChildren();
      said.textContent = "No article of the edition is in this category and window.";
      return;
    }
    const rows = new Map(whole.get(board).map((row) => [row.dataset.agent, row]));
    const places = $$("thead th", board).map((th) => file.columns.indexOf(th.dataset.column));
    body.replaceChildren(...part.rows.map((row) => partRow(rows.get(row.agent), row, places)));
    said.textContent = part.said;
  };
  form.hidden = false;
  form.addEventListener("change", show);
  form.addEventListener("reset", () => setTimeout(show));
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
