"use strict";
// Keeps what is answered in this browser, shows how much is, and writes the CSV as
// tasks/annotation/table.py does: every cell quoted, CRLF, no cell a spreadsheet would run.
const sheet = document.body.dataset.sheet;
const table = JSON.parse(document.getElementById("rows").textContent);
const place = "evergreen annotate " + sheet;
const questions = [...document.querySelectorAll("fieldset[data-item]")];
const dangerous = /^'*[=+\-@\t\r\n＝＋－＠]/;

function answerOf(question) {
  const chosen = question.querySelector("input:checked");
  return { label: chosen ? chosen.value : "", reason: question.querySelector("textarea").value };
}

function answers() {
  return Object.fromEntries(questions.map((q) => [q.dataset.item, answerOf(q)]));
}

function show() {
  for (const question of questions) {
    question.classList.toggle("done", answerOf(question).label !== "");
  }
  const done = questions.filter((q) => q.classList.contains("done")).length;
  document.getElementById("progress").value = done;
  document.getElementById("count").textContent = `${done} of ${questions.length} answered`;
}

function keep() {
  show();
  try {
    localStorage.setItem(place, JSON.stringify(answers()));
  } catch {
    document.getElementById("trouble").hidden = false;
  }
}

function recall() {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(place)) ?? {};
  } catch {
    document.getElementById("trouble").hidden = false;
  }
  for (const question of questions) {
    const { label, reason } = kept[question.dataset.item] ?? { label: "", reason: "" };
    for (const choice of question.querySelectorAll("input")) choice.checked = choice.value === label;
    question.querySelector("textarea").value = reason;
  }
  show();
}

function cell(text) {
  return '"' + String(text).replaceAll('"', '""') + '"';
}

function inert(text) {
  return dangerous.test(text) ? "'" + text : text;
}

function csv() {
  const given = answers();
  const rows = table.rows.map((row) => {
    const { label, reason } = given[row[table.columns.indexOf("item_id")]];
    return [...row.slice(0, -2), label, inert(reason)];
  });
  return [table.columns, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}

function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", csv()], { type: "text/csv" }));
  link.download = sheet + ".filled.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function goToNextOpen() {
  const here = questions.indexOf(document.activeElement?.closest("fieldset"));
  const order = [...questions.slice(here + 1), ...questions.slice(0, here + 1)];
  const open = order.find((question) => !question.classList.contains("done"));
  if (!open) return;
  open.querySelector("input").focus({ preventScroll: true });
  open.scrollIntoView({ block: "nearest" });
}

document.querySelector("main").addEventListener("input", keep);
for (const question of questions) {
  question.querySelector(".undo").addEventListener("click", () => {
    question.querySelector("input:checked").checked = false;
    question.querySelector("input").focus();
    keep();
  });
}
document.getElementById("next").addEventListener("click", goToNextOpen);
document.getElementById("download").addEventListener("click", download);
document.getElementById("clear").addEventListener("click", () => {
  if (!confirm("Clear all answers of this sheet?")) return;
  localStorage.removeItem(place);
  recall();
});
recall();
