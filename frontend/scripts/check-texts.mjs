// Fails if a page text is outside Lingui's macros, or if src/locales/en.po, the translators' catalogue, is out of date.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const frontend = fileURLToPath(new URL("..", import.meta.url));
const catalogue = join(frontend, "src/locales/en.po");
/** Attributes with text for users. */
const READ = new Set(["alt", "aria-label", "description", "label", "placeholder", "title"]);
/** Macros, and elements with text that is not translated: code, keys, output of programs. */
const NO_RAW_TEXT = new Set(["Code", "Kbd", "Plural", "Select", "Trans", "code", "kbd", "pre"]);

/** Lists with text for users: choices and column titles, inline or as a constant. */
const READ_LISTS = new Set(["data", "head", "HEAD"]);

const isText = (text) => /[A-Za-z]{2,}/.test(text.replace(/&\w+;/g, ""));

/** Return the texts of a list literal with its conditions and spreads; names and comparisons are not texts. */
function textsOfList(node) {
  if (ts.isStringLiteral(node)) return isText(node.text) ? [node] : [];
  const parts = ts.isConditionalExpression(node) ? [node.whenTrue, node.whenFalse] : node.elements;
  if (ts.isArrayLiteralExpression(node) || ts.isConditionalExpression(node))
    return parts.flatMap(textsOfList);
  const within = ts.isSpreadElement(node) || ts.isParenthesizedExpression(node) || ts.isJsxExpression(node);
  return within && node.expression ? textsOfList(node.expression) : [];
}

/** Return the texts below `node` outside macros. A macro covers the texts of its elements, but not those within `{}`. */
function rawTexts(node, source, isTaken = false) {
  if (ts.isJsxText(node)) return isTaken || !isText(node.text) ? [] : [node];
  if (ts.isJsxAttribute(node)) {
    const given = READ.has(node.name.getText(source)) && node.initializer;
    if (given && ts.isStringLiteral(given)) return isText(given.text) ? [given] : [];
  }
  const isGiven = ts.isJsxAttribute(node) || ts.isVariableDeclaration(node);
  if (isGiven && node.initializer && READ_LISTS.has(node.name.getText(source))) {
    const found = textsOfList(node.initializer);
    if (found.length > 0) return found;
  }
  const tag = ts.isJsxElement(node) ? node.openingElement.tagName.getText(source) : "";
  const isTakenBelow = NO_RAW_TEXT.has(tag) || (isTaken && !ts.isJsxExpression(node));
  const found = [];
  ts.forEachChild(node, (child) => void found.push(...rawTexts(child, source, isTakenBelow)));
  return found;
}

function isOurs({ name }) {
  return name.endsWith(".tsx") && !name.endsWith(".test.tsx");
}

const raw = readdirSync(join(frontend, "src"), { recursive: true, withFileTypes: true })
  .filter(isOurs)
  .map((entry) => join(entry.parentPath, entry.name))
  .flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    return rawTexts(source, source).map((node) => {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      return `${file}:${line + 1}: ${node.getText(source).trim()}`;
    });
  });
for (const place of raw) process.stdout.write(`${place}\n`);

const before = readFileSync(catalogue, "utf8");
execFileSync(join(frontend, "node_modules/.bin/lingui"), ["extract", "--clean"], {
  cwd: frontend,
  stdio: "pipe",
});
const isFresh = readFileSync(catalogue, "utf8") === before;
if (!isFresh) writeFileSync(catalogue, before);

if (raw.length > 0)
  process.stdout.write("These texts are outside <Trans> and t`` and cannot be translated.\n");
if (!isFresh) process.stdout.write("src/locales/en.po is out of date. Run: npm run texts\n");
process.exitCode = raw.length > 0 || !isFresh ? 1 : 0;
