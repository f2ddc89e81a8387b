"use strict";
// Stores the answers in this browser, shows progress, and writes the CSV that
// tasks/annotation/table.py reads: every cell quoted, CRLF, formulas escaped as tasks/spreadsheets.py does.
const sheet = document.body.dataset.sheet;
const table = JSON.parse(document.getElementById("rows").textContent);
const storageKey = "evergreen annotate " + sheet;
const questions = [...document.querySelectorAll("fieldset[data-item]")];
const dangerous = /^['\s\0\ufeff]*[=+\-@＝＋－＠]|^'*[\t\r\n]/;

function answerOf(question) {
  const chosen = question.querySelector("input:checked");
  return { label: chosen ? chosen.value : "", reason: question.querySelector("textarea").value };
}

function collectAnswers() {
  return Object.fromEntries(questions.map((q) => [q.dataset.item, answerOf(q)]));
}

function updateProgress() {
  for (const question of questions) {
    question.classList.toggle("done", answerOf(question).label !== "");
  }
  const done = questions.filter((q) => q.classList.contains("done")).length;
  document.getElementById("progress").value = done;
  document.getElementById("count").textContent = `${done} of ${questions.length} answered`;
}

function saveAnswers() {
  updateProgress();
  try {
    localStorage.setItem(storageKey, JSON.stringify(collectAnswers()));
  } catch {
    document.getElementById("trouble").hidden = false;
  }
}

function loadAnswers() {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(storageKey)) ?? {};
  } catch {
    document.getElementById("trouble").hidden = false;
  }
  for (const question of questions) {
    const { label, reason } = kept[question.dataset.item] ?? { label: "", reason: "" };
    for (const choice of question.querySelectorAll("input")) choice.checked = choice.value === label;
    question.querySelector("textarea").value = reason;
  }
  updateProgress();
}

function cell(text) {
  return '"' + String(text).replaceAll('"', '""') + '"';
}

function escapeFormula(text) {
  return dangerous.test(text) ? "'" + text : text;
}

function renderCsv() {
  const given = collectAnswers();
  const rows = table.rows.map((row) => {
    const { label, reason } = given[row[table.columns.indexOf("item_id")]];
    return [...row.slice(0, -2), label, escapeFormula(reason)];
  });
  return [table.columns, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}

function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", renderCsv()], { type: "text/csv" }));
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

document.querySelector("main").addEventListener("input", saveAnswers);
for (const question of questions) {
  question.querySelector(".undo").addEventListener("click", () => {
    question.querySelector("input:checked").checked = false;
    question.querySelector("input").focus();
    saveAnswers();
  });
}
document.getElementById("next").addEventListener("click", goToNextOpen);
document.getElementById("download").addEventListener("click", download);
document.getElementById("clear").addEventListener("click", () => {
  if (!confirm("Clear all answers of this sheet?")) return;
  localStorage.removeItem(storageKey);
  loadAnswers();
});
loadAnswers();
